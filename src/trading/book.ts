import { formatMarketRef, type MarketRef } from "../domain/market-name.ts";
import type { Side } from "../domain/price.ts";
import { DAY_MS } from "../lib/durations.ts";
import type { DailyMark, DayTotals, Settlement, Trade, TradeTotals } from "./model.ts";

const MICROS_PER_USD = 1_000_000;
/** Maximum number of days of a replay, so that a wrong date cannot use unlimited memory. */
const DAYS_MAX = 36_525;
const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Cost, payout and profit of a trade. */
export interface TradeResult {
  readonly tradeId: string;
  /** Contracts times price, plus the fee, in USD. */
  readonly costUsd: number;
  /** Payout in USD according to the latest settlement; null while the trade is open. */
  readonly payoutUsd: number | null;
  /** Payout minus cost in USD. For an open trade: value at the last mark minus cost. */
  readonly pnlUsd: number;
  /** Time of the market's first settlement, Unix milliseconds; null while the trade is open. */
  readonly settledAt: number | null;
}

interface BookReplay {
  /** One per trade that was entered by the end of the last day, in the order of the trades. */
  readonly results: readonly TradeResult[];
  /** One per UTC day from the first trade to the last day, without gaps; empty without trades. */
  readonly days: readonly DayTotals[];
}

/** Inputs for the value of a trade at one time. */
export interface Valuation {
  /** YES price of the latest mark after the entry. Null if there is none: the entry price is used. */
  readonly yesPrice: number | null;
  /** The latest settlement, which replaces the mark; null while the trade is open. */
  readonly settlement: Pick<Settlement, "value"> | null;
}

/** Returns the UTC day of a time in Unix milliseconds, as YYYY-MM-DD. */
export function utcDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/**
 * Returns the start of a UTC day in Unix milliseconds.
 *
 * @param date  YYYY-MM-DD
 * @throws RangeError if there is no such day
 */
export function startOfUtcDate(date: string): number {
  const at = DATE_PATTERN.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at) || utcDate(at) !== date) throw new RangeError(`there is no day ${date}`);
  return at;
}

/** Returns the payout of a trade in USD, rounded to 1e-6. Without a value, the cost is refunded, fee included. */
export function payoutOf(trade: Trade, settlement: Pick<Settlement, "value">): number {
  return toUsd(valueMicros(trade, { yesPrice: null, settlement }));
}

/** Returns the value of a trade minus its cost in USD, rounded to 1e-6. */
export function profitOf(trade: Trade, valuation: Valuation): number {
  return toUsd(valueMicros(trade, valuation) - costMicros(trade));
}

/** Returns the exact sum of amounts in USD that are multiples of 1e-6. The order of the amounts does not matter. */
export function sumUsd(amounts: Iterable<number>): number {
  let micros = 0;
  for (const amount of amounts) micros += toMicroUsd(amount);
  return toUsd(micros);
}

/**
 * Computes the profit of each trade and of each UTC day. The result depends only on the trades, marks and settlements.
 *
 * - Before a settlement, the value of a trade is its contracts times the price of its side at the last mark. Before the
 *   first mark, the value is the contracts times the entry price.
 * - A settlement replaces the mark. The value of a refunded trade is its cost. A later settlement of the market
 *   replaces the earlier one.
 * - The profit of a day is the change of value during the day, minus the cost of the trades entered on it. The daily
 *   profits sum to the profit of the trades. The sum is exact, because all amounts are multiples of 1e-6 USD
 *   (`sumUsd`).
 * - A trade is resolved on the day of its first settlement. It counts as won if it has a profit at the end of that day.
 *   A correction on a later day changes only the profit of the later day.
 *
 * @param marks  in any order; marks of markets without a trade are ignored
 * @param settlements  in any order. Of two settlements at the same time, the later in the list counts
 * @param untilDate  last day, YYYY-MM-DD. Later trades, marks and settlements are left out
 * @throws RangeError for a value outside its range, two trades with the same id, two marks of a market at the same
 *   time, a mark that is not at midnight UTC, a trade after a settlement of its market, and more than 100 years
 */
export function replayTradeHistory(
  trades: readonly Trade[],
  marks: readonly DailyMark[],
  settlements: readonly Settlement[],
  untilDate: string,
): BookReplay {
  const endAt = startOfUtcDate(untilDate) + DAY_MS;
  const markets = groupByMarket(marks, settlements, endAt);
  const entered = trades.filter((trade) => {
    assertTrade(trade);
    return trade.at < endAt;
  });
  if (new Set(trades.map(({ tradeId }) => tradeId)).size < trades.length)
    throw new RangeError("two trades have the same id");
  const days = createDays(entered, endAt);
  const results = entered.map((trade) => replayTrade(trade, markets.get(formatMarketRef(trade)), days));
  return { results, days: days.map(toDayTotals) };
}

/** Returns the totals of trades. @throws RangeError if a result has no trade with the same id */
export function sumTrades(
  trades: readonly Pick<Trade, "tradeId" | "edge">[],
  results: readonly TradeResult[],
): TradeTotals {
  const edges = new Map(trades.map(({ tradeId, edge }) => [tradeId, edge]));
  const resolved = results.filter(({ settledAt }) => settledAt !== null);
  const resolvedEdges = resolved.flatMap(({ tradeId }) => {
    const edge = edges.get(tradeId);
    if (edge === undefined) throw new RangeError(`no trade has the id ${tradeId}`);
    return edge === null ? [] : [edge];
  });
  return {
    totalTrades: results.length,
    resolvedTrades: resolved.length,
    wonTrades: resolved.filter(({ pnlUsd }) => pnlUsd > 0).length,
    resolvedCostUsd: sumUsd(resolved.map(({ costUsd }) => costUsd)),
    resolvedPnlUsd: sumUsd(resolved.map(({ pnlUsd }) => pnlUsd)),
    averageEdge: resolvedEdges.length === 0 ? null : resolvedEdges.reduce((a, b) => a + b, 0) / resolvedEdges.length,
  };
}

type Day = ReturnType<typeof emptyDays>[number];

/** Creates consecutive days without trades. @param startAt  start of the first day */
export const emptyDays = (startAt: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    date: utcDate(startAt + index * DAY_MS),
    pnlMicros: 0,
    enteredTrades: 0,
    resolvedTrades: 0,
    wonTrades: 0,
  }));

export const toDayTotals = ({ pnlMicros, ...counts }: Day): DayTotals => ({ ...counts, pnlUsd: toUsd(pnlMicros) });

interface MarketEvents {
  readonly marks: readonly DailyMark[];
  readonly settlements: readonly Settlement[];
}

function replayTrade(trade: Trade, market: MarketEvents = { marks: [], settlements: [] }, days: Day[]): TradeResult {
  const [first] = market.settlements;
  if (first !== undefined && trade.at > first.at)
    throw new RangeError(`trade ${trade.tradeId} was entered after its market was settled`);
  const firstDay = days[0]?.date ?? utcDate(trade.at);
  const dayAt = (at: number) => days[Math.floor((at - startOfUtcDate(firstDay)) / DAY_MS)] as Day;
  const cost = costMicros(trade);
  let value = valueMicros(trade, { yesPrice: null, settlement: null });
  const entryDay = dayAt(trade.at);
  entryDay.enteredTrades += 1;
  entryDay.pnlMicros += value - cost;
  const revalue = (day: Day, valuation: Valuation) => {
    const next = valueMicros(trade, valuation);
    day.pnlMicros += next - value;
    value = next;
  };
  for (const { at, yesPrice } of market.marks) {
    // A mark at midnight belongs to the end of the previous day.
    const isWhileOpen = at > trade.at && (first === undefined || at <= first.at);
    if (isWhileOpen) revalue(dayAt(at - 1), { yesPrice, settlement: null });
  }
  if (first === undefined) return { ...amountsOf(trade, value), payoutUsd: null, settledAt: null };
  const resolvedDay = dayAt(first.at);
  resolvedDay.resolvedTrades += 1;
  const lastOfResolvedDay = market.settlements.findLast(({ at }) => dayAt(at) === resolvedDay) ?? first;
  if (valueMicros(trade, { yesPrice: null, settlement: lastOfResolvedDay }) > cost) resolvedDay.wonTrades += 1;
  for (const settlement of market.settlements) revalue(dayAt(settlement.at), { yesPrice: null, settlement });
  return { ...amountsOf(trade, value), payoutUsd: toUsd(value), settledAt: first.at };
}

function amountsOf(trade: Trade, value: number) {
  const cost = costMicros(trade);
  return { tradeId: trade.tradeId, costUsd: toUsd(cost), pnlUsd: toUsd(value - cost) };
}

function createDays(trades: readonly Trade[], endAt: number): Day[] {
  if (trades.length === 0) return [];
  const startAt = startOfUtcDate(utcDate(trades.reduce((least, { at }) => Math.min(least, at), Infinity)));
  const count = (endAt - startAt) / DAY_MS;
  if (count > DAYS_MAX) throw new RangeError(`a book has at most ${DAYS_MAX} days, not ${count}`);
  return emptyDays(startAt, count);
}

function groupByMarket(
  marks: readonly DailyMark[],
  settlements: readonly Settlement[],
  endAt: number,
): Map<string, MarketEvents> {
  for (const { at, yesPrice } of marks) {
    if (!Number.isInteger(at / DAY_MS)) throw new RangeError(`a mark must be at midnight UTC, not ${at}`);
    assertRange(yesPrice, 0, 1, "the price of a mark");
  }
  for (const { at, value } of settlements) {
    assertTime(at);
    if (value !== null) assertRange(value, 0, 1, "the value of a settlement");
  }
  const markets = new Map<string, { marks: DailyMark[]; settlements: Settlement[] }>();
  const eventsOf = (market: MarketRef) => {
    const events = markets.get(formatMarketRef(market)) ?? { marks: [], settlements: [] };
    markets.set(formatMarketRef(market), events);
    return events;
  };
  for (const mark of marks) if (mark.at <= endAt) eventsOf(mark).marks.push(mark);
  for (const settlement of settlements) if (settlement.at < endAt) eventsOf(settlement).settlements.push(settlement);
  for (const events of markets.values()) {
    events.marks.sort((a, b) => a.at - b.at);
    if (events.marks.some(({ at }, index) => at === events.marks[index + 1]?.at))
      throw new RangeError("a market has two marks at the same time");
    events.settlements.sort((a, b) => a.at - b.at);
  }
  return markets;
}

const toMicroUsd = (usd: number) => Math.round(usd * MICROS_PER_USD);
/** Adding 0 turns -0 into 0. */
const toUsd = (micros: number) => micros / MICROS_PER_USD + 0;
/** Converts a price, payout or probability in [0, 1] from YES to a side, or from a side to YES. */
export const sidePrice = (side: Side, price: number): number => (side === "yes" ? price : 1 - price);

function costMicros({ contracts, price, feeUsd }: Pick<Trade, "contracts" | "price" | "feeUsd">): number {
  return toMicroUsd(contracts * price) + toMicroUsd(feeUsd);
}

function valueMicros(trade: Trade, { yesPrice, settlement }: Valuation): number {
  const { contracts, price, side } = trade;
  if (settlement === null) return toMicroUsd(contracts * (yesPrice === null ? price : sidePrice(side, yesPrice)));
  return settlement.value === null ? costMicros(trade) : toMicroUsd(contracts * sidePrice(side, settlement.value));
}

function assertTrade({ contracts, price, feeUsd, at, edge }: Trade): void {
  assertTime(at);
  if (!(contracts > 0 && contracts < Number.MAX_SAFE_INTEGER / MICROS_PER_USD))
    throw new RangeError(`contracts must be above 0 and countable in 1e-6 USD, not ${contracts}`);
  if (!(price > 0 && price < 1)) throw new RangeError(`price must be in (0, 1), not ${price}`);
  assertRange(feeUsd, 0, Number.MAX_SAFE_INTEGER / MICROS_PER_USD, "the fee");
  if (edge !== null) assertRange(edge, -Number.MAX_VALUE, Number.MAX_VALUE, "the edge");
}

function assertTime(at: number): void {
  assertRange(at, 0, 8.64e15, "a time in Unix milliseconds");
}

function assertRange(value: number, min: number, max: number, name: string): void {
  if (!(value >= min && value <= max)) throw new RangeError(`${name} must be in [${min}, ${max}], not ${value}`);
}
