import type { FastifyInstance, FastifyRequest } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import type { ExchangeContext } from "../exchange.ts";
import { errorBody } from "./http-errors.ts";

const PER_SECOND = 10;
const BURST = 20;
/** Clients remembered at once; the one seen first is forgotten. */
const CLIENTS_MAX = 10_000;

/** Who is asking: an API key, else the program (user agent) at an address. */
function clientOf(request: FastifyRequest): string {
  const key = request.headers["lmts-api-key"] ?? request.headers["x-api-key"];
  return typeof key === "string" ? `key ${key}` : `${request.headers["user-agent"] ?? ""} at ${request.ip}`;
}

/** Answers 429 with Retry-After to a client that asks more often than the venue allows. */
export function installLimits(app: FastifyInstance, context: ExchangeContext): void {
  if (!context.enforceLimits) return;
  const buckets = new Map<string, TokenBucket>();
  app.addHook("onRequest", async (request, reply) => {
    const now = context.now();
    const client = clientOf(request);
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
