import type { BoardMarket } from "../../../board/index.ts";
import type { Trade } from "../../../domain/trade.ts";

/**
 * How long a trade is kept after it arrived. Trade lists are read about once a minute. Trades are kept longer, so that one
 * taker's trades are added up across two reads.
 */
const KEPT_MS = 3 * 60_000;
/** Limit of kept trades, about 0.5 kB each. The oldest are removed first. */
const TRADES_MAX = 20_000;

/** A trade of the last minutes. */
export interface RecentTrade {
  readonly key: string;
  readonly tradeId: string;
  /** Unix milliseconds. */
  readonly executedAt: number;
  /** The side that the taker bought; null if unknown. */
  readonly side: "yes" | "no" | null;
  /** Unix milliseconds. */
  readonly arrivedAt: number;
  /** Contracts. */
  size: number;
  /** USD. */
  usd: number;
  group: TradeGroup;
  isAnnounced: boolean;
}

/** The kept trades of one taker, or of all unknown takers, on one side of a market. */
export interface TradeGroup {
  readonly key: string;
  readonly hasTaker: boolean;
  market: BoardMarket;
  /** Oldest first. */
  readonly trades: RecentTrade[];
}

/** Keeps the trades of the last minutes, grouped by market, side and taker. */
export class RecentTrades {
  readonly #onRemove: (trade: RecentTrade) => void;
  /** By market and trade id, in the order of arrival. */
  readonly #trades = new Map<string, RecentTrade>();
  readonly #groups = new Map<string, TradeGroup>();

  /** @param onRemove  called for a trade that is no longer kept */
  constructor(onRemove: (trade: RecentTrade) => void) {
    this.#onRemove = onRemove;
  }

  get size(): number {
    return this.#trades.size;
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  /** @param usd  amount of the trade, USD */
  add(market: BoardMarket, trade: Trade, usd: number, now: number): RecentTrade {
    this.#prune(now);
    const { tradeId, executedAt, takerSide: side, size } = trade;
    const key = `${marketKeyOf(market)}\n${tradeId}`;
    const group = this.#openGroup(market, trade);
    const added = { key, tradeId, executedAt, side, arrivedAt: now, size, usd, group, isAnnounced: false };
    this.#trades.set(key, added);
    insertByTime(group.trades, added);
    return added;
  }

  /** Returns the amount of a trade in USD; 0 if it is not kept. */
  usdOf(market: BoardMarket, tradeId: string): number {
    return this.#trades.get(`${marketKeyOf(market)}\n${tradeId}`)?.usd ?? 0;
  }

  /** Updates the size, the amount and the taker of a trade. Returns null if the trade is no longer kept. */
  update(market: BoardMarket, trade: Trade, usd: number): RecentTrade | null {
    const known = this.#trades.get(`${marketKeyOf(market)}\n${trade.tradeId}`);
    if (known === undefined) return null;
    known.size = trade.size;
    known.usd = usd;
    const group = this.#openGroup(market, trade);
    if (known.group !== group) {
      this.#leaveGroup(known);
      known.group = group;
      insertByTime(group.trades, known);
    }
    return known;
  }

  #openGroup(market: BoardMarket, { taker, takerSide }: Trade): TradeGroup {
    const key = `${marketKeyOf(market)}\n${takerSide}\n${taker ?? ""}`;
    const group = this.#groups.get(key) ?? { key, hasTaker: taker !== undefined, market, trades: [] };
    group.market = market;
    this.#groups.set(key, group);
    return group;
  }

  #prune(now: number): void {
    for (const trade of this.#trades.values()) {
      if (now - trade.arrivedAt <= KEPT_MS && this.#trades.size < TRADES_MAX) break;
      this.#trades.delete(trade.key);
      this.#leaveGroup(trade);
      this.#onRemove(trade);
    }
  }

  #leaveGroup(trade: RecentTrade): void {
    const { key, trades } = trade.group;
    trades.splice(trades.indexOf(trade), 1);
    if (trades.length === 0) this.#groups.delete(key);
  }
}

export function marketKeyOf({ listing: { venue, marketId } }: BoardMarket): string {
  return `${venue}\n${marketId}`;
}

function insertByTime(trades: RecentTrade[], trade: RecentTrade): void {
  const index = trades.findLastIndex(({ executedAt }) => executedAt <= trade.executedAt);
  trades.splice(index + 1, 0, trade);
}
