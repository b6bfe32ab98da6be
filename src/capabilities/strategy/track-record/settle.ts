import { type Outcome, settlementValueOf } from "../../../domain/market.ts";
import { formatMarketRef, type MarketRef } from "../../../domain/market-name.ts";
import type { EventLog } from "../../../event-log/index.ts";
import { keysetPages } from "../../../lib/chunks.ts";
import type { Transaction } from "../../../ports/database.ts";
import { readSettledMarkets } from "../../../storage/index.ts";
import { payoutOf, profitOf } from "../../../trading/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { insertEventLink } from "../../markets/questions/index.ts";
import { startOfNextDay } from "./day-totals.ts";
import type { StoredTrade } from "./model.ts";
import { addToTotals } from "./total-queries.ts";
import {
  FOLLOWED_TABLES,
  insertSettlement,
  lockShadowBook,
  type SettlementState,
  selectFollowedMarkets,
  selectLastProcessedEventId,
  selectMarketsOf,
  selectSettlementState,
  selectTradesOf,
  selectUnsettledMarkets,
  updateLastProcessedEventId,
  updateResults,
} from "./trade-queries.ts";

const EVENTS_PER_PAGE = 200;
/** Maximum number of event pages per run. The next run reads the remaining events. */
const EVENT_PAGES_MAX = 100;
const MARKETS_PER_PAGE = 500;
const TRADES_PER_PAGE = 1_000;

interface SettleDependencies extends Pick<MarketDependencies, "database" | "clock" | "log"> {
  readonly eventLog: Pick<EventLog, "readAfter">;
  /** If it returns true, the work ends before the next market. */
  readonly isStopping: () => boolean;
}

/** Records settlements of markets that were analysed or traded, and the results of their trades in the shadow book. */
export function createSettler({ database, eventLog, clock, log, isStopping }: SettleDependencies) {
  /** Settles the given markets that are finalized. Returns the number of new and corrected settlements. */
  const settle = async (markets: readonly MarketRef[]): Promise<number> => {
    let count = 0;
    if (markets.length === 0) return count;
    for (const market of await readSettledMarkets(database, markets)) {
      if (isStopping()) return count;
      if (!hasValidValue(market.outcome)) {
        const { venue, marketId } = market;
        log.warn({ venue, market_id: marketId }, "a market has a settlement value outside [0, 1] and is not settled");
        continue;
      }
      const now = clock.now();
      const isNew = await database.transaction((transaction) => settleMarket(transaction, market, now));
      if (isNew) count += 1;
    }
    return count;
  };

  /**
   * Settles all followed markets that are finalized and have no settlement.
   *
   * @param isComplete  whether to check settled markets for corrected results, too
   */
  const reconcile = async (isComplete = false): Promise<number> => {
    let count = 0;
    for (const table of FOLLOWED_TABLES) {
      const selectAfter = (after: MarketRef) => selectMarketsOf(database, table, after, MARKETS_PER_PAGE);
      for await (const markets of keysetPages({ venue: "", marketId: "" }, selectAfter)) {
        count += await settle(isComplete ? markets : await selectUnsettledMarkets(database, markets));
        if (isStopping()) return count;
        await clock.yieldToEventLoop();
      }
    }
    return count;
  };

  /** Settles the markets of new `market_resolved` events, or all if events were missed. */
  const followEvents = async (): Promise<number> => {
    let count = 0;
    for (let page = 0; page < EVENT_PAGES_MAX && !isStopping(); page++) {
      const after = await selectLastProcessedEventId(database);
      const { events, through, hasGap, latestId } = await eventLog.readAfter(after, {
        limit: EVENTS_PER_PAGE,
        filter: { types: ["market_resolved"] },
      });
      const markets = new Map<string, MarketRef>();
      for (const { venue, marketId } of events)
        if (venue !== null && marketId !== null) markets.set(formatMarketRef({ venue, marketId }), { venue, marketId });
      count += hasGap
        ? await reconcile(true)
        : markets.size === 0
          ? 0
          : await settle(await selectFollowedMarkets(database, [...markets.values()]));
      // A stop may leave markets unsettled. The position is not advanced, so the next run reads their events again.
      if (isStopping()) return count;
      if (through !== after) await updateLastProcessedEventId(database, through);
      if (through >= latestId) return count;
    }
    return count;
  };

  return { followEvents, reconcile };
}

function hasValidValue(outcome: Outcome): boolean {
  const value = settlementValueOf(outcome);
  return value === null ? outcome.kind === "void" : value >= 0 && value <= 1;
}

/**
 * Records the settlement of a market and the results of its trades, unless the settlement is already recorded. Returns
 * whether the settlement is new or a correction.
 */
async function settleMarket(transaction: Transaction, id: MarketRef, now: number): Promise<boolean> {
  const sealedDay = await lockShadowBook(transaction);
  // Reads under the lock. Otherwise, an outdated result could be recorded as a correction of a newer result.
  const [market] = await readSettledMarkets(transaction, [id]);
  if (market === undefined || !hasValidValue(market.outcome)) return false;
  const state = await selectSettlementState(transaction, market);
  const value = settlementValueOf(market.outcome);
  if (state.outcome === market.outcome.kind && state.value === value) return false;
  const recordedAt = recordTime(state, sealedDay, now);
  await insertSettlement(transaction, market, recordedAt);
  await insertEventLink(transaction, market);
  const settlement = { value };
  let newMarkets = state.outcome === null ? 1 : 0;
  const selectAfter = ({ tradeId }: Pick<StoredTrade, "tradeId">) =>
    selectTradesOf(transaction, market, tradeId, TRADES_PER_PAGE);
  for await (const trades of keysetPages({ tradeId: "0" }, selectAfter)) {
    const results = trades.map((trade) => ({
      tradeId: trade.tradeId,
      payoutUsd: payoutOf(trade, settlement),
      pnlUsd: profitOf(trade, { yesPrice: null, settlement }),
    }));
    await updateResults(transaction, results, recordedAt);
    await addToTotals(transaction, trades, results, newMarkets);
    newMarkets = 0;
  }
  return true;
}

/**
 * Returns the time at which a settlement is recorded: now, but not before a trade or a settlement of the market, and
 * not in a sealed day, even if node clocks differ.
 */
function recordTime({ recordedAt, lastEntryAt }: SettlementState, sealedDay: string | null, now: number): number {
  const openSince = sealedDay === null ? 0 : startOfNextDay(sealedDay);
  return Math.round(Math.max(now, recordedAt ?? 0, lastEntryAt ?? 0, openSince));
}
