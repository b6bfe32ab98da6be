import { isDeepStrictEqual } from "node:util";
import type { MatchRequest } from "../../../src/capabilities/markets/matching/model.ts";
import type { EventPair, MarketPair, MatchableMarket, MatchUpdate } from "../../../src/matching/index.ts";

interface Ends {
  readonly a: string;
  readonly b: string;
}

const keyOf = ({ a, b }: Ends) => `${a} ${b}`;

/** Returns the pairs that are not in `others`, or not with the same values. */
const without = <Pair extends Ends>(pairs: readonly Pair[], others: readonly Pair[]) =>
  pairs.filter((pair) => !others.some((other) => isDeepStrictEqual(other, pair)));

function relationOf(a: string, b: string): MarketPair["relation"] | null {
  if (a === b) return "identical";
  if (a === `Not ${b}` || b === `Not ${a}`) return "inverse";
  return a === `Also ${b}` || b === `Also ${a}` ? "overlap" : null;
}

const pairOf = (a: string, b: string, parts: Partial<MarketPair>): MarketPair => ({
  a,
  b,
  relation: "identical",
  confidence: 0.95,
  source: "model",
  evidence: ["The titles are equal."],
  ...parts,
});

/**
 * A matching thread with predictable results: markets of different venues match if their titles are equal. "Not X" is the
 * inverse of "X", "Also X" overlaps "X", and a pair with "maybe" in the title has a confidence of 0.6. It asks for the
 * rules of matched markets.
 */
export function createEqualTitles(): (request: MatchRequest) => MatchUpdate {
  const markets = new Map<string, MatchableMarket>();
  const withRules = new Set<string>();
  let overrides: MatchRequest["overrides"] = [];
  let pairs: readonly MarketPair[] = [];
  let events: readonly EventPair[] = [];
  let pendingCount = 0;

  const match = (): MarketPair[] => {
    const matches = new Map<string, MarketPair>();
    for (const first of markets.values())
      for (const second of markets.values()) {
        if (first.id >= second.id || first.venue === second.venue) continue;
        const [a, b] = [first.title, second.title];
        const relation = relationOf(a, b);
        if (relation === null) continue;
        const parts = { relation, confidence: a.includes("maybe") ? 0.6 : 0.95 };
        matches.set(keyOf({ a: first.id, b: second.id }), pairOf(first.id, second.id, parts));
      }
    for (const { a, b, decision } of overrides ?? []) {
      if (decision === "forbidden") matches.delete(keyOf({ a, b }));
      else if (markets.has(a) && markets.has(b)) {
        const parts = {
          relation: decision,
          confidence: 1,
          source: "operator",
          evidence: ["Decided by an operator."],
        } as const;
        matches.set(keyOf({ a, b }), pairOf(a, b, parts));
      }
    }
    return [...matches.values()];
  };

  const matchEvents = (): EventPair[] => {
    const matches = new Map<string, EventPair>();
    for (const pair of pairs) {
      const [a, b] = [pair.a, pair.b].map((id) => markets.get(id)?.eventSlug ?? "").sort();
      if (a === undefined || b === undefined || a === "") continue;
      const legCount = (matches.get(keyOf({ a, b }))?.legCount ?? 0) + 1;
      matches.set(keyOf({ a, b }), { a, b, confidence: pair.confidence, legCount, evidence: [] });
    }
    return [...matches.values()];
  };

  return (request) => {
    for (const id of request.removed) markets.delete(id);
    for (const market of request.markets) markets.set(market.id, market);
    for (const { id } of request.rules) withRules.add(id);
    overrides = request.overrides ?? overrides;
    pendingCount = Math.max(0, pendingCount + request.removed.length + request.markets.length - request.limit);
    const [oldPairs, oldEvents] = [pairs, events];
    if (pendingCount === 0) {
      pairs = match();
      events = matchEvents();
    }
    return {
      added: without(pairs, oldPairs),
      removed: without(oldPairs, pairs).map(({ a, b }) => ({ a, b })),
      addedEvents: without(events, oldEvents),
      removedEvents: without(oldEvents, events).map(({ a, b }) => ({ a, b })),
      rulesWanted: pairs.flatMap(({ a, b }) => [a, b]).filter((id) => !withRules.has(id)),
      pendingCount,
    };
  };
}
