import type { FastifyInstance, FastifyRequest } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import type { ExchangeContext } from "../exchange.ts";
import { identifyClient } from "./auth.ts";
import { KalshiError, Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { installCandles } from "./routes-candles.ts";
import { installEvents } from "./routes-events.ts";
import { installMarkets } from "./routes-markets.ts";

export const REST_PATH = "/trade-api/v2";
/** Request limit of the venue's Basic plan. */
const REQUESTS_PER_SECOND = 20;
/** Maximum number of clients in the rate limiter; if exceeded, the oldest client is evicted. */
const CLIENTS_MAX = 10_000;

/** Kalshi's public REST interface. */
export function installRest(app: FastifyInstance, options: RestOptions): void {
  const { context, keys } = options;
  const isWithinLimits = createLimiter(context);
  app.setErrorHandler((error, _request, reply) => {
    const kalshiError = error instanceof KalshiError ? error : new KalshiError(statusOf(error), "internal_error");
    return reply.code(kalshiError.status).send(kalshiError.toBody());
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(new KalshiError(404, "not_found").toBody()));

  const get: Get = (path, handler) => {
    app.get(`${REST_PATH}${path}`, (request) => {
      const identity = identifyClient(keys, request.headers, request.method, request.url.split("?")[0] ?? "");
      const client = identity.kind === "key" ? `key ${identity.keyId}` : identifyAnonymousClient(request);
      // The venue sends neither Retry-After nor rate limit headers.
      if (!isWithinLimits(client)) throw new KalshiError(429, "too_many_requests");
      if (identity.kind === "bad") throw new KalshiError(401, "authentication_error", "INCORRECT_API_KEY_SIGNATURE");
      const params = request.params as Readonly<Record<string, string>>;
      return handler({
        query: new Query(request),
        path: (name) => params[name] ?? "",
        hasKey: identity.kind === "key",
      });
    });
  };
  installMarkets(get, options);
  installCandles(get, options);
  installEvents(get, options);
  get("/exchange/status", () => ({ exchange_active: true, trading_active: true }));
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: number }).statusCode;
  return status !== undefined && status >= 400 && status < 500 ? status : 500;
}

/** The venue limits unsigned requests per IP address. The User-Agent distinguishes clients with the same address. */
function identifyAnonymousClient(request: FastifyRequest): string {
  return `${request.headers["user-agent"] ?? ""} at ${request.ip}`;
}

function createLimiter({ enforceLimits, now }: ExchangeContext): (client: string) => boolean {
  if (!enforceLimits) return () => true;
  const buckets = new Map<string, TokenBucket>();
  return (client) => {
    let bucket = buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket({ perSecond: REQUESTS_PER_SECOND, capacity: REQUESTS_PER_SECOND, now: now() });
      buckets.set(client, bucket);
      const oldest = buckets.keys().next();
      if (buckets.size > CLIENTS_MAX && oldest.done !== true) buckets.delete(oldest.value);
    }
    return bucket.take(now()) === 0;
  };
}
