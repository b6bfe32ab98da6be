/**
 * Parses a query string and decodes it once. If a name is repeated, the last value is used, so values are never arrays.
 * Keeps malformed escapes unchanged; `isWellEncoded` must reject them first.
 */
export function parseQuery(text: string): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  if (text === "") return result;
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equalsIndex = pair.indexOf("=");
    const name = decodeComponent(equalsIndex < 0 ? pair : pair.slice(0, equalsIndex));
    result[name] = equalsIndex < 0 ? "" : decodeComponent(pair.slice(equalsIndex + 1));
  }
  return result;
}

/** Whether every percent-encoding in the query of a raw URL is valid UTF-8. */
export function isWellEncoded(url: string): boolean {
  const start = url.indexOf("?");
  if (start < 0 || url.indexOf("%", start) < 0) return true;
  try {
    decodeURIComponent(url.slice(start + 1));
    return true;
  } catch {
    return false;
  }
}

function decodeComponent(text: string): string {
  const textWithSpaces = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!textWithSpaces.includes("%")) return textWithSpaces;
  try {
    return decodeURIComponent(textWithSpaces);
  } catch {
    return textWithSpaces;
  }
}
