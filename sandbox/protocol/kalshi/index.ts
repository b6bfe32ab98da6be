/** Kalshi's public REST and WebSocket interfaces over the simulated world. */
import { createPublicKey } from "node:crypto";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { createCatalogue } from "./catalogue.ts";
import { installRest, REST_PATH } from "./rest.ts";
import { installSockets, SOCKET_PATH } from "./sockets.ts";

export { kalshiCategory } from "./event-json.ts";
export { kalshiEventTicker, kalshiSeriesTicker, kalshiTicker, kalshiTradeId } from "./ids.ts";
export { kalshiSettlementValue } from "./market-json.ts";

export interface KalshiOptions {
  /** RSA public keys (PEM) by key id. If absent, every well-formed signature is accepted. */
  readonly publicKeys?: Readonly<Record<string, string>>;
  /** Whether unsigned order book requests are rejected with 401. Default: false. */
  readonly orderbookNeedsKey?: boolean;
}

/** REST and WebSocket services on one listener. */
export function kalshiExchange(context: ExchangeContext, options: KalshiOptions = {}): readonly ExchangeService[] {
  const catalogue = createCatalogue(context.world, context.now);
  const { publicKeys, orderbookNeedsKey = false } = options;
  const keys =
    publicKeys === undefined
      ? null
      : new Map(Object.entries(publicKeys).map(([keyId, pem]) => [keyId, createPublicKey(pem)]));
  return [
    {
      venue: "kalshi",
      name: "rest",
      basePath: REST_PATH,
      install: (app) => installRest(app, { context, catalogue, keys, orderbookNeedsKey }),
    },
    {
      venue: "kalshi",
      name: "ws",
      basePath: SOCKET_PATH,
      install: (app) => installSockets(app, { context, catalogue, keys }),
    },
  ];
}
