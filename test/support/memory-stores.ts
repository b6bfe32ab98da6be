import type { MarketSnapshot } from "../../src/domain/market.ts";
import type { HistoryPoint, Trade } from "../../src/domain/trade.ts";
import type {
  HistoryStore,
  MarketStore,
  MarketTrade,
  StatusChange,
  Tick,
  TickWriter,
  TradePosition,
} from "../../src/storage/index.ts";
import { sampleCandle } from "./storage-samples.ts";

/** A market store in memory. It assigns keys in order of insertion. */
export class MemoryMarketStore implements MarketStore {
  readonly stored = new Map<string, { readonly key: number; readonly snapshot: MarketSnapshot }>();
  readonly statusChanges: StatusChange[] = [];
  readonly trades = new Map<string, MarketTrade>();
  events: string[] = [];

  async upsertMarkets(snapshots: readonly MarketSnapshot[]): Promise<number[]> {
    return snapshots.map((snapshot) => {
      const id = `${snapshot.listing.venue}/${snapshot.listing.marketId}`;
      const key = this.stored.get(id)?.key ?? this.stored.size + 1;
      this.stored.set(id, { key, snapshot });
      return key;
    });
  }

  insertUnknownMarkets(snapshots: readonly MarketSnapshot[]): Promise<number[]> {
    return this.upsertMarkets(snapshots);
  }

  async upsertEvents(events: readonly { readonly eventId: string }[]): Promise<void> {
    this.events.push(...events.map(({ eventId }) => eventId));
  }

  async *loadAll() {
    yield [...this.stored.values()];
  }

  async *loadEvents() {
    yield [];
  }

  async recordStatusChange(change: StatusChange): Promise<void> {
    this.statusChanges.push(change);
  }

  async insertTrades(trades: readonly MarketTrade[]): Promise<number> {
    for (const entry of trades) {
      const id = `${entry.marketKey}/${entry.trade.tradeId}`;
      if ((this.trades.get(id)?.trade.size ?? 0) < entry.trade.size) this.trades.set(id, entry);
    }
    return trades.length;
  }

  async listTrades(marketKey: number, after: TradePosition | null, limit: number): Promise<Trade[]> {
    const trades = [...this.trades.values()].filter((entry) => entry.marketKey === marketKey).map(({ trade }) => trade);
    const isAfter = (trade: Trade) =>
      after === null ||
      trade.executedAt < after.executedAt ||
      (trade.executedAt === after.executedAt && trade.tradeId < after.tradeId);
    return trades
      .filter(isAfter)
      .sort((a, b) => b.executedAt - a.executedAt || (a.tradeId < b.tradeId ? 1 : -1))
      .slice(0, limit);
  }
}

/** A tick writer that keeps its ticks in memory. */
export class MemoryTicks implements TickWriter {
  readonly ticks: Tick[] = [];

  get counters() {
    return { written: this.ticks.length, dropped: 0, queued: 0 };
  }

  write(tick: Tick): void {
    this.ticks.push(tick);
  }

  async flush(): Promise<void> {}

  async close(): Promise<void> {}
}

/** Price history in memory, by market key. */
export class MemoryHistory implements HistoryStore {
  readonly points = new Map<number, HistoryPoint[]>();
  readonly ranges: {
    readonly key: number;
    readonly intervalMs: number;
    readonly fromMs: number;
    readonly toMs: number;
  }[] = [];

  async readHistory(marketKey: number) {
    const points = (this.points.get(marketKey) ?? []).flatMap((point) =>
      point.yesPrice === null ? [] : sampleCandle(point.startAt, point.endAt, point.yesPrice, { bid: point.bid }),
    );
    return { intervalSeconds: 3_600, points };
  }

  readRange(marketKey: number) {
    return this.readHistory(marketKey);
  }

  async saveVenueHistory(
    key: number,
    intervalMs: number,
    points: readonly HistoryPoint[],
    range: { readonly fromMs: number; readonly toMs: number },
  ): Promise<void> {
    this.points.set(key, [...(this.points.get(key) ?? []), ...points]);
    this.ranges.push({ key, intervalMs, ...range });
  }

  async coverage(marketKey: number) {
    return this.ranges.filter(({ key }) => key === marketKey);
  }

  async priceDayAgo(): Promise<Map<number, number>> {
    return new Map();
  }

  async rollUp() {
    return { bars5m: 0, bars1h: 0 };
  }

  async applyRetention() {
    return { tickPartitions: 0, trades: 0, fiveMinuteBars: 0, coverage: 0, settledMarkets: 0 };
  }
}
