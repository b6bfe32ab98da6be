import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { MarketBoard } from "../../../src/board/index.ts";
import { createShadowBook, createShadowPerformance } from "../../../src/capabilities/strategy/track-record/index.ts";
import type { MarketSnapshot, Outcome } from "../../../src/domain/market.ts";
import { createEventLog } from "../../../src/event-log/index.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { Database } from "../../../src/ports/database.ts";
import { createMarketStore } from "../../../src/storage/index.ts";
import type { ShadowEntry } from "../../../src/trading/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../markets/market-samples.ts";
import { quietLog } from "../quiet-log.ts";

/** A trade of market "m" of the venue alpha: 100 YES contracts at 0.40 with a fee of 2 USD. */
export const sampleEntry = (parts: Partial<ShadowEntry> = {}): ShadowEntry => ({
  analysisId: "plx-1",
  venue: "alpha",
  marketId: "m",
  title: "Question m",
  category: "Economics",
  side: "yes",
  contracts: 100,
  price: 0.4,
  feeUsd: 2,
  probability: 0.5,
  marketPrice: 0.41,
  edge: 0.08,
  sizePct: 0.042,
  isRequested: false,
  at: SAMPLE_AT + HOUR_MS,
  ...parts,
});

/** A shadow book on a real store with a fake clock, which starts an hour after midnight. */
export function openShadowBook(database: Database, clock = new FakeClock(SAMPLE_AT + HOUR_MS)) {
  const board = new MarketBoard(() => clock.now());
  const store = createMarketStore(database);
  const eventLog = createEventLog({ database, bus: createInProcessBus(quietLog) });
  const ports = { database, board, eventLog, clock, log: quietLog };
  const openBook = (parts: Partial<typeof ports> = {}) => createShadowBook({ ...ports, ...parts });
  const book = openBook();
  const list = (snapshots: readonly MarketSnapshot[]) => store.upsertMarkets(snapshots);
  return {
    database,
    clock,
    board,
    eventLog,
    book,
    openBook,
    list,
    performance: createShadowPerformance(ports),
    /** Stores an open market. */
    open: (marketId = "m", parts: SampleParts = {}) =>
      list([sampleMarket(marketId, { ...parts, quote: { receivedAt: clock.now(), ...parts.quote } })]),
    /** Stores a market as settled. */
    settle: (outcome: Outcome, marketId = "m", listing: SampleParts["listing"] = {}) =>
      list([
        sampleMarket(marketId, {
          listing: { ...listing, status: "finalized", outcome, resolvedAt: clock.now() },
          quote: { receivedAt: clock.now() },
        }),
      ]),
    /** Stores the price of a market at the end of a day. Day 0 is the first day. */
    async price(day: number, yesPrice: number, marketId = "m"): Promise<void> {
      await database.query(
        `insert into bars_1h (market_key, start_at, yes_close, source)
         select key, to_timestamp($1::float8 / 1000), $2::int4, 'ticks' from markets where market_id = $3`,
        [SAMPLE_AT + (day + 1) * DAY_MS - HOUR_MS, Math.round(yesPrice * 1e6), marketId],
      );
    },
    /** Advances to a time of the day `day`; 12:00 by default. */
    goTo: (day: number, hour = 12) => clock.advance(SAMPLE_AT + day * DAY_MS + hour * HOUR_MS - clock.now()),
    trades: () =>
      database.query<{ side: string; payout: number | null; pnl: number | null }>(
        "select side, payout_usd as payout, pnl_usd as pnl from shadow_trades order by trade_id",
      ),
    days: () =>
      database.query<{ day: string; pnl: number; entered: number; resolved: number; won: number }>(
        `select to_char(day, 'YYYY-MM-DD') as day, pnl_usd as pnl, entered_trades as entered,
           resolved_trades as resolved, won_trades as won from shadow_days order by shadow_days.day`,
      ),
    countSettlements: async () =>
      (await database.query<{ n: number }>("select count(*)::int4 as n from market_settlements"))[0]?.n,
  };
}

export type ShadowBookHarness = ReturnType<typeof openShadowBook>;
