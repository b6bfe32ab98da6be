import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../ports/log.ts";

/** One of this many successful requests is logged. Failed requests are always logged. */
const SUCCESS_SAMPLE_INTERVAL = 1_000;
const CAUSES_MAX = 4;
const TEXT_LENGTH_MAX = 2_000;

/** Returns a function that logs method, route pattern, status and duration of a request, but no URL, header or body. */
export function createRequestLog(
  log: Log,
  successSample = SUCCESS_SAMPLE_INTERVAL,
): (request: FastifyRequest, reply: FastifyReply) => void {
  let successes = 0;
  return (request, reply) => {
    const status = reply.statusCode;
    if (status < 400) {
      successes += 1;
      if (successes % successSample !== 0) return;
    }
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route: routeOf(request),
        status,
        durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
        ...(status < 400 && successSample > 1 ? { sampledOneIn: successSample } : {}),
      },
      "request",
    );
  };
}

/** Returns the route's pattern, because raw paths have unbounded cardinality and contain client data. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? "(no such route)";
}

/** Returns log fields of a thrown value: its chain of causes and its stack, with masked credentials. */
export function describeError(error: unknown): Readonly<Record<string, unknown>> {
  const causes: string[] = [];
  let current: unknown = error;
  while (current instanceof Error && causes.length < CAUSES_MAX) {
    causes.push(maskCredentials(`${current.name}: ${current.message}`));
    current = current.cause;
  }
  if (causes.length === 0) causes.push(maskCredentials(String(error)));
  const stack = error instanceof Error && error.stack !== undefined ? maskCredentials(error.stack) : undefined;
  return { error: causes[0], causes: causes.slice(1), stack };
}

function maskCredentials(text: string): string {
  return text
    .slice(0, TEXT_LENGTH_MAX)
    .replace(/\bbearer\s+\S+/gi, "Bearer ***")
    .replace(/\bwhsec_\S+/g, "whsec_***")
    .replace(/\b([a-z]{2,10}_(?:free|pro|ent)_)\S+/g, "$1***")
    .replace(/:\/\/[^\s/@]*:[^\s/@]*@/g, "://***@");
}
