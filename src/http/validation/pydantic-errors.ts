import type { ValidationItem } from "../../domain/errors.ts";

/** Path of a value: `["query", "limit"]`, `["body", "market_ids", 1]`. */
export type Location = readonly (string | number)[];

const INPUT_DEPTH_MAX = 16;
const INPUT_LENGTH_MAX = 1_000;
/** Fields whose values are never returned or logged. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["secret", "turnstile_token", "token", "api_key", "password"]);

/** Creates an error item. Omits `input` if it is secret, too deep, too long or not valid JSON. */
function item(
  type: string,
  loc: Location,
  msg: string,
  input: unknown,
  ctx?: Readonly<Record<string, unknown>>,
): ValidationItem {
  const returned = isSecret(loc) ? undefined : returnable(input);
  return {
    type,
    loc,
    msg,
    ...(returned === undefined ? {} : { input: returned }),
    ...(ctx === undefined ? {} : { ctx }),
  };
}

/** An error of a custom rule, as Pydantic's `value_error`. */
export function valueError(loc: Location, text: string, input?: unknown): ValidationItem {
  return item("value_error", loc, `Value error, ${text}`, input, { error: {} });
}

export const missing = (loc: Location, parent: unknown): ValidationItem =>
  item("missing", loc, "Field required", parent);

export const stringType = (loc: Location, input: unknown): ValidationItem =>
  item("string_type", loc, "Input should be a valid string", input);

export const stringUnicode = (loc: Location): ValidationItem =>
  item(
    "string_unicode",
    loc,
    "Input should be a valid string, unable to parse raw data as a unicode string",
    undefined,
  );

export const stringTooShort = (loc: Location, input: string, length: number): ValidationItem =>
  item("string_too_short", loc, `String should have at least ${count(length, "character")}`, input, {
    min_length: length,
  });

export const stringTooLong = (loc: Location, input: string, length: number): ValidationItem =>
  item("string_too_long", loc, `String should have at most ${count(length, "character")}`, input, {
    max_length: length,
  });

export const stringPattern = (loc: Location, input: string, pattern: string): ValidationItem =>
  item("string_pattern_mismatch", loc, `String should match pattern '${pattern}'`, input, { pattern });

export const intType = (loc: Location, input: unknown): ValidationItem =>
  item("int_type", loc, "Input should be a valid integer", input);

export const intParsing = (loc: Location, input: unknown): ValidationItem =>
  item("int_parsing", loc, "Input should be a valid integer, unable to parse string as an integer", input);

export const intParsingSize = (loc: Location, input: unknown): ValidationItem =>
  item("int_parsing_size", loc, "Unable to parse input string as an integer, exceeded maximum size", input);

export const intFromFloat = (loc: Location, input: number): ValidationItem =>
  item("int_from_float", loc, "Input should be a valid integer, got a number with a fractional part", input);

export const floatType = (loc: Location, input: unknown): ValidationItem =>
  item("float_type", loc, "Input should be a valid number", input);

export const floatParsing = (loc: Location, input: unknown): ValidationItem =>
  item("float_parsing", loc, "Input should be a valid number, unable to parse string as a number", input);

export const finiteNumber = (loc: Location, input: unknown): ValidationItem =>
  item("finite_number", loc, "Input should be a finite number", input);

export const boolType = (loc: Location, input: unknown): ValidationItem =>
  item("bool_type", loc, "Input should be a valid boolean", input);

export const boolParsing = (loc: Location, input: unknown): ValidationItem =>
  item("bool_parsing", loc, "Input should be a valid boolean, unable to interpret input", input);

export const noneRequired = (loc: Location, input: unknown): ValidationItem =>
  item("none_required", loc, "Input should be None", input);

export const greaterThanEqual = (loc: Location, input: unknown, ge: number): ValidationItem =>
  item("greater_than_equal", loc, `Input should be greater than or equal to ${ge}`, input, { ge });

export const lessThanEqual = (loc: Location, input: unknown, le: number): ValidationItem =>
  item("less_than_equal", loc, `Input should be less than or equal to ${le}`, input, { le });

export const greaterThan = (loc: Location, input: unknown, gt: number): ValidationItem =>
  item("greater_than", loc, `Input should be greater than ${gt}`, input, { gt });

export const lessThan = (loc: Location, input: unknown, lt: number): ValidationItem =>
  item("less_than", loc, `Input should be less than ${lt}`, input, { lt });

export const multipleOf = (loc: Location, input: unknown, step: number): ValidationItem =>
  item("multiple_of", loc, `Input should be a multiple of ${step}`, input, { multiple_of: step });

/** Formats `allowed` as `'a', 'b' or 'c'`. */
export function literalError(loc: Location, input: unknown, allowed: readonly unknown[]): ValidationItem {
  const literals = allowed.map(pythonRepr);
  const last = literals.at(-1) ?? "";
  const expected = literals.length > 1 ? `${literals.slice(0, -1).join(", ")} or ${last}` : last;
  return item("literal_error", loc, `Input should be ${expected}`, input, { expected });
}

export const listType = (loc: Location, input: unknown): ValidationItem =>
  item("list_type", loc, "Input should be a valid list", input);

export const listTooShort = (loc: Location, input: readonly unknown[], length: number): ValidationItem =>
  item(
    "too_short",
    loc,
    `List should have at least ${count(length, "item")} after validation, not ${input.length}`,
    input,
    { field_type: "List", min_length: length, actual_length: input.length },
  );

export const listTooLong = (loc: Location, input: readonly unknown[], length: number): ValidationItem =>
  item(
    "too_long",
    loc,
    `List should have at most ${count(length, "item")} after validation, not ${input.length}`,
    input,
    { field_type: "List", max_length: length, actual_length: input.length },
  );

export const dictType = (loc: Location, input: unknown): ValidationItem =>
  item("dict_type", loc, "Input should be a valid dictionary", input);

export const modelType = (loc: Location, input: unknown): ValidationItem =>
  item("model_attributes_type", loc, "Input should be a valid dictionary or object to extract fields from", input);

export const extraForbidden = (loc: Location, input: unknown): ValidationItem =>
  item("extra_forbidden", loc, "Extra inputs are not permitted", input);

/** Malformed JSON. `position` counts code points; `error` is the message of Python's decoder. */
export const jsonInvalid = (position: number, error: string): ValidationItem =>
  item("json_invalid", ["body", position], "JSON decode error", {}, { error });

function count(length: number, noun: string): string {
  return `${length} ${noun}${length === 1 ? "" : "s"}`;
}

/** Formats a literal like Python: strings in single quotes, True, False, None. */
function pythonRepr(value: unknown): string {
  if (typeof value === "string") return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  if (value === true) return "True";
  if (value === false) return "False";
  return value === null ? "None" : String(value);
}

function isSecret(loc: Location): boolean {
  return loc.some((step) => typeof step === "string" && SECRET_FIELDS.has(step));
}

/** The value if it may be returned to the caller, otherwise undefined. */
function returnable(value: unknown): unknown {
  const budget = { left: INPUT_LENGTH_MAX };
  return fits(value, 0, budget) ? value : undefined;
}

function fits(value: unknown, depth: number, budget: { left: number }): boolean {
  if (depth > INPUT_DEPTH_MAX) return false;
  if (typeof value === "string") budget.left -= value.length;
  else if (typeof value === "number") {
    if (!Number.isFinite(value)) return false;
    budget.left -= 8;
  } else if (Array.isArray(value)) {
    budget.left -= 2;
    return budget.left >= 0 && value.every((entry) => fits(entry, depth + 1, budget));
  } else if (typeof value === "object" && value !== null) {
    budget.left -= 2;
    for (const [name, entry] of Object.entries(value)) {
      budget.left -= name.length + 1;
      if (SECRET_FIELDS.has(name) || budget.left < 0 || !fits(entry, depth + 1, budget)) return false;
    }
  } else {
    if (value === undefined) return false;
    budget.left -= 5;
  }
  return budget.left >= 0;
}
