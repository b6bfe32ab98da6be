/** Compares books, trades and price histories with the expected ones. */
import type { BookLevel, OrderBook } from "../../../src/domain/order-book.ts";
import { type Expected, type Facts, isMatching, showValue } from "../expectation.ts";
import {
  type ExpectedBook,
  type ExpectedItem,
  bookTopFacts as expectedTopFacts,
  type Level,
  mergeTransactions,
} from "../expected/data.ts";
import type { Findings } from "../findings.ts";
import { bookTopFacts } from "./facts.ts";

const SIZE_TOLERANCE = 1e-6;

/** @param filter levels that are compared; all if absent */
export function compareBook(
  row: string,
  expected: ExpectedBook,
  actual: OrderBook | null,
  raw: unknown,
  findings: Findings,
  filter: (levels: readonly Level[]) => readonly Level[] = (levels) => levels,
): void {
  if (actual === null) {
    findings.differ(row, "getBook", "a book", "none", raw);
    return;
  }
  const [bids, asks] = [filter(expected.bids), filter(expected.asks)];
  const [actualBids, actualAsks] = [filter(actual.bids), filter(actual.asks)];
  const top = expectedTopFacts({ ...expected, bids, asks });
  findings.compare(row, "getBook", top, bookTopFacts({ ...actual, bids: actualBids, asks: actualAsks }), raw);
  compareLevels(row, "bids", bids, actualBids, findings);
  compareLevels(row, "asks", asks, actualAsks, findings);
}

function compareLevels(
  row: string,
  side: string,
  expected: readonly Level[],
  actual: readonly BookLevel[],
  findings: Findings,
): void {
  const isSame = (a: Level, b: BookLevel | undefined) =>
    b !== undefined && Math.abs(a.price - b.price) < SIZE_TOLERANCE && Math.abs(a.size - b.size) < SIZE_TOLERANCE;
  const index = expected.findIndex((level, position) => !isSame(level, actual[position]));
  if (index < 0 && expected.length === actual.length) return;
  const position = index < 0 ? expected.length : index;
  findings.differ(
    row,
    "getBook",
    `${expected.length} ${side}, level ${position} ${showValue(expected[position])}`,
    `${actual.length} ${side}, level ${position} ${showValue(actual[position])}`,
    undefined,
  );
}

/** Items that were not paired with a fact, and facts that were not paired with an item. */
interface Pairing {
  readonly unpaired: readonly (readonly [index: number, item: ExpectedItem])[];
  readonly remaining: Set<Facts>;
}

/** Pairs each item with the matching facts that are nearest in time. */
function pairItems(items: readonly ExpectedItem[], actual: readonly Facts[]): Pairing {
  const remaining = new Set(actual);
  const unpaired: (readonly [number, ExpectedItem])[] = [];
  for (const [index, item] of items.entries()) {
    if (item.leftOut !== null) continue;
    const found = takeNearest(remaining, item, (facts) => isMatching(item.facts, facts));
    if (found === undefined) unpaired.push([index, item]);
  }
  return { unpaired, remaining };
}

function takeNearest(
  remaining: Set<Facts>,
  item: ExpectedItem,
  isWanted: (facts: Facts) => boolean,
): Facts | undefined {
  const distance = (facts: Facts) => Math.abs(Date.parse(String(facts.at)) - item.at);
  const [nearest] = [...remaining].filter(isWanted).sort((a, b) => distance(a) - distance(b));
  if (nearest !== undefined) remaining.delete(nearest);
  return nearest;
}

/**
 * Compares rows with what the adapter returned. Equal items are paired first, then items of the same time; the rest is
 * missing or unexpected. An adapter may report the trades of one transaction as one trade.
 */
export function compareItems(
  method: string,
  rowOf: (index: number) => string,
  items: readonly ExpectedItem[],
  actual: readonly Facts[],
  findings: Findings,
): void {
  for (const [index, { leftOut }] of items.entries()) {
    findings.addRow(rowOf(index));
    if (leftOut !== null) findings.leaveOut(rowOf(index), leftOut);
  }
  const pairing = pairItems(items, actual);
  const merged = faultsOf(pairing) === 0 ? [] : mergeTransactions(items);
  const mergedPairing = merged.length === 0 ? pairing : pairItems(merged, actual);
  const isMerged = faultsOf(mergedPairing) < faultsOf(pairing);
  const { unpaired, remaining } = isMerged ? mergedPairing : pairing;
  for (const [index, item] of unpaired) {
    const row = rowOf(isMerged ? items.findIndex(({ raw }) => raw === item.raw) : index);
    const found = takeNearest(remaining, item, (facts) => item.facts.at?.matches(facts.at) === true);
    if (found === undefined) findings.differ(row, method, describeItem(item.facts), "nothing", item.raw);
    else findings.compare(row, method, item.facts, found, item.raw);
  }
  for (const facts of remaining) {
    findings.differ(`${method} at ${facts.at}`, method, "nothing", showValue(facts), undefined);
  }
}

const faultsOf = ({ unpaired, remaining }: Pairing): number => unpaired.length + remaining.size;

function describeItem(expected: Expected): string {
  return Object.entries(expected)
    .map(([field, { text }]) => `${field} ${text}`)
    .join(", ");
}
