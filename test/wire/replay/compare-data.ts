/** Compares books, trades and price histories with the expected ones. */
import type { BookLevel, OrderBook } from "../../../src/domain/order-book.ts";
import { type Expected, type Facts, isMatching, showValue } from "../expectation.ts";
import {
  type ExpectedBook,
  type ExpectedItem,
  bookTopFacts as expectedTopFacts,
  type Level,
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

/**
 * Compares rows with what the adapter returned. Equal items are paired first, then items of the same time; the rest is
 * missing or unexpected.
 */
export function compareItems(
  method: string,
  rowOf: (index: number) => string,
  expected: readonly ExpectedItem[],
  actual: readonly Facts[],
  findings: Findings,
): void {
  const remaining = new Set(actual);
  const take = (isWanted: (facts: Facts) => boolean): Facts | undefined => {
    const found = [...remaining].find(isWanted);
    if (found !== undefined) remaining.delete(found);
    return found;
  };
  const unpaired: { readonly row: string; readonly item: ExpectedItem }[] = [];
  for (const [index, item] of expected.entries()) {
    const row = rowOf(index);
    findings.addRow(row);
    if (item.leftOut !== null) findings.leaveOut(row, item.leftOut);
    else if (take((facts) => isMatching(item.facts, facts)) === undefined) unpaired.push({ row, item });
  }
  for (const { row, item } of unpaired) {
    const found = take((facts) => isSameTime(item.facts, facts));
    if (found === undefined) findings.differ(row, method, describeItem(item.facts), "nothing", item.raw);
    else findings.compare(row, method, item.facts, found, item.raw);
  }
  for (const facts of remaining) {
    findings.differ(`${method} at ${facts.at}`, method, "nothing", showValue(facts), undefined);
  }
}

function isSameTime(expected: Expected, actual: Facts): boolean {
  return expected.at?.matches(actual.at) === true;
}

function describeItem(expected: Expected): string {
  return Object.entries(expected)
    .map(([field, { text }]) => `${field} ${text}`)
    .join(", ");
}
