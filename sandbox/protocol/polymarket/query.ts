/** Parses the query parameters of the venue's REST hosts. */

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An invalid parameter: 422 from Gamma, 400 from the other hosts. */
export class ValidationError extends Error {}

/** Returns all values of a repeated or comma-separated parameter, or null if it is absent or empty. */
export function parseListParam(query: Query, name: string): string[] | null {
  const parameter = query[name];
  if (parameter === undefined || parameter === "") return null;
  const values = (typeof parameter === "string" ? [parameter] : parameter).flatMap((value) => value.split(","));
  return values.filter((value) => value !== "");
}

/**
 * Returns the values of a comma-separated parameter, or null if it is absent or empty. Of a repeated parameter only the
 * first value is read, as by the Data API.
 */
export function parseJoinedParam(query: Query, name: string): string[] | null {
  return (
    parseTextParam(query, name)
      ?.split(",")
      .filter((value) => value !== "") ?? null
  );
}

/** Returns the first value of a parameter, or null if it is absent or empty. */
export function parseTextParam(query: Query, name: string): string | null {
  const parameter = query[name];
  const value = typeof parameter === "string" || parameter === undefined ? parameter : parameter[0];
  return value === undefined || value === "" ? null : value;
}

export function parseNumberParam(query: Query, name: string): number | null {
  const text = parseTextParam(query, name);
  if (text === null) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ValidationError(`${name} must be a number`);
  return value;
}

export function parseIntegerParam(query: Query, name: string): number | null {
  const value = parseNumberParam(query, name);
  if (value !== null && (!Number.isInteger(value) || value < 0))
    throw new ValidationError(`${name} must be a non-negative integer`);
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
  if (value === undefined) throw new ValidationError(`${name} must be a boolean`);
  return value;
}
