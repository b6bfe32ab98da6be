import type { FastifyInstance, FastifyRequest } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import type { ExchangeContext } from "../exchange.ts";
import { createErrorBody } from "./http-errors.ts";

const REQUESTS_PER_SECOND = 10;
const REQUEST_BURST_MAX = 20;
/** Limit of clients with a token bucket in memory; the oldest bucket is evicted. */
const CLIENTS_MAX = 10_000;

/** Identifies a client by its API key, otherwise by user agent and IP address. */
function clientKeyOf(request: FastifyRequest): string {
  const apiKey = request.headers["lmts-api-key"] ?? request.headers["x-api-key"];
  return typeof apiKey === "string" ? `key ${apiKey}` : `${request.headers["user-agent"] ?? ""} at ${request.ip}`;
}

/** Rejects requests that exceed the venue's rate limit with 429 and Retry-After. */
export function installRateLimit(app: FastifyInstance, context: ExchangeContext): void {
  if (!context.enforceLimits) return;
  const buckets = new Map<string, TokenBucket>();
  app.addHook("onRequest", async (request, reply) => {
    const now = context.now();
    const client = clientKeyOf(request);
    let bucket = buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket({ perSecond: REQUESTS_PER_SECOND, capacity: REQUEST_BURST_MAX, now });
      buckets.set(client, bucket);
      const [oldestClient] = buckets.keys();
      if (buckets.size > CLIENTS_MAX && oldestClient !== undefined) buckets.delete(oldestClient);
    }
    const waitMs = bucket.take(now);
    if (waitMs === 0) return;
    await reply
      .code(429)
      .header("retry-after", String(Math.ceil(waitMs / 1000)))
      .send(createErrorBody(429, "ThrottlerException: Too Many Requests"));
  });
}
