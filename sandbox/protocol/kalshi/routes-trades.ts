import type { ListedMarket } from "../../world/types.ts";
import { type Query, readCursor, writeCursor } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { newestTrades, tradeJson } from "./trades.ts";

const TRADES_MAX = 1_000;

/** Public trades, newest first. Trades before the cutoff are in the historical tier only. */
export function installTrades(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const tradesPage = (query: Query, tier: { readonly from: number; readonly to: number }) => {
    const limit = query.limit(100, TRADES_MAX);
    const ticker = query.text("ticker");
    const market = ticker === null ? null : catalogue.market(ticker);
    // Block trades are not simulated. An unknown ticker has no trades.
    if (query.flag("is_block_trade") || (ticker !== null && market === null)) return { trades: [], cursor: "" };
    const markets: readonly ListedMarket[] = market === null ? catalogue.markets() : [market];
    const range = {
      from: Math.max(query.time("min_ts") ?? 0, tier.from),
      to: Math.min((query.time("max_ts") ?? Number.POSITIVE_INFINITY) + 1, tier.to),
    };
    const cursor = readCursor(query.text("cursor"), 2);
    const position = cursor === null ? null : { at: cursor[0] ?? 0, skip: cursor[1] ?? 0 };
    const found = newestTrades(world, markets, range, limit + 1, position);
    const page = found.slice(0, limit);
    const lastAt = page.at(-1)?.trade.at ?? 0;
    const skippedBefore = position?.at === lastAt ? position.skip : 0;
    const skip = skippedBefore + page.filter(({ trade }) => trade.at === lastAt).length;
    return { trades: page.map(tradeJson), cursor: found.length > limit ? writeCursor([lastAt, skip]) : "" };
  };

  get("/markets/trades", ({ query }) => tradesPage(query, { from: catalogue.cutoff(), to: now() + 1 }));
  get("/historical/trades", ({ query }) => tradesPage(query, { from: 0, to: catalogue.cutoff() }));
}
