import type { ListedMarket, WorldTrade } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";

const HOUR_MS = 3_600_000;
const WINDOW_MS_MAX = 7 * 24 * HOUR_MS;

/** The trades of a market read backwards a page at a time, with their number kept up to date cheaply. */
export class Tape {
  readonly #context: ExchangeContext;
  readonly #counted = new Map<number, { until: number; count: number }>();

  constructor(context: ExchangeContext) {
    this.#context = context;
  }

  /** How many trades there were up to `now`. */
  count(market: ListedMarket, now: number): number {
    const known = this.#counted.get(market.index) ?? { until: market.openAt, count: 0 };
    if (now >= known.until) {
      known.count += this.#context.world.trades(market, known.until, now + 1).length;
      known.until = now + 1;
      this.#counted.set(market.index, known);
    }
    return known.count;
  }

  /** Newest first, without the first `skip`, at most `limit`. */
  page(market: ListedMarket, now: number, skip: number, limit: number): WorldTrade[] {
    const found: WorldTrade[] = [];
    let to = now + 1;
    let windowMs = HOUR_MS;
    while (to > market.openAt && found.length < skip + limit) {
      const from = Math.max(market.openAt, to - windowMs);
      found.push(...this.#context.world.trades(market, from, to).toReversed());
      to = from;
      windowMs = Math.min(windowMs * 2, WINDOW_MS_MAX);
    }
    return found.slice(skip, skip + limit);
  }
}
