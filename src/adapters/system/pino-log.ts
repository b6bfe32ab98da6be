import { type Logger, pino } from "pino";
import type { Log, LogFields } from "../../ports/log.ts";

const DEPTH_MAX = 6;
const ITEMS_MAX = 50;
const TEXT_LENGTH_MAX = 8_000;
const NAME_LENGTH_MAX = 100;
/**
 * Maximum length of a line's fields as JSON. The line also contains the fields of its `child`, with the same limit, and
 * the message.
 */
const FIELDS_LENGTH_MAX = 6_000;
/** Number of characters that are kept of longer fields. Writing them as a JSON string at most doubles the length. */
const CUT_FIELDS_LENGTH = 3_000;
/** Maximum length of a message as JSON. */
const MESSAGE_LENGTH_MAX = 2_000;
const HIDDEN_TEXT = "[hidden]";
const SECRET_NAME_PATTERN =
  /(^|proxy)authorization$|cookie$|secret(key)?$|token$|password$|passphrase$|apikey$|privatekey$|^key$|bearer|credential|signature$/;
const SECRET_TEXT_PATTERNS: readonly [RegExp, string][] = [
  [/\b(plx_(?:free|pro|ent)_)[a-z2-7]{20,}/g, `$1${HIDDEN_TEXT}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN_TEXT}`],
  [/(\/\/[^\s/@:]*:)[^\s/@]+@/g, `$1${HIDDEN_TEXT}@`],
];

function cleanText(text: string): string {
  let cleaned = text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}...` : text;
  for (const [pattern, replacement] of SECRET_TEXT_PATTERNS) cleaned = cleaned.replace(pattern, replacement);
  return cleaned;
}

const isSecretName = (name: string) => SECRET_NAME_PATTERN.test(name.toLowerCase().replaceAll(/[_-]/g, ""));

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value === "bigint") return value.toString();
  // Another thread may write the line, and functions and symbols cannot be sent to it.
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return "[deep]";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    const ownFields = cleanFields({ ...value }, depth + 1);
    return {
      type: name,
      message: cleanText(message),
      stack: cleanText(stack ?? ""),
      ...ownFields,
      cause: cleanValue(cause, depth + 1),
    };
  }
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => cleanValue(item, depth + 1));
  return cleanFields(value, depth + 1);
}

/** Hides credentials by field name or text pattern, and limits depth, number of items and text length. */
export function cleanFields(fields: object, depth = 0): Record<string, unknown> {
  const entries = Object.entries(fields).slice(0, ITEMS_MAX);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.slice(0, NAME_LENGTH_MAX),
      isSecretName(name) ? HIDDEN_TEXT : cleanValue(value, depth),
    ]),
  );
}

/** Replaces fields that are too long by `cut`, the beginning of their JSON. */
function boundFields(fields: object): Record<string, unknown> {
  const cleaned = cleanFields(fields);
  const json = JSON.stringify(cleaned);
  return json.length <= FIELDS_LENGTH_MAX ? cleaned : { cut: json.slice(0, CUT_FIELDS_LENGTH) };
}

/** Truncates a message that is too long as JSON, including escape sequences. */
function boundMessage(message: string): string {
  const cleaned = cleanText(message);
  const json = JSON.stringify(cleaned);
  return json.length <= MESSAGE_LENGTH_MAX ? cleaned : `${json.slice(1, MESSAGE_LENGTH_MAX)}...`;
}

function wrapLogger(logger: Logger): Log {
  const createWriter = (level: "debug" | "info" | "warn" | "error") => (fields: LogFields, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](boundFields(fields), boundMessage(message));
  };
  return {
    debug: createWriter("debug"),
    info: createWriter("info"),
    warn: createWriter("warn"),
    error: createWriter("error"),
    child: (fields) => wrapLogger(logger.child(boundFields(fields))),
  };
}

/**
 * Creates a log that writes one JSON line per call to standard output. Hides credentials. Write errors, such as a full
 * disk, are ignored.
 *
 * @param destination  for tests: receives each line instead of standard output
 */
export function createPinoLog(level: string, destination?: { write(line: string): void }): Log {
  const output = destination ?? pino.destination({ fd: 1, sync: true });
  if ("on" in output && typeof output.on === "function") output.on("error", () => {});
  const options = {
    level,
    base: null,
    messageKey: "message",
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return wrapLogger(pino(options, output));
}
