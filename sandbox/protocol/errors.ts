import type { FastifyInstance, FastifyRequest } from "fastify";

/** An error response of a simulated venue. */
export class VenueError extends Error {
  readonly status: number;
  readonly details: unknown;

  constructor(status: number, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** The format of a venue's error responses. */
export interface ErrorFormat {
  readonly toBody: (error: VenueError) => object;
  /** Status of the response. The default is the status of the error. */
  readonly statusOf?: (error: VenueError) => number;
  /** Message for a request that Fastify rejects, for example a malformed body. */
  readonly invalidRequest: string;
  readonly internalError: string;
  readonly notFound: (request: FastifyRequest) => string;
}

/** Sends a thrown `VenueError`, and the errors of Fastify, in the format of the venue. */
export function installErrorHandlers(app: FastifyInstance, format: ErrorFormat): void {
  const toVenueError = (error: unknown): VenueError => {
    if (error instanceof VenueError) return error;
    const { statusCode = 500 } = error as { readonly statusCode?: number };
    return statusCode < 500
      ? new VenueError(statusCode, format.invalidRequest)
      : new VenueError(500, format.internalError);
  };
  app.setErrorHandler((error, _request, reply) => {
    const venueError = toVenueError(error);
    return reply.code(format.statusOf?.(venueError) ?? venueError.status).send(format.toBody(venueError));
  });
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send(format.toBody(new VenueError(404, format.notFound(request)))),
  );
}
