import type { FastifyInstance } from "fastify";
import { TokenBucket } from "../../../src/lib/token-bucket.ts";
import { type ErrorFormat, installErrorHandlers, VenueError } from "../errors.ts";
import type { Query as QueryValues } from "../query.ts";
import { anonymousClientOf, createClientStates } from "../rate-limits.ts";
import { identifyClient } from "./auth.ts";
import { Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { installCandles } from "./routes-candles.ts";
import { installEvents } from "./routes-events.ts";
import { installMarkets } from "./routes-markets.ts";

export const REST_PATH = "/trade-api/v2";
/** Rate limit of the venue's Basic plan. */
const REQUESTS_PER_SECOND = 20;

const ERROR_FORMAT: ErrorFormat = {
  toBody: ({ message: code, details }) => ({ error: { code, message: code.replaceAll("_", " "), details } }),
  invalidRequest: "internal_error",
  internalError: "internal_error",
  notFound: () => "not_found",
};

/** Kalshi's public REST interface. */
export function installRest(app: FastifyInstance, options: RestOptions): void {
  const { context, keys } = options;
  installErrorHandlers(app, ERROR_FORMAT);
  const bucketOf = createClientStates(
    () => new TokenBucket({ perSecond: REQUESTS_PER_SECOND, capacity: REQUESTS_PER_SECOND, now: context.now() }),
  );

  const get: Get = (path, handler) => {
    app.get(`${REST_PATH}${path}`, (request) => {
      const identity = identifyClient(keys, request.headers, request.method, request.url.split("?")[0] ?? "");
      const client = identity.kind === "key" ? `key ${identity.keyId}` : anonymousClientOf(request);
      // The venue sends neither Retry-After nor rate limit headers.
      if (context.enforceLimits && bucketOf(client).take(context.now()) > 0)
        throw new VenueError(429, "too_many_requests");
      if (identity.kind === "bad") throw new VenueError(401, "authentication_error", "INCORRECT_API_KEY_SIGNATURE");
      const params = request.params as Readonly<Record<string, string>>;
      return handler({
        query: new Query(request.query as QueryValues),
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
