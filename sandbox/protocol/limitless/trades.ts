import type { ListedMarket, WorldTrade } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";

const HOUR_MS = 3_600_000;
const WINDOW_MS_MAX = 7 * 24 * HOUR_MS;

/** Reads the trades of a market page by page, newest first, and caches their total count. */
export class TradeHistory {
  readonly #context: ExchangeContext;
  /** By market index: the number of trades before `until`. */
  readonly #counts = new Map<number, { until: number; count: number }>();

  constructor(context: ExchangeContext) {
    this.#context = context;
  }

  /** Number of trades up to and including `now`. */
  count(market: ListedMarket, now: number): number {
    const cached = this.#counts.get(market.index) ?? { until: market.openAt, count: 0 };
    if (now >= cached.until) {
      cached.count += this.#context.world.trades(market, cached.until, now + 1).length;
      cached.until = now + 1;
      this.#counts.set(market.index, cached);
    }
    return cached.count;
  }

  /** At most `limit` trades up to `now`, newest first, after skipping `offset` of them. */
  page(market: ListedMarket, now: number, offset: number, limit: number): WorldTrade[] {
    const trades: WorldTrade[] = [];
    let to = now + 1;
    let windowMs = HOUR_MS;
    while (to > market.openAt && trades.length < offset + limit) {
      const from = Math.max(market.openAt, to - windowMs);
      trades.push(...this.#context.world.trades(market, from, to).toReversed());
      to = from;
      windowMs = Math.min(windowMs * 2, WINDOW_MS_MAX);
    }
    return trades.slice(offset, offset + limit);
  }
}
