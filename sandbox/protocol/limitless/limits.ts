import type { FastifyInstance, FastifyRequest } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import type { ExchangeContext } from "../exchange.ts";
import { errorBody } from "./http-errors.ts";

const PER_SECOND = 10;
const BURST = 20;
/** Token buckets held in memory; the oldest is evicted. */
const CLIENTS_MAX = 10_000;

/** Identifies a client by its API key, otherwise by user agent and address. */
function clientKey(request: FastifyRequest): string {
  const key = request.headers["lmts-api-key"] ?? request.headers["x-api-key"];
  return typeof key === "string" ? `key ${key}` : `${request.headers["user-agent"] ?? ""} at ${request.ip}`;
}

/** Rejects clients over the venue's rate limit with 429 and Retry-After. */
export function installLimits(app: FastifyInstance, context: ExchangeContext): void {
  if (!context.enforceLimits) return;
  const buckets = new Map<string, TokenBucket>();
  app.addHook("onRequest", async (request, reply) => {
    const now = context.now();
    const client = clientKey(request);
    let bucket = buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket({ perSecond: PER_SECOND, capacity: BURST, now });
      buckets.set(client, bucket);
      const [first] = buckets.keys();
      if (buckets.size > CLIENTS_MAX && first !== undefined) buckets.delete(first);
    }
    const waitMs = bucket.take(now);
    if (waitMs === 0) return;
    await reply
      .code(429)
      .header("retry-after", String(Math.ceil(waitMs / 1000)))
      .send(errorBody(429, "ThrottlerException: Too Many Requests"));
  });
}
