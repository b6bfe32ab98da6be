import { VenueError } from "../errors.ts";
import { parseListParam, parseTextParam, type Query as QueryValues } from "../query.ts";

export const createNotFoundError = () => new VenueError(404, "not_found");
export const createBadRequestError = (details: string) => new VenueError(400, "bad_request", details);

/** Query parameters of one request. The first value of a repeated parameter is used, except in lists. */
export class Query {
  readonly #values: QueryValues;

  constructor(values: QueryValues) {
    this.#values = values;
  }

  /** Returns the text, or null if the parameter is absent or empty. */
  readText(name: string): string | null {
    return parseTextParam(this.#values, name);
  }

  readFlag(name: string): boolean {
    const text = this.readText(name);
    if (text === null || text === "false") return false;
    if (text === "true") return true;
    throw createBadRequestError(`invalid parameters: ${name} must be true or false`);
  }

  readInteger(name: string): number | null {
    const text = this.readText(name);
    if (text === null) return null;
    if (!/^-?\d{1,12}$/.test(text)) throw createBadRequestError(`invalid parameters: ${name} must be an integer`);
    return Number(text);
  }

  /** Reads Unix seconds and returns Unix milliseconds. */
  readTime(name: string): number | null {
    const seconds = this.readInteger(name);
    return seconds === null ? null : seconds * 1_000;
  }

  readRequiredInteger(name: string): number {
    const value = this.readInteger(name);
    if (value === null) throw createBadRequestError(`invalid parameters: ${name} is required`);
    return value;
  }

  /** Reads the page size. 0 selects the default; throws a 400 if the size is above `max`. */
  readLimit(defaultLimit: number, max: number): number {
    const limit = this.readInteger("limit") ?? defaultLimit;
    if (limit < 0 || limit > max) throw createBadRequestError(`invalid parameters: limit must be at most ${max}`);
    return limit === 0 ? defaultLimit : limit;
  }

  /** Returns one of `allowed`, or null if the parameter is absent. */
  readChoice<Value extends string>(name: string, allowed: readonly Value[]): Value | null {
    const text = this.readText(name);
    if (text === null) return null;
    const value = allowed.find((candidate) => candidate === text);
    if (value === undefined)
      throw createBadRequestError(`invalid parameters: ${name} must be one of ${allowed.join(", ")}`);
    return value;
  }

  /** Reads comma-separated values and repeated parameters. Returns null if the parameter is absent or empty. */
  readList(name: string, max: number): readonly string[] | null {
    const items = parseListParam(this.#values, name);
    if (items !== null && items.length > max) throw createBadRequestError(`invalid parameters: at most ${max} ${name}`);
    return items === null || items.length === 0 ? null : items;
  }
}

const CURSOR_LENGTH_MAX = 400;

/** Encodes numbers as an opaque cursor. */
export function writeCursor(parts: readonly number[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/**
 * Returns the `count` numbers of a cursor, or null if `text` is null.
 * @throws VenueError (400) if the cursor is malformed
 */
export function parseCursor(text: string | null, count: number): readonly number[] | null {
  if (text === null) return null;
  try {
    const parts: unknown =
      text.length > CURSOR_LENGTH_MAX ? null : JSON.parse(Buffer.from(text, "base64url").toString());
    if (Array.isArray(parts) && parts.length === count && parts.every(Number.isFinite)) return parts as number[];
  } catch {
    // Invalid JSON is rejected below.
  }
  throw createBadRequestError("invalid parameters: cursor");
}
