import { relateCriteria } from "./criterion-relation.ts";
import { groundTruthOf } from "./list-event.ts";
import type { ListedEvent, ListedMarket, MarketPair } from "./types.ts";

/**
 * Returns the pairs of `World.pairs`, from the processes and criteria of the markets. Texts are not used.
 * @param events  of all venues
 */
export function listPairs(events: readonly ListedEvent[]): MarketPair[] {
  const pairs: MarketPair[] = [];
  const add = (a: ListedMarket, b: ListedMarket) => {
    if (a.venue === b.venue) return;
    const [first, second] = [groundTruthOf(a), groundTruthOf(b)];
    const relation = relateCriteria(first.process, first.criterion, second.process, second.criterion);
    const trap = relation === "identical" ? null : (trapKindOf(a, b) ?? trapKindOf(b, a));
    if (trap !== null || (relation !== "disjoint" && relation !== "unrelated")) pairs.push({ a, b, relation, trap });
  };
  const eventsByNumber = Map.groupBy(events, ({ underlying }) => underlying);
  const eventsByProcess = Map.groupBy(events, processNumberOf);
  for (const group of eventsByProcess.values()) {
    for (const [index, event] of group.entries()) {
      for (const a of event.markets)
        for (const other of group.slice(index + 1)) for (const b of other.markets) add(a, b);
    }
  }
  // Traps with their own process are not in the group of the event that they look like.
  for (const event of events) {
    const [market] = event.markets;
    const original = market === undefined ? null : (groundTruthOf(market).trap?.original ?? null);
    if (original === null || processNumberOf(event) === original) continue;
    for (const other of eventsByNumber.get(original) ?? []) {
      for (const a of event.markets) for (const b of other.markets) if (trapKindOf(a, b) !== null) add(a, b);
    }
  }
  return pairs;
}

/** Returns the kind of trap if `market` imitates `other`, otherwise null. */
function trapKindOf(market: ListedMarket, other: ListedMarket): string | null {
  const { trap } = groundTruthOf(market);
  const isImitation = trap !== null && trap.original === other.event.underlying && trap.resembles === other.position;
  return isImitation ? trap.kind : null;
}

function processNumberOf({ markets: [market] }: ListedEvent): number {
  return market === undefined ? Number.NaN : groundTruthOf(market).process.underlying;
}
