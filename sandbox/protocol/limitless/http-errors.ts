import type { FastifyInstance, FastifyRequest } from "fastify";

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  429: "Too Many Requests",
};

/** An error that is sent in the format of the venue. */
export class VenueHttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function createErrorBody(status: number, message: string): Record<string, unknown> {
  const name = STATUS_NAMES[status];
  return { message, error: name === message ? undefined : name, statusCode: status };
}

export function installErrorHandlers(app: FastifyInstance): void {
  app.setErrorHandler((error, _request, reply) => {
    const status =
      error instanceof VenueHttpError ? error.status : ((error as { statusCode?: number }).statusCode ?? 500);
    const message = status >= 500 ? "Internal server error" : (error as Error).message;
    return reply.code(status).send(createErrorBody(status, message));
  });
  app.setNotFoundHandler((request, reply) => {
    return reply.code(404).send(createErrorBody(404, `Cannot ${request.method} ${request.url}`));
  });
}

/** Returns the first value of a query parameter, or null if the parameter is absent or empty. */
export function queryText(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Record<string, unknown>)[name];
  const firstValue: unknown = Array.isArray(value) ? value[0] : value;
  return typeof firstValue === "string" && firstValue !== "" ? firstValue : null;
}

/** Returns an integer query parameter, or `fallback` if absent. Throws VenueHttpError 400 if it is out of range. */
export function queryInteger(
  request: FastifyRequest,
  name: string,
  bounds: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const text = queryText(request, name);
  if (text === null) return bounds.fallback;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value)) throw new VenueHttpError(400, `${name} must be an integer number`);
  if (value < bounds.min) throw new VenueHttpError(400, `${name} must not be less than ${bounds.min}`);
  if (value > bounds.max) throw new VenueHttpError(400, `${name} must not be greater than ${bounds.max}`);
  return value;
}

/** Returns a query parameter that is one of `values`, or null if it is absent. Throws VenueHttpError 400 otherwise. */
export function queryEnum<Value extends string>(
  request: FastifyRequest,
  name: string,
  values: readonly Value[],
): Value | null {
  const text = queryText(request, name);
  const value = values.find((candidate) => candidate === text);
  if (text !== null && value === undefined) {
    throw new VenueHttpError(400, `${name} must be one of the following values: ${values.join(", ")}`);
  }
  return value ?? null;
}
