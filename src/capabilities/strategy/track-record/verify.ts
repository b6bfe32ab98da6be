import { formatMarketRef, type MarketRef } from "../../../domain/market-name.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import {
  type DayTotals,
  replayTradeHistory,
  startOfUtcDate,
  sumUsd,
  type TradeResult,
  utcDate,
} from "../../../trading/index.ts";
import { marksKeptSince } from "./close-days.ts";
import {
  type DayMarket,
  type DayPeriod,
  selectDays,
  selectGivenDayMarkets,
  selectMarks,
  selectProgress,
  selectTradePage,
  type TradePosition,
} from "./day-queries.ts";
import { addTrades, EMPTY_PERIOD_TOTALS, listOpenDays, type PeriodTotals } from "./day-totals.ts";
import type { Mismatch, StoredTrade, Verification } from "./model.ts";
import { computeResolvedTotals, selectResolvedTotals } from "./total-queries.ts";
import { lockShadowBook, selectSettlements } from "./trade-queries.ts";

const TRADES_PER_PAGE = 500;
const MISMATCHES_MAX = 100;

interface Findings {
  trades: number;
  mismatchCount: number;
  readonly mismatches: Mismatch[];
  /** Days recomputed by replaying each trade. */
  readonly days: Map<string, PeriodTotals>;
  /** The days that are not closed, computed in the same way as the published figures. */
  readonly openDays: Map<string, PeriodTotals>;
}

/** Verifies the whole shadow book (`verifyBook`). @param now  Unix milliseconds */
export const verifyShadowBook = (database: Database, now: number): Promise<Verification> =>
  verifyBook(database, marksKeptSince(now), now);

/**
 * Recomputes the whole shadow book from its trades, marks and settlements, one page of trades at a time. Compares it
 * with the stored results, totals and closed days, and with the published totals of the days that are not closed,
 * including the current day. Amounts must be equal within 1e-6 USD.
 *
 * @param marksSince  first day with complete marks. Of earlier days, only the sum is compared
 * @param now  Unix milliseconds
 */
async function verifyBook(database: Database, marksSince: string, now: number): Promise<Verification> {
  const stored = await selectDays(database);
  const { firstTradeAt } = await selectProgress(database);
  const lastClosedDay = stored.at(-1)?.date ?? null;
  const openPeriods = firstTradeAt === null ? [] : listOpenDays(lastClosedDay, firstTradeAt, now);
  const findings: Findings = {
    trades: 0,
    mismatchCount: 0,
    mismatches: [],
    days: new Map(),
    openDays: new Map(openPeriods.map(({ date }) => [date, EMPTY_PERIOD_TOTALS])),
  };
  let after: TradePosition = { venue: "", marketId: "", tradeId: "0" };
  for (;;) {
    const page = await readPage(database, after, openPeriods);
    const lastTrade = page.trades.at(-1);
    if (lastTrade === undefined) break;
    checkPage(findings, page, openPeriods.at(-1)?.date ?? lastClosedDay ?? utcDate(now));
    after = lastTrade;
  }
  await compareTotals(findings, database);
  const computed = [...findings.days].map(([date, totals]) => ({ date, ...totals }));
  computed.sort((a, b) => (a.date < b.date ? -1 : 1));
  compareDays(findings, stored, computed, marksSince);
  for (const [date, totals] of findings.openDays)
    compare(findings, date, Object.values(totals), Object.values(findings.days.get(date) ?? EMPTY_PERIOD_TOTALS));
  const { trades, mismatchCount, mismatches, openDays } = findings;
  return {
    trades,
    days: stored.length,
    openDays: computed.filter(({ date }) => openDays.has(date)),
    pnlUsd: sumUsd(computed.map((day) => day.pnlUsd)),
    mismatchCount,
    mismatches,
  };
}

type Page = Awaited<ReturnType<typeof readPage>>;

/** Reads trades with the marks and settlements of their markets. The lock keeps these parts consistent. */
function readPage(database: Database, after: TradePosition, openPeriods: readonly DayPeriod[]) {
  return database.transaction(async (transaction) => {
    await lockShadowBook(transaction);
    const trades = await selectTradePage(transaction, after, TRADES_PER_PAGE);
    const markets = [...new Map(trades.map((trade) => [formatMarketRef(trade), trade])).values()].map(
      ({ venue, marketId }): MarketRef => ({ venue, marketId }),
    );
    const openDays: { readonly period: DayPeriod; readonly markets: readonly DayMarket[] }[] = [];
    for (const period of openPeriods)
      openDays.push({ period, markets: await selectGivenDayMarkets(transaction, period, markets) });
    return {
      trades,
      openDays,
      settlements: await selectSettlements(transaction, markets),
      marks: await selectMarks(transaction, markets),
    };
  });
}

/** @param lastDay  the current day. Events with later times, from clocks that are ahead, count on this day */
function checkPage(findings: Findings, { trades, settlements, marks, openDays }: Page, lastDay: string): void {
  const times = [...trades, ...settlements].map(({ at }) => at);
  const endAt = times.reduce((latest, at) => Math.max(latest, at), startOfUtcDate(lastDay));
  const { results, days } = replayTradeHistory(trades, marks, settlements, utcDate(endAt));
  for (const [index, trade] of trades.entries()) compareTrade(findings, trade, results[index]);
  for (const { date, ...totals } of days) {
    const day = date > lastDay ? lastDay : date;
    const sum = findings.days.get(day) ?? EMPTY_PERIOD_TOTALS;
    findings.days.set(day, {
      pnlUsd: sumUsd([sum.pnlUsd, totals.pnlUsd]),
      enteredTrades: sum.enteredTrades + totals.enteredTrades,
      resolvedTrades: sum.resolvedTrades + totals.resolvedTrades,
      wonTrades: sum.wonTrades + totals.wonTrades,
    });
  }
  for (const { period, markets } of openDays) {
    const entered = trades.filter(({ at }) => at < period.toMs);
    const sum = findings.openDays.get(period.date) ?? EMPTY_PERIOD_TOTALS;
    findings.openDays.set(period.date, addTrades(sum, entered, markets, period));
  }
  findings.trades += trades.length;
}

function compareTrade(findings: Findings, trade: StoredTrade, result: TradeResult | undefined): void {
  const { tradeId, settledAt, payoutUsd, pnlUsd } = trade;
  const isOpen = result?.settledAt === null;
  const computed = isOpen ? [null, null, null] : [result?.settledAt, result?.payoutUsd, result?.pnlUsd];
  compare(findings, tradeId, [settledAt, payoutUsd, pnlUsd], computed);
}

/** Compares the totals of the resolved trades with the sum over all trades. */
async function compareTotals(findings: Findings, database: Database): Promise<void> {
  const [stored, computed] = await database.transaction(async (transaction) => {
    await lockShadowBook(transaction);
    return [await selectResolvedTotals(transaction), await computeResolvedTotals(transaction)];
  });
  compare(findings, "totals", Object.values(stored ?? {}), Object.values(computed ?? {}));
}

function compareDays(
  findings: Findings,
  stored: readonly DayTotals[],
  computed: readonly DayTotals[],
  marksSince: string,
): void {
  const first = computed[0]?.date ?? stored[0]?.date;
  const last = stored.at(-1)?.date;
  if (first === undefined || last === undefined) return;
  const byDate = (days: readonly DayTotals[]) => new Map(days.map((day) => [day.date, day]));
  const [storedByDate, computedByDate] = [byDate(stored), byDate(computed)];
  const sums = [0, 0];
  for (let at = startOfUtcDate(first); at <= startOfUtcDate(last); at += DAY_MS) {
    const date = utcDate(at);
    const [day, expected] = [storedByDate.get(date), computedByDate.get(date)];
    sums[0] = sumUsd([sums[0] ?? 0, day?.pnlUsd ?? 0]);
    sums[1] = sumUsd([sums[1] ?? 0, expected?.pnlUsd ?? 0]);
    const hasMarks = date >= marksSince;
    const isLastWithout = !hasMarks && utcDate(at + DAY_MS) >= marksSince;
    const amounts = hasMarks ? [day?.pnlUsd, expected?.pnlUsd ?? 0] : isLastWithout ? sums : [0, 0];
    const countsOf = (totals: DayTotals | undefined) => [
      totals?.enteredTrades ?? 0,
      totals?.resolvedTrades ?? 0,
      totals?.wonTrades ?? 0,
    ];
    compare(findings, date, [amounts[0], ...countsOf(day)], [amounts[1], ...countsOf(expected)]);
  }
}

function compare(
  findings: Findings,
  id: string,
  stored: readonly (number | null | undefined)[],
  computed: readonly (number | null | undefined)[],
): void {
  const [storedText, computedText] = [stored, computed].map((values) => values.map((value) => `${value}`).join(" "));
  if (storedText === computedText) return;
  findings.mismatchCount += 1;
  if (findings.mismatches.length < MISMATCHES_MAX)
    findings.mismatches.push({ id, stored: storedText ?? "", computed: computedText ?? "" });
}
