const FIELD_LENGTH_MAX = 300;
/** DEL and the C1 controls, which JSON does not escape and terminals may execute. */
const CONTROL_CHARACTERS = /[\u007f-\u009f]/g;
const RESET = "\u001b[0m";
const COLOURS: Readonly<Record<string, string>> = { debug: "\u001b[2m", warn: "\u001b[33m", error: "\u001b[31m" };

/** Returns whether to use colours: not if `NO_COLOR` is set (https://no-color.org) or the terminal is dumb. */
export const usesColour = ({ NO_COLOR: noColour, TERM: terminal }: NodeJS.ProcessEnv): boolean =>
  (noColour ?? "") === "" && terminal !== "dumb";

/**
 * Returns a log line for people: time (UTC), level, message and fields, and the stack of an error below it.
 *
 * @param line  a JSON line of the log
 */
export function formatLogLine(line: string, options: { readonly hasColour: boolean }): string {
  const { level, time, message, err, stack, ...fields }: Record<string, unknown> = JSON.parse(line);
  const { message: errorMessage, stack: errorStack } = (err ?? {}) as Record<string, unknown>;
  const shown = errorMessage === undefined ? fields : { ...fields, error: errorMessage };
  const name = String(level);
  const colour = options.hasColour ? COLOURS[name] : undefined;
  const label = name.toUpperCase().padEnd(5);
  const words = [
    `${String(time).slice(11, 19)}Z`,
    colour === undefined ? label : `${colour}${label}${RESET}`,
    clean(String(message)),
    ...Object.entries(shown).map(([key, value]) => `${key}=${formatValue(value)}`),
  ];
  const trace = stack ?? errorStack;
  const indented = typeof trace === "string" ? trace.split("\n").map((row) => `\n    ${clean(row.trim())}`) : [];
  return `${words.join(" ")}${indented.join("")}\n`;
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return clean(text.length > FIELD_LENGTH_MAX ? `${text.slice(0, FIELD_LENGTH_MAX)}…` : text);
}

/** Escapes the characters that could control a terminal. */
const clean = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("\\\\", "\\")
    .replaceAll(CONTROL_CHARACTERS, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
