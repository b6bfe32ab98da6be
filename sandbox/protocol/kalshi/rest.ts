import type { FastifyInstance, FastifyRequest } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import type { ExchangeContext } from "../exchange.ts";
import { identify } from "./auth.ts";
import { KalshiError, Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { installCandles } from "./routes-candles.ts";
import { installEvents } from "./routes-events.ts";
import { installExchange } from "./routes-exchange.ts";
import { installHistorical } from "./routes-historical.ts";
import { installMarkets } from "./routes-markets.ts";
import { installSeries } from "./routes-series.ts";
import { installTrades } from "./routes-trades.ts";

export const REST_PATH = "/trade-api/v2";
/** The Basic plan. */
const READS_PER_SECOND = 20;
/** Clients remembered at once; the one seen first is forgotten. */
const CLIENTS_MAX = 10_000;

/** Kalshi's public REST interface. */
export function installRest(app: FastifyInstance, options: RestOptions): void {
  const { context, keys } = options;
  const isWithinLimits = limiter(context);
  app.setErrorHandler((error, _request, reply) => {
    const known = error instanceof KalshiError ? error : new KalshiError(statusOf(error), "internal_error");
    return reply.code(known.status).send(known.body());
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(new KalshiError(404, "not_found").body()));

  const get: Get = (path, answer) => {
    app.get(`${REST_PATH}${path}`, (request) => {
      const identity = identify(keys, request.headers, request.method, request.url.split("?")[0] ?? "");
      const client = identity.kind === "key" ? `key ${identity.keyId}` : programOf(request);
      // Over the limit there is an error and nothing else: no Retry-After, no rate headers.
      if (!isWithinLimits(client)) throw new KalshiError(429, "too_many_requests");
      if (identity.kind === "bad") throw new KalshiError(401, "authentication_error", "INCORRECT_API_KEY_SIGNATURE");
      const params = request.params as Readonly<Record<string, string>>;
      return answer({
        query: new Query(request),
        path: (name) => params[name] ?? "",
        hasKey: identity.kind === "key",
      });
    });
  };
  installMarkets(get, options);
  installTrades(get, options);
  installCandles(get, options);
  installEvents(get, options);
  installSeries(get, options);
  installHistorical(get, options);
  installExchange(get, options);
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: number }).statusCode;
  return status !== undefined && status >= 400 && status < 500 ? status : 500;
}

/** Without a key the venue counts by address; on loopback the program's name tells clients apart. */
function programOf(request: FastifyRequest): string {
  return `${request.headers["user-agent"] ?? ""} at ${request.ip}`;
}

function limiter({ enforceLimits, now }: ExchangeContext): (client: string) => boolean {
  if (!enforceLimits) return () => true;
  const buckets = new Map<string, TokenBucket>();
  return (client) => {
    let bucket = buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket({ perSecond: READS_PER_SECOND, capacity: READS_PER_SECOND, now: now() });
      buckets.set(client, bucket);
      const first = buckets.keys().next();
      if (buckets.size > CLIENTS_MAX && first.done !== true) buckets.delete(first.value);
    }
    return bucket.take(now()) === 0;
  };
}
