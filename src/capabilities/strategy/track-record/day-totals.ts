import { formatMarketRef, type MarketRef } from "../../../domain/market-name.ts";
import { keysetPages } from "../../../lib/chunks.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { type DayTotals, profitOf, startOfUtcDate, sumUsd, utcDate, type Valuation } from "../../../trading/index.ts";
import { type DayMarket, type DayPeriod, selectDayMarkets, selectTradesBefore } from "./day-queries.ts";
import type { StoredTrade } from "./model.ts";

/** Small pages, because a market can have about 10,000 trades in 400 days: one per analysis and side. */
const MARKETS_PER_PAGE = 20;

/** Returns the end of a UTC day in Unix milliseconds. @param date  YYYY-MM-DD */
export const startOfNextDay = (date: string): number => startOfUtcDate(date) + DAY_MS;

/** Returns the period of a whole UTC day. @param date  YYYY-MM-DD */
export const wholeDay = (date: string): DayPeriod => ({
  date,
  fromMs: startOfUtcDate(date),
  toMs: startOfNextDay(date),
});

/**
 * Returns the days that are not closed, up to the current day. A day is closed some minutes after its end. Node clocks
 * differ, so an event can have a time after the current day; it counts on the current day.
 *
 * @param lastClosedDay  YYYY-MM-DD; null if no day is closed
 * @param now  Unix milliseconds
 */
export function listOpenDays(lastClosedDay: string | null, firstTradeAt: number, now: number): DayPeriod[] {
  const periods: DayPeriod[] = [];
  const firstDay = lastClosedDay === null ? startOfUtcDate(utcDate(firstTradeAt)) : startOfNextDay(lastClosedDay);
  for (let fromMs = firstDay; fromMs <= now; fromMs += DAY_MS) {
    const isLast = fromMs + DAY_MS > now;
    periods.push({ date: utcDate(fromMs), fromMs, toMs: isLast ? Number.MAX_SAFE_INTEGER : fromMs + DAY_MS });
  }
  return periods;
}

/** Computes the totals of a day from its trades, marks and settlements. The totals of a sealed day are final. */
export async function computeDay(database: Database, period: DayPeriod): Promise<DayTotals> {
  let totals = EMPTY_PERIOD_TOTALS;
  const selectAfter = (after: MarketRef) => selectDayMarkets(database, period, { after, limit: MARKETS_PER_PAGE });
  for await (const markets of keysetPages({ venue: "", marketId: "" }, selectAfter)) {
    const trades = await selectTradesBefore(database, markets, period.toMs);
    totals = addTrades(totals, trades, markets, period);
  }
  return { date: period.date, ...totals };
}

export type PeriodTotals = Omit<DayTotals, "date">;
export const EMPTY_PERIOD_TOTALS: PeriodTotals = { pnlUsd: 0, enteredTrades: 0, resolvedTrades: 0, wonTrades: 0 };

/** Adds trades to the totals of a period. @param dayMarkets  must contain the market of each trade */
export function addTrades(
  totals: PeriodTotals,
  trades: readonly StoredTrade[],
  dayMarkets: readonly DayMarket[],
  { date, fromMs, toMs }: DayPeriod,
): PeriodTotals {
  const markets = new Map(dayMarkets.map((market) => [formatMarketRef(market), market]));
  const changes = [totals.pnlUsd];
  let { enteredTrades, resolvedTrades, wonTrades } = totals;
  for (const trade of trades) {
    const market = markets.get(formatMarketRef(trade));
    if (market === undefined) throw new Error("a trade is in none of the selected markets");
    const profit = profitOf(trade, valueAtEnd(trade, market, date));
    const isEntered = trade.at >= fromMs;
    changes.push(profit, isEntered ? 0 : -profitOf(trade, valueAtStart(trade, market)));
    if (isEntered) enteredTrades += 1;
    const isResolved = trade.settledAt !== null && trade.settledAt >= fromMs && trade.settledAt < toMs;
    if (isResolved) resolvedTrades += 1;
    if (isResolved && profit > 0) wonTrades += 1;
  }
  return { pnlUsd: sumUsd(changes), enteredTrades, resolvedTrades, wonTrades };
}

function valueAtStart(trade: StoredTrade, market: DayMarket): Valuation {
  const { previousMarkDay, previousYesPrice, isSettledBefore, valueBefore } = market;
  // A trade is not valued at marks from before its entry.
  const isAfterEntry = previousMarkDay !== null && startOfNextDay(previousMarkDay) > trade.at;
  return {
    yesPrice: isAfterEntry ? previousYesPrice : null,
    settlement: isSettledBefore ? { value: valueBefore } : null,
  };
}

function valueAtEnd(trade: StoredTrade, market: DayMarket, date: string): Valuation {
  const { isSettled, value } = market;
  // If a node's clock is ahead, a trade of the current day can have a time after the end of the day.
  const yesPrice = startOfNextDay(date) > trade.at ? market.yesPrice : null;
  return {
    yesPrice: yesPrice ?? valueAtStart(trade, market).yesPrice,
    settlement: isSettled ? { value } : null,
  };
}
