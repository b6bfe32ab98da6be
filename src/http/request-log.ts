import type { FastifyReply, FastifyRequest } from "fastify";
import { roundTo } from "../lib/numbers.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/**
 * Maximum number of successful requests logged per second. The others are counted. Failed requests are always logged.
 */
const SUCCESSES_PER_SECOND = 50;
const WINDOW_MS = 1_000;
const PATH_LENGTH_MAX = 256;
const CAUSES_MAX = 4;
const TEXT_LENGTH_MAX = 2_000;

/**
 * Returns a function that logs one line per request: customer, method, route, path, status and duration in
 * milliseconds, but no query, header or body. Above `successesPerSecond`, successful requests are only counted.
 */
export function createRequestLog(
  log: Log,
  clock: Clock,
  successesPerSecond = SUCCESSES_PER_SECOND,
): (request: FastifyRequest, reply: FastifyReply, durationMs: number) => void {
  /** Successful requests of the current window, which begins with the first of them. */
  let successes = 0;
  const endWindow = () => {
    const omitted = successes - successesPerSecond;
    successes = 0;
    if (omitted > 0) log.info({ omitted, loggedPerSecondMax: successesPerSecond }, "successful requests not logged");
  };
  const mayLogSuccess = (): boolean => {
    if (successes === 0) clock.setTimeout(endWindow, WINDOW_MS);
    successes += 1;
    return successes <= successesPerSecond;
  };
  return (request, reply, durationMs) => {
    const status = reply.statusCode;
    if (status < 400 && !mayLogSuccess()) return;
    log.info(
      {
        requestId: request.id,
        customerId: request.principal?.customerId,
        method: request.method,
        route: routeOf(request),
        path: pathOf(request),
        status,
        ms: roundTo(durationMs, 3),
      },
      "request",
    );
  };
}

/**
 * Returns the path without its query, which may contain tokens, and with masked keys. Undefined for an unknown path: it
 * can be any text, such as a URL of another service with a token in it.
 */
function pathOf({ raw, is404 }: FastifyRequest): string | undefined {
  if (is404) return undefined;
  const { url = "" } = raw;
  const queryStart = url.search(/[?#]/);
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  return maskCredentials(path.slice(0, PATH_LENGTH_MAX));
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
