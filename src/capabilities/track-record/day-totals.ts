import type { Database } from "../../ports/database.ts";
import { type DayTotals, marketKey, profitOf, startOfUtcDate, sumUsd, type Valuation } from "../../trading/index.ts";
import { type DayMarket, selectDayMarkets, selectOpenEntries, selectTradesBefore } from "./day-queries.ts";
import type { MarketId, StoredTrade } from "./model.ts";

const DAY_MS = 86_400_000;
/** A market has at most one trade per analysis and side, so about 10,000 in 400 days. */
const MARKETS_PER_PAGE = 20;

/** A day, and the period that its totals cover. Times are Unix milliseconds. */
interface Period {
  readonly date: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the end of a UTC day in Unix milliseconds. @param date  YYYY-MM-DD */
export const startOfNextDay = (date: string): number => startOfUtcDate(date) + DAY_MS;

/** Computes the totals of a sealed day from its trades, marks and settlements. */
export function computeClosedDay(database: Database, date: string): Promise<DayTotals> {
  const period = { date, fromMs: startOfUtcDate(date), toMs: startOfNextDay(date) };
  return sumMarkets(database, period, true);
}

/** Computes the totals of a day that is not closed, from new fees and settlements. Open trades keep their last value. */
export async function computeOpenPeriod(database: Database, period: Period): Promise<DayTotals> {
  const settled = await sumMarkets(database, period, false);
  const { count, feesUsd } = await selectOpenEntries(database, period);
  return {
    ...settled,
    pnlUsd: sumUsd([settled.pnlUsd, -feesUsd]),
    enteredTrades: settled.enteredTrades + count,
  };
}

async function sumMarkets(database: Database, period: Period, withOpen: boolean): Promise<DayTotals> {
  let totals = { pnlUsd: 0, enteredTrades: 0, resolvedTrades: 0, wonTrades: 0 };
  let after: MarketId = { venue: "", marketId: "" };
  for (;;) {
    const markets = await selectDayMarkets(database, period, { after, limit: MARKETS_PER_PAGE, withOpen });
    const last = markets.at(-1);
    if (last === undefined) return { date: period.date, ...totals };
    const byId = new Map(markets.map((market) => [marketKey(market), market]));
    const trades = await selectTradesBefore(database, markets, period.toMs);
    totals = addTrades(totals, trades, byId, period);
    after = last;
  }
}

type Totals = Omit<DayTotals, "date">;

function addTrades(
  totals: Totals,
  trades: readonly StoredTrade[],
  markets: ReadonlyMap<string, DayMarket>,
  { fromMs, toMs }: Period,
): Totals {
  const changes = [totals.pnlUsd];
  let { enteredTrades, resolvedTrades, wonTrades } = totals;
  for (const trade of trades) {
    const market = markets.get(marketKey(trade));
    if (market === undefined) throw new Error("a trade is in none of the selected markets");
    const profit = profitOf(trade, valueAtEnd(trade, market));
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

function valueAtEnd(trade: StoredTrade, market: DayMarket): Valuation {
  const { yesPrice, isSettled, value } = market;
  return {
    yesPrice: yesPrice ?? valueAtStart(trade, market).yesPrice,
    settlement: isSettled ? { value } : null,
  };
}
