import type { FastifyRequest } from "fastify";

/** An error response in the venue's format. */
export class KalshiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: string | null;

  constructor(status: number, code: string, details: string | null = null) {
    super(code.replaceAll("_", " "));
    this.status = status;
    this.code = code;
    this.details = details;
  }

  toBody(): Record<string, unknown> {
    return {
      error: { code: this.code, message: this.message, ...(this.details === null ? {} : { details: this.details }) },
    };
  }
}

export const createNotFoundError = () => new KalshiError(404, "not_found");
export const createBadRequestError = (details: string) => new KalshiError(400, "bad_request", details);

/** Query parameters of one request. The first value of a repeated parameter is used, except in lists. */
export class Query {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(request: FastifyRequest) {
    this.#values = request.query as Record<string, unknown>;
  }

  /** Returns the text, or null if the parameter is absent or empty. */
  readText(name: string): string | null {
    const value = this.#values[name];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "string" && first !== "" ? first : null;
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
    const value = this.#values[name];
    if (value === undefined) return null;
    const items = (Array.isArray(value) ? value : [value]).flatMap((part) => String(part).split(","));
    const present = items.filter((item) => item !== "");
    if (present.length > max) throw createBadRequestError(`invalid parameters: at most ${max} ${name}`);
    return present.length === 0 ? null : present;
  }
}

const CURSOR_LENGTH_MAX = 400;

/** Encodes numbers as an opaque cursor. */
export function writeCursor(parts: readonly number[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/**
 * Returns the `count` numbers of a cursor, or null if `text` is null.
 * @throws KalshiError (400) if the cursor is malformed
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
