import type { ValidationItem } from "../../domain/errors.ts";

/** Path of a value: `["query", "limit"]`, `["body", "market_ids", 1]`. */
export type Location = readonly (string | number)[];

const INPUT_DEPTH_MAX = 16;
const INPUT_LENGTH_MAX = 1_000;
/** Names of fields whose values are never returned or logged. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["secret", "turnstile_token", "token", "api_key", "password"]);

/** Creates an error item. Omits `input` if it is secret, too deep, too long or not valid JSON. */
function createItem(
  type: string,
  loc: Location,
  msg: string,
  input: unknown,
  ctx?: Readonly<Record<string, unknown>>,
): ValidationItem {
  const returnedInput = isSecret(loc) ? undefined : returnableInput(input);
  return {
    type,
    loc,
    msg,
    ...(returnedInput === undefined ? {} : { input: returnedInput }),
    ...(ctx === undefined ? {} : { ctx }),
  };
}

/** Creates the error of a custom rule in the format of Pydantic's `value_error`. */
export function valueError(loc: Location, text: string, input?: unknown): ValidationItem {
  return createItem("value_error", loc, `Value error, ${text}`, input, { error: {} });
}

type CreateError = (loc: Location, input: unknown) => ValidationItem;

/** Creates a constructor of errors with a fixed message. */
const createFixedError =
  (type: string, msg: string): CreateError =>
  (loc, input) =>
    createItem(type, loc, msg, input);

const INT_MESSAGE = "Input should be a valid integer";
const NUMBER_MESSAGE = "Input should be a valid number";
const BOOLEAN_MESSAGE = "Input should be a valid boolean";

/** The `input` argument is the object that lacks the field. */
export const missing = createFixedError("missing", "Field required");
export const stringType = createFixedError("string_type", "Input should be a valid string");
export const intType = createFixedError("int_type", INT_MESSAGE);
export const intParsing = createFixedError("int_parsing", `${INT_MESSAGE}, unable to parse string as an integer`);
export const intParsingSize = createFixedError(
  "int_parsing_size",
  "Unable to parse input string as an integer, exceeded maximum size",
);
export const intFromFloat = createFixedError("int_from_float", `${INT_MESSAGE}, got a number with a fractional part`);
export const floatType = createFixedError("float_type", NUMBER_MESSAGE);
export const floatParsing = createFixedError("float_parsing", `${NUMBER_MESSAGE}, unable to parse string as a number`);
export const finiteNumber = createFixedError("finite_number", "Input should be a finite number");
export const boolType = createFixedError("bool_type", BOOLEAN_MESSAGE);
export const boolParsing = createFixedError("bool_parsing", `${BOOLEAN_MESSAGE}, unable to interpret input`);
export const listType = createFixedError("list_type", "Input should be a valid list");
export const modelType = createFixedError(
  "model_attributes_type",
  "Input should be a valid dictionary or object to extract fields from",
);

/** Creates a constructor of errors for a violated bound. `ctx[key]` is the bound. */
const createBoundError =
  (type: string, msg: string, key: string) =>
  (loc: Location, input: unknown, bound: number): ValidationItem =>
    createItem(type, loc, `Input should be ${msg} ${bound}`, input, { [key]: bound });

export const greaterThanEqual = createBoundError("greater_than_equal", "greater than or equal to", "ge");
export const lessThanEqual = createBoundError("less_than_equal", "less than or equal to", "le");
export const greaterThan = createBoundError("greater_than", "greater than", "gt");
export const lessThan = createBoundError("less_than", "less than", "lt");

const INVALID_UNICODE = "Input should be a valid string, unable to parse raw data as a unicode string";
export const stringUnicode = (loc: Location) => createItem("string_unicode", loc, INVALID_UNICODE, undefined);

export const stringTooShort = (loc: Location, input: string, length: number): ValidationItem =>
  createItem("string_too_short", loc, `String should have at least ${formatCount(length, "character")}`, input, {
    min_length: length,
  });

export const stringTooLong = (loc: Location, input: string, length: number): ValidationItem =>
  createItem("string_too_long", loc, `String should have at most ${formatCount(length, "character")}`, input, {
    max_length: length,
  });

export const stringPattern = (loc: Location, input: string, pattern: string): ValidationItem =>
  createItem("string_pattern_mismatch", loc, `String should match pattern '${pattern}'`, input, { pattern });

/** Formats `allowed` as `'a', 'b' or 'c'`. */
export function literalError(loc: Location, input: unknown, allowed: readonly unknown[]): ValidationItem {
  const literals = allowed.map(pythonRepr);
  const last = literals.at(-1) ?? "";
  const expected = literals.length > 1 ? `${literals.slice(0, -1).join(", ")} or ${last}` : last;
  return createItem("literal_error", loc, `Input should be ${expected}`, input, { expected });
}

const createListLengthError =
  (type: string, text: string, key: string) =>
  (loc: Location, input: readonly unknown[], length: number): ValidationItem =>
    createItem(
      type,
      loc,
      `List should have ${text} ${formatCount(length, "item")} after validation, not ${input.length}`,
      input,
      {
        field_type: "List",
        [key]: length,
        actual_length: input.length,
      },
    );

export const listTooShort = createListLengthError("too_short", "at least", "min_length");
export const listTooLong = createListLengthError("too_long", "at most", "max_length");

/** Creates the error for malformed JSON. `position` is in code points; `error` is the message of Python's decoder. */
export const jsonInvalid = (position: number, error: string): ValidationItem =>
  createItem("json_invalid", ["body", position], "JSON decode error", {}, { error });

function formatCount(length: number, noun: string): string {
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

/** Returns the value if it may be sent to the caller, otherwise undefined. */
function returnableInput(value: unknown): unknown {
  const budget = { remaining: INPUT_LENGTH_MAX };
  return fitsBudget(value, 0, budget) ? value : undefined;
}

function fitsBudget(value: unknown, depth: number, budget: { remaining: number }): boolean {
  if (depth > INPUT_DEPTH_MAX) return false;
  if (typeof value === "string") budget.remaining -= value.length;
  else if (typeof value === "number") {
    if (!Number.isFinite(value)) return false;
    budget.remaining -= 8;
  } else if (Array.isArray(value)) {
    budget.remaining -= 2;
    return budget.remaining >= 0 && value.every((entry) => fitsBudget(entry, depth + 1, budget));
  } else if (typeof value === "object" && value !== null) {
    budget.remaining -= 2;
    for (const [name, entry] of Object.entries(value)) {
      budget.remaining -= name.length + 1;
      if (SECRET_FIELDS.has(name) || budget.remaining < 0 || !fitsBudget(entry, depth + 1, budget)) return false;
    }
  } else {
    if (value === undefined) return false;
    budget.remaining -= 5;
  }
  return budget.remaining >= 0;
}
