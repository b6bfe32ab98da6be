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

type ErrorOf = (loc: Location, input: unknown) => ValidationItem;

/** An error with a fixed message. */
const fixed =
  (type: string, msg: string): ErrorOf =>
  (loc, input) =>
    item(type, loc, msg, input);

const intMessage = "Input should be a valid integer";
const numberMessage = "Input should be a valid number";
const booleanMessage = "Input should be a valid boolean";

/** `input` is the object without the field. */
export const missing = fixed("missing", "Field required");
export const stringType = fixed("string_type", "Input should be a valid string");
export const intType = fixed("int_type", intMessage);
export const intParsing = fixed("int_parsing", `${intMessage}, unable to parse string as an integer`);
export const intParsingSize = fixed(
  "int_parsing_size",
  "Unable to parse input string as an integer, exceeded maximum size",
);
export const intFromFloat = fixed("int_from_float", `${intMessage}, got a number with a fractional part`);
export const floatType = fixed("float_type", numberMessage);
export const floatParsing = fixed("float_parsing", `${numberMessage}, unable to parse string as a number`);
export const finiteNumber = fixed("finite_number", "Input should be a finite number");
export const boolType = fixed("bool_type", booleanMessage);
export const boolParsing = fixed("bool_parsing", `${booleanMessage}, unable to interpret input`);
export const noneRequired = fixed("none_required", "Input should be None");
export const listType = fixed("list_type", "Input should be a valid list");
export const dictType = fixed("dict_type", "Input should be a valid dictionary");
export const modelType = fixed(
  "model_attributes_type",
  "Input should be a valid dictionary or object to extract fields from",
);
export const extraForbidden = fixed("extra_forbidden", "Extra inputs are not permitted");

/** An error of a bound; `ctx` has the bound under `key`. */
const bounded =
  (type: string, msg: string, key: string) =>
  (loc: Location, input: unknown, bound: number): ValidationItem =>
    item(type, loc, `Input should be ${msg} ${bound}`, input, { [key]: bound });

export const greaterThanEqual = bounded("greater_than_equal", "greater than or equal to", "ge");
export const lessThanEqual = bounded("less_than_equal", "less than or equal to", "le");
export const greaterThan = bounded("greater_than", "greater than", "gt");
export const lessThan = bounded("less_than", "less than", "lt");
export const multipleOf = bounded("multiple_of", "a multiple of", "multiple_of");

const INVALID_UNICODE = "Input should be a valid string, unable to parse raw data as a unicode string";
export const stringUnicode = (loc: Location) => item("string_unicode", loc, INVALID_UNICODE, undefined);

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

/** Formats `allowed` as `'a', 'b' or 'c'`. */
export function literalError(loc: Location, input: unknown, allowed: readonly unknown[]): ValidationItem {
  const literals = allowed.map(pythonRepr);
  const last = literals.at(-1) ?? "";
  const expected = literals.length > 1 ? `${literals.slice(0, -1).join(", ")} or ${last}` : last;
  return item("literal_error", loc, `Input should be ${expected}`, input, { expected });
}

const listLength =
  (type: string, text: string, key: string) =>
  (loc: Location, input: readonly unknown[], length: number): ValidationItem =>
    item(type, loc, `List should have ${text} ${count(length, "item")} after validation, not ${input.length}`, input, {
      field_type: "List",
      [key]: length,
      actual_length: input.length,
    });

export const listTooShort = listLength("too_short", "at least", "min_length");
export const listTooLong = listLength("too_long", "at most", "max_length");

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
