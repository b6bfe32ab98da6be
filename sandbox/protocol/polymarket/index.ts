/**
 * Polymarket as its clients see it: the catalogue (Gamma), the order books (CLOB), the public tape and resolutions (Data)
 * and the market stream, each a host of its own, over the simulated world.
 */
import type { ExchangeFactory } from "../exchange.ts";
import { clobService } from "./clob.ts";
import { dataService } from "./data.ts";
import { gammaService } from "./gamma.ts";
import { Listing } from "./listing.ts";
import { marketSocketService } from "./market-socket.ts";

export { polymarketConditionId, polymarketEventId, polymarketMarketId, polymarketTokenIds } from "./ids.ts";

export const polymarketExchange: ExchangeFactory = (context) => {
  const listing = new Listing(context.world, context.now);
  return [
    gammaService(context, listing),
    clobService(context, listing),
    dataService(context, listing),
    marketSocketService(context, listing),
  ];
};
