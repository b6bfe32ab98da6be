import type { FastifyRequest } from "fastify";
import { type ErrorFormat, VenueError } from "../errors.ts";
import { parseTextParam, type Query } from "../query.ts";

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  429: "Too Many Requests",
};

export const ERROR_FORMAT: ErrorFormat = {
  toBody({ status, message }) {
    const name = STATUS_NAMES[status];
    return { message, error: name === message ? undefined : name, statusCode: status };
  },
  invalidRequest: "Bad Request",
  internalError: "Internal server error",
  notFound: ({ method, url }) => `Cannot ${method} ${url}`,
};

/** Returns the first value of a query parameter, or null if the parameter is absent or empty. */
export const queryText = (request: FastifyRequest, name: string) => parseTextParam(request.query as Query, name);

/** Returns an integer query parameter, or `fallback` if it is absent. Throws VenueError 400 if it is invalid or out of range. */
export function queryInteger(
  request: FastifyRequest,
  name: string,
  bounds: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const text = queryText(request, name);
  if (text === null) return bounds.fallback;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value)) throw new VenueError(400, `${name} must be an integer number`);
  if (value < bounds.min) throw new VenueError(400, `${name} must not be less than ${bounds.min}`);
  if (value > bounds.max) throw new VenueError(400, `${name} must not be greater than ${bounds.max}`);
  return value;
}

/** Returns a query parameter that is one of `values`, or null if it is absent. Throws VenueError 400 otherwise. */
export function queryEnum<Value extends string>(
  request: FastifyRequest,
  name: string,
  values: readonly Value[],
): Value | null {
  const text = queryText(request, name);
  const value = values.find((candidate) => candidate === text);
  if (text !== null && value === undefined) {
    throw new VenueError(400, `${name} must be one of the following values: ${values.join(", ")}`);
  }
  return value ?? null;
}
