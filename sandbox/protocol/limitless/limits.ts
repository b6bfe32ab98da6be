import type { FastifyInstance, FastifyRequest } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext } from "../exchange.ts";
import { anonymousClientOf, createClientStates } from "../rate-limits.ts";

const REQUESTS_PER_SECOND = 10;
const REQUEST_BURST_MAX = 20;

function clientKeyOf(request: FastifyRequest): string {
  const apiKey = request.headers["lmts-api-key"] ?? request.headers["x-api-key"];
  return typeof apiKey === "string" ? `key ${apiKey}` : anonymousClientOf(request);
}

/** Rejects requests that exceed the venue's rate limit with 429 and Retry-After. */
export function installRateLimit(app: FastifyInstance, { enforceLimits, now }: ExchangeContext): void {
  if (!enforceLimits) return;
  const bucketOf = createClientStates(
    () => new TokenBucket({ perSecond: REQUESTS_PER_SECOND, capacity: REQUEST_BURST_MAX, now: now() }),
  );
  app.addHook("onRequest", async (request, reply) => {
    const waitMs = bucketOf(clientKeyOf(request)).take(now());
    if (waitMs === 0) return;
    reply.header("retry-after", String(Math.ceil(waitMs / 1000)));
    throw new VenueError(429, "ThrottlerException: Too Many Requests");
  });
}
