/**
 * Polymarket's public interfaces over the simulated world, each on a separate host: the catalogue (Gamma), the order
 * books (CLOB), trades and resolutions (Data), and the market WebSocket.
 */
import type { ExchangeFactory } from "../exchange.ts";
import { createCatalogue } from "./catalogue.ts";
import { clobService } from "./clob.ts";
import { dataService } from "./data.ts";
import { gammaService } from "./gamma.ts";
import { marketSocketService } from "./sockets.ts";

export { polymarketConditionId, polymarketEventId, polymarketMarketId, polymarketTokenIds } from "./ids.ts";

export const polymarketExchange: ExchangeFactory = (context) => {
  const catalogue = createCatalogue(context.world, context.now);
  return [
    gammaService(context, catalogue),
    clobService(context, catalogue),
    dataService(context, catalogue),
    marketSocketService(context, catalogue),
  ];
};
