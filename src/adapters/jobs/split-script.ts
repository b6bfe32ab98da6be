/** Matches a semicolon, and the parts of SQL in which it does not end a statement: quoted text and comments. */
const TOKEN_PATTERN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;/g;

/** Splits a script into its non-empty statements. Strings with backslash escapes are not supported. */
export function splitScript(script: string): string[] {
  const statements: string[] = [];
  let start = 0;
  for (const { 0: token, index } of script.matchAll(TOKEN_PATTERN)) {
    if (token !== ";") continue;
    statements.push(script.slice(start, index).trim());
    start = index + 1;
  }
  statements.push(script.slice(start).trim());
  return statements.filter((statement) => statement !== "");
}
