import type { ListedMarket } from "../../world/types.ts";
import { parseCursor, type Query, writeCursor } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { findNewestTrades, presentTrade } from "./trades.ts";

const TRADES_MAX = 1_000;

/** Installs the routes of public trades, newest first. Trades before the cutoff are in the historical tier only. */
export function installTrades(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const selectTradesPage = (query: Query, tier: { readonly from: number; readonly to: number }) => {
    const limit = query.readLimit(100, TRADES_MAX);
    const ticker = query.readText("ticker");
    const market = ticker === null ? null : catalogue.findMarket(ticker);
    // Block trades are not simulated. An unknown ticker has no trades.
    if (query.readFlag("is_block_trade") || (ticker !== null && market === null)) return { trades: [], cursor: "" };
    const markets: readonly ListedMarket[] = market === null ? catalogue.listMarkets() : [market];
    const range = {
      from: Math.max(query.readTime("min_ts") ?? 0, tier.from),
      to: Math.min((query.readTime("max_ts") ?? Number.POSITIVE_INFINITY) + 1, tier.to),
    };
    const cursor = parseCursor(query.readText("cursor"), 2);
    const position = cursor === null ? null : { at: cursor[0] ?? 0, skip: cursor[1] ?? 0 };
    const found = findNewestTrades(world, markets, range, limit + 1, position);
    const page = found.slice(0, limit);
    const lastAt = page.at(-1)?.trade.at ?? 0;
    const skippedBefore = position?.at === lastAt ? position.skip : 0;
    const skip = skippedBefore + page.filter(({ trade }) => trade.at === lastAt).length;
    return { trades: page.map(presentTrade), cursor: found.length > limit ? writeCursor([lastAt, skip]) : "" };
  };

  get("/markets/trades", ({ query }) => selectTradesPage(query, { from: catalogue.computeCutoff(), to: now() + 1 }));
  get("/historical/trades", ({ query }) => selectTradesPage(query, { from: 0, to: catalogue.computeCutoff() }));
}
