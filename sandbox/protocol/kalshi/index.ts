/** Kalshi as it speaks to the public, over the simulated world. */
import { createPublicKey } from "node:crypto";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { Catalogue } from "./catalogue.ts";
import { installRest, REST_PATH } from "./rest.ts";
import { installSockets, SOCKET_PATH } from "./sockets.ts";

export { categoryOf as kalshiCategory } from "./event-json.ts";
export { kalshiEventTicker, kalshiSeriesTicker, kalshiTicker, uuidOf as kalshiTradeId } from "./ids.ts";
export { settlementValue as kalshiSettlementValue } from "./market-json.ts";

export interface KalshiOptions {
  /** RSA public keys (PEM) by key id. Without any, a well-formed signature of whichever key is taken as genuine. */
  readonly publicKeys?: Readonly<Record<string, string>>;
  /** Whether order books answer 401 to unsigned requests, as the venue's specification has it. */
  readonly orderbookNeedsKey?: boolean;
}

/** REST and WebSocket on one listener. */
export function kalshiExchange(context: ExchangeContext, options: KalshiOptions = {}): readonly ExchangeService[] {
  const catalogue = new Catalogue(context.world, context.now);
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
      scheme: "http",
      listener: "kalshi",
      install: (app) => installRest(app, { context, catalogue, keys, orderbookNeedsKey }),
    },
    {
      venue: "kalshi",
      name: "ws",
      basePath: SOCKET_PATH,
      scheme: "ws",
      listener: "kalshi",
      install: (app) => installSockets(app, { context, catalogue, keys }),
    },
  ];
}
