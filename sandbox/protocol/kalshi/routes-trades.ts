import type { ListedMarket } from "../../world/types.ts";
import { type Query, readCursor, writeCursor } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { tapeOf, tradeJson } from "./tape.ts";

const TRADES_MAX = 1_000;

/** The tape, newest first: what was traded before the cutoff is in the historical tier only. */
export function installTrades(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const tape = (query: Query, tier: { readonly from: number; readonly to: number }) => {
    const limit = query.limit(100, TRADES_MAX);
    const ticker = query.text("ticker");
    const market = ticker === null ? null : catalogue.market(ticker);
    // Nobody trades in blocks here; a ticker nobody knows has no trades.
    if (query.flag("is_block_trade") || (ticker !== null && market === null)) return { trades: [], cursor: "" };
    const markets: readonly ListedMarket[] = market === null ? catalogue.markets() : [market];
    const range = {
      from: Math.max(query.time("min_ts") ?? 0, tier.from),
      to: Math.min((query.time("max_ts") ?? Number.POSITIVE_INFINITY) + 1, tier.to),
    };
    const parts = readCursor(query.text("cursor"), 2);
    const position = parts === null ? null : { at: parts[0] ?? 0, told: parts[1] ?? 0 };
    const found = tapeOf(world, markets, range, limit + 1, position);
    const page = found.slice(0, limit);
    const last = page.at(-1)?.trade.at ?? 0;
    const before = position?.at === last ? position.told : 0;
    const told = before + page.filter(({ trade }) => trade.at === last).length;
    return { trades: page.map(tradeJson), cursor: found.length > limit ? writeCursor([last, told]) : "" };
  };

  get("/markets/trades", ({ query }) => tape(query, { from: catalogue.cutoff(), to: now() + 1 }));
  get("/historical/trades", ({ query }) => tape(query, { from: 0, to: catalogue.cutoff() }));
}
