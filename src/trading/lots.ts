import { formatMarketRef, type MarketRef } from "../domain/market-name.ts";
import type { Side } from "../domain/price.ts";
import { DAY_MS } from "../lib/durations.ts";
import { assertNotNegative, assertPositive, assertProbability } from "../quant/assert.ts";
import { emptyDays, sidePrice, toDayTotals } from "./book.ts";
import type { DailyMark, DayTotals, Settlement, Trade, TradeTotals } from "./model.ts";

/** Two numbers of contracts count as equal below this relative difference, because of floating-point errors. */
const EQUAL_CONTRACTS_SHARE = 1e-9;
/** A profit below this is a floating-point error. */
const PROFIT_USD_MIN = 1e-9;
const MICROS_PER_USD = 1_000_000;

export interface LotExit {
  /** Unix milliseconds. */
  readonly at: number;
  /** closed: by a trade of the other side. settled: by a settlement. corrected: by a corrected settlement. */
  readonly kind: "closed" | "settled" | "corrected";
  /** Number of contracts, above 0. For a correction: the contracts that an earlier settlement ended. */
  readonly contracts: number;
  /** USD received, minus the fee of the closing trade. For a correction: the change of the payout. */
  readonly proceedsUsd: number;
  /** Proceeds minus the cost and the fee of these contracts, in USD. For a correction: the proceeds. */
  readonly pnlUsd: number;
}

/** The part of a trade that opened a position instead of closing contracts of the other side. */
export interface Lot extends Omit<Trade, "contracts" | "feeUsd"> {
  /** Contracts bought, above 0. */
  readonly contracts: number;
  /** Share of the trade's fee for these contracts, in USD. */
  readonly feeUsd: number;
  /** Contracts that are neither closed nor settled. */
  readonly openContracts: number;
  /** In the order of their time. */
  readonly exits: readonly LotExit[];
  /** When the last contract was closed or settled, Unix milliseconds; null if a contract is open. */
  readonly resolvedAt: number | null;
}

type MutableLot = { -readonly [Key in keyof Lot]: Lot[Key] } & { exits: LotExit[] };

/**
 * Matches trades into lots, first in, first out.
 *
 * - A trade first closes open lots of the other side of its market. One YES and one NO contract together pay 1 USD, so
 *   a NO contract bought at q closes a YES contract at 1 - q, and a YES contract bought at q closes a NO contract at 1
 *   - q.
 * - The remaining contracts of the trade open a lot. A market never has open lots of both sides.
 * - A settlement ends all open lots of its market. A later settlement of the market changes their payout.
 * - A trade after the settlement opens a lot that is settled immediately.
 *
 * If every market is settled at a value that is not null, the profits of all exits sum to the payouts of all trades
 * minus their costs and fees.
 *
 * @param trades  in any order; trades at the same time keep the order of the list
 * @param settlements  in any order
 * @returns  the lots in the order in which they were opened
 * @throws RangeError when contracts are not above 0, a price is outside [0, 1], a fee is negative, or a payout is
 *   outside [0, 1]
 * @example
 * // YES at 0.4, then NO at 0.5: 10 contracts are closed at 0.5 with a profit of 1 USD.
 * matchLots([yes(10, 0.4), no(10, 0.5)], [])[0].exits[0].pnlUsd;
 */
export function matchLots(trades: readonly Trade[], settlements: readonly Settlement[]): Lot[] {
  const lots: MutableLot[] = [];
  const markets = new Map<string, MarketLots>();
  const marketOf = (named: MarketRef) => {
    const id = formatMarketRef(named);
    const market = markets.get(id) ?? new MarketLots(lots);
    markets.set(id, market);
    return market;
  };
  const byTime = (a: { readonly at: number }, b: { readonly at: number }) => a.at - b.at;
  const laterSettlements = settlements.toSorted(byTime);
  let next = 0;
  const settleBefore = (at: number) => {
    for (; next < laterSettlements.length; next++) {
      const settlement = laterSettlements[next];
      if (settlement === undefined || settlement.at >= at) return;
      marketOf(settlement).settle(settlement);
    }
  };
  for (const trade of trades.toSorted(byTime)) {
    settleBefore(trade.at);
    marketOf(trade).trade(trade);
  }
  settleBefore(Number.POSITIVE_INFINITY);
  return lots;
}

class MarketLots {
  readonly #all: MutableLot[];
  /** Lots of one side, oldest first. Lots before `#head` are closed. */
  readonly #open: MutableLot[] = [];
  #head = 0;
  readonly #settled: { readonly lot: MutableLot; readonly contracts: number; proceedsUsd: number }[] = [];
  #settlement: Settlement | null = null;

  constructor(all: MutableLot[]) {
    this.#all = all;
  }

  trade(trade: Trade): void {
    const { contracts, price, feeUsd, side, at } = trade;
    assertPositive(contracts, "contracts");
    assertProbability(price, "price");
    assertNotNegative(feeUsd, "feeUsd");
    let rest = contracts;
    for (;;) {
      const lot = this.#open[this.#head];
      if (lot === undefined || lot.side === side || rest === 0) break;
      const isEqual = Math.abs(lot.openContracts - rest) <= EQUAL_CONTRACTS_SHARE * Math.max(lot.openContracts, rest);
      const closed = isEqual ? lot.openContracts : Math.min(lot.openContracts, rest);
      exit(lot, { at, kind: "closed", contracts: closed }, closed * (1 - price) - (feeUsd * closed) / contracts);
      if (lot.openContracts === 0) this.#head += 1;
      rest = isEqual ? 0 : rest - closed;
    }
    if (rest === 0) return;
    const share = { contracts: rest, openContracts: rest, feeUsd: (feeUsd * rest) / contracts };
    const lot: MutableLot = { ...trade, ...share, exits: [], resolvedAt: null };
    this.#all.push(lot);
    if (this.#settlement === null) this.#open.push(lot);
    else this.#settleLot(lot, { ...this.#settlement, at });
  }

  settle(settlement: Settlement): void {
    assertProbability(settlement.value ?? 0, "value");
    this.#settlement = settlement;
    for (const settled of this.#settled) {
      const proceedsUsd = payoutUsd(settled.lot, settled.contracts, settlement);
      const differenceUsd = proceedsUsd - settled.proceedsUsd;
      settled.proceedsUsd = proceedsUsd;
      if (differenceUsd === 0) continue;
      const { contracts } = settled;
      const correction = { kind: "corrected", contracts, proceedsUsd: differenceUsd, pnlUsd: differenceUsd } as const;
      settled.lot.exits.push({ at: settlement.at, ...correction });
    }
    for (const lot of this.#open.splice(this.#head)) this.#settleLot(lot, settlement);
  }

  #settleLot(lot: MutableLot, settlement: Settlement): void {
    const contracts = lot.openContracts;
    const proceedsUsd = payoutUsd(lot, contracts, settlement);
    exit(lot, { at: settlement.at, kind: "settled", contracts }, proceedsUsd);
    this.#settled.push({ lot, contracts, proceedsUsd });
  }
}

function exit(lot: MutableLot, part: Pick<LotExit, "at" | "kind" | "contracts">, proceedsUsd: number): void {
  lot.exits.push({ ...part, proceedsUsd, pnlUsd: proceedsUsd - costUsd(lot, part.contracts) });
  lot.openContracts -= part.contracts;
  if (lot.openContracts === 0) lot.resolvedAt = part.at;
}

/** Returns the payout of contracts in USD. A refund returns their price and fee. */
function payoutUsd(lot: Lot, contracts: number, { value }: Settlement): number {
  return value === null ? costUsd(lot, contracts) : contracts * sidePrice(lot.side, value);
}

/** Returns the cost of some contracts of a lot in USD, including their share of the fee. */
const costUsd = ({ price, feeUsd, contracts }: Lot, some: number): number => some * price + (feeUsd * some) / contracts;

/** Profit or loss in USD of all contracts of a lot that are closed or settled. */
export const realisedPnlUsd = ({ exits }: Pick<Lot, "exits">): number =>
  exits.reduce((sum, { pnlUsd }) => sum + pnlUsd, 0);

export interface Position extends MarketRef {
  readonly side: Side;
  /** Above 0. */
  readonly contracts: number;
  /** Average price without fees. */
  readonly entryPrice: number;
  /** With the share of the fees. */
  readonly costUsd: number;
  /** When the oldest open lot was opened, Unix milliseconds. */
  readonly openedAt: number;
}

/** Sums the open contracts of each market. Returns the markets in the order in which their positions were opened. */
export function openPositions(lots: readonly Lot[]): Position[] {
  const positions = new Map<string, Position>();
  for (const lot of lots) {
    if (lot.openContracts === 0) continue;
    const { venue, marketId, side, at: openedAt } = lot;
    const key = formatMarketRef(lot);
    const position = positions.get(key) ?? { venue, marketId, side, contracts: 0, entryPrice: 0, costUsd: 0, openedAt };
    const contracts = position.contracts + lot.openContracts;
    positions.set(key, {
      ...position,
      contracts,
      entryPrice: (position.entryPrice * position.contracts + lot.price * lot.openContracts) / contracts,
      costUsd: position.costUsd + costUsd(lot, lot.openContracts),
      openedAt: Math.min(position.openedAt, openedAt),
    });
  }
  return [...positions.values()];
}

/**
 * Computes the profit of lots by UTC day, and their totals.
 *
 * - Open contracts are valued at the last mark after their purchase. Before the first mark, they are valued at the
 *   price that they cost.
 * - A lot is entered, and its fee is paid, on the day of its purchase.
 * - A lot is resolved on the day on which its last contract is closed or settled. The day counts it as won if it has a
 *   profit at the end of the day. The totals count it as won if it has a profit after all corrections.
 * - Daily profits are multiples of 1e-6 USD.
 *
 * @param marks  in any order; a mark at midnight belongs to the day that ends then
 * @param until  Unix milliseconds, a time in the last day of the result
 * @returns  every day from the first purchase to the last day, oldest first; empty without lots
 * @throws RangeError when the price of a mark is outside [0, 1]
 */
export function lotPerformance(
  lots: readonly Lot[],
  marks: readonly DailyMark[],
  until: number,
): { readonly days: DayTotals[]; readonly totals: TradeTotals } {
  const firstDay = lots.reduce((first, { at }) => Math.min(first, dayOf(at)), dayOf(until) + 1);
  const days = emptyDays(firstDay * DAY_MS, dayOf(until) - firstDay + 1);
  for (const events of groupEvents(lots, marks).values())
    for (const { day, micros } of profitsOf(events)) {
      const profitDay = days[day - firstDay];
      if (profitDay !== undefined) profitDay.pnlMicros += micros;
    }
  for (const lot of lots) {
    const entryDay = days[dayOf(lot.at) - firstDay];
    if (entryDay !== undefined) entryDay.enteredTrades += 1;
    if (lot.resolvedAt === null) continue;
    const resolvedDay = days[dayOf(lot.resolvedAt) - firstDay];
    if (resolvedDay === undefined) continue;
    const endOfDay = (dayOf(lot.resolvedAt) + 1) * DAY_MS;
    resolvedDay.resolvedTrades += 1;
    if (isWon({ exits: lot.exits.filter(({ at }) => at < endOfDay) })) resolvedDay.wonTrades += 1;
  }
  return { days: days.map(toDayTotals), totals: totalLots(lots) };
}

function totalLots(lots: readonly Lot[]): TradeTotals {
  const resolved = lots.filter(({ resolvedAt }) => resolvedAt !== null);
  const edges = resolved.flatMap(({ edge }) => edge ?? []);
  return {
    totalTrades: lots.length,
    resolvedTrades: resolved.length,
    wonTrades: resolved.filter(isWon).length,
    resolvedCostUsd: resolved.reduce((sum, lot) => sum + costUsd(lot, lot.contracts), 0),
    resolvedPnlUsd: resolved.reduce((sum, lot) => sum + realisedPnlUsd(lot), 0),
    averageEdge: edges.length === 0 ? null : edges.reduce((sum, edge) => sum + edge, 0) / edges.length,
  };
}

const isWon = (lot: Pick<Lot, "exits">): boolean => realisedPnlUsd(lot) > PROFIT_USD_MIN;

/** Number of the UTC day since 1970. */
const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** An event that changes the value of the contracts of one market. */
type MarketEvent =
  | { readonly kind: "mark"; readonly at: number; readonly yesPrice: number }
  | { readonly kind: "entry"; readonly at: number; readonly lot: Lot }
  | { readonly kind: "exit"; readonly at: number; readonly lot: Lot; readonly exit: LotExit };

/** Order of events at the same time: a mark comes before a purchase, and a purchase before its settlement. */
const EVENT_ORDER: Readonly<Record<MarketEvent["kind"], number>> = { mark: 0, entry: 1, exit: 2 };

function groupEvents(lots: readonly Lot[], marks: readonly DailyMark[]): Map<string, MarketEvent[]> {
  const groups = new Map<string, MarketEvent[]>();
  for (const lot of lots) {
    const key = formatMarketRef(lot);
    const events = groups.get(key) ?? [];
    groups.set(key, events);
    events.push({ kind: "entry", at: lot.at, lot });
    for (const part of lot.exits) events.push({ kind: "exit", at: part.at, lot, exit: part });
  }
  for (const mark of marks) {
    assertProbability(mark.yesPrice, "yesPrice");
    groups.get(formatMarketRef(mark))?.push({ kind: "mark", at: mark.at, yesPrice: mark.yesPrice });
  }
  for (const events of groups.values()) events.sort((a, b) => a.at - b.at || EVENT_ORDER[a.kind] - EVENT_ORDER[b.kind]);
  return groups;
}

/**
 * Yields the changes of the profit of one market in 1e-6 USD, each with its day. Their sum is the profit of the market.
 * A mark values all open contracts of the market together.
 */
function* profitsOf(events: readonly MarketEvent[]): Generator<{ readonly day: number; readonly micros: number }> {
  let cashUsd = 0;
  /** The open contracts that were bought before the last mark, and the price of their side at that mark. */
  let marked = { contracts: 0, price: 0, at: Number.NEGATIVE_INFINITY };
  /** The open contracts that were bought after the last mark, and their cost. */
  let unmarked = { contracts: 0, valueUsd: 0 };
  let side: Side = "yes";
  let lastMicros = 0;
  for (const event of events) {
    if (event.kind === "mark") {
      const contracts = marked.contracts + unmarked.contracts;
      marked = { contracts, price: sidePrice(side, event.yesPrice), at: event.at };
      unmarked = { contracts: 0, valueUsd: 0 };
    } else if (event.kind === "entry") {
      const { lot } = event;
      side = lot.side;
      cashUsd -= costUsd(lot, lot.contracts);
      unmarked = {
        contracts: unmarked.contracts + lot.contracts,
        valueUsd: unmarked.valueUsd + lot.contracts * lot.price,
      };
    } else {
      const { lot, exit: part } = event;
      cashUsd += part.proceedsUsd;
      if (part.kind !== "corrected") {
        if (marked.at > lot.at) marked = { ...marked, contracts: marked.contracts - part.contracts };
        else
          unmarked = {
            contracts: unmarked.contracts - part.contracts,
            valueUsd: unmarked.valueUsd - part.contracts * lot.price,
          };
      }
    }
    const valueUsd = unmarked.valueUsd + marked.contracts * marked.price;
    const micros = Math.round((cashUsd + valueUsd) * MICROS_PER_USD);
    yield { day: dayOf(event.kind === "mark" ? event.at - 1 : event.at), micros: micros - lastMicros };
    lastMicros = micros;
  }
}
