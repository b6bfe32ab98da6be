import { VenueError } from "../errors.ts";
import { parseTextParam, type Query } from "../query.ts";

/** Creates the error for an invalid parameter. Gamma sends it with status 422. */
export const createInvalidError = (message: string) => new VenueError(400, message);

/**
 * Returns the values of a comma-separated parameter, or null if it is absent or empty. If the parameter is repeated,
 * only the first one is read, as by the Data API.
 */
export function parseJoinedParam(query: Query, name: string): string[] | null {
  return (
    parseTextParam(query, name)
      ?.split(",")
      .filter((value) => value !== "") ?? null
  );
}

export function parseNumberParam(query: Query, name: string): number | null {
  const text = parseTextParam(query, name);
  if (text === null) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw createInvalidError(`${name} must be a number`);
  return value;
}

export function parseIntegerParam(query: Query, name: string): number | null {
  const value = parseNumberParam(query, name);
  if (value !== null && (!Number.isInteger(value) || value < 0))
    throw createInvalidError(`${name} must be a non-negative integer`);
  return value;
}

/** The spellings that Go, the venue's language, parses as a boolean. Python clients send True and False. */
const BOOLEANS_BY_TEXT: Readonly<Record<string, boolean>> = {
  "1": true,
  t: true,
  T: true,
  true: true,
  True: true,
  TRUE: true,
  "0": false,
  f: false,
  F: false,
  false: false,
  False: false,
  FALSE: false,
};

export function parseBooleanParam(query: Query, name: string): boolean | null {
  const text = parseTextParam(query, name);
  if (text === null) return null;
  const value = Object.hasOwn(BOOLEANS_BY_TEXT, text) ? BOOLEANS_BY_TEXT[text] : undefined;
  if (value === undefined) throw createInvalidError(`${name} must be a boolean`);
  return value;
}
