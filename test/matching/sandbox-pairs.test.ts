import assert from "node:assert/strict";
import { test } from "node:test";
import { createWorld } from "../../sandbox/world/index.ts";
import { type ListedMarket, SANDBOX_VENUES } from "../../sandbox/world/types.ts";
import { type MarketPair, MatchIndex, type MatchUpdate } from "../../src/matching/index.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const SEEDS = [1, 2, 3, 4, 7, 42];
const CONFIDENCE_MIN = 0.75;
const RULES_ROUNDS_MAX = 5;
const ALL = 1_000_000;

const idOf = ({ venue, index }: Pick<ListedMarket, "venue" | "index">): string => `${venue}/${index}`;
const keyOf = (a: string, b: string): string => [a, b].sort().join(" ");

/** Matches the open markets of a sandbox as the service does, with the rules that the index asks for. */
function matchWorld(seed: number) {
  const world = createWorld({ seed, genesis: NOW - 3_600_000, marketCount: 600, speed: 60 });
  const markets = new Map<string, ListedMarket>();
  const index = new MatchIndex();
  for (const venue of SANDBOX_VENUES) {
    for (const market of world.markets(venue, NOW)) {
      if (world.lifecycle(market, NOW).phase !== "active") continue;
      markets.set(idOf(market), market);
      index.set({
        id: idOf(market),
        venue,
        title: market.question,
        category: market.event.category,
        outcomeLabel: market.event.markets.length > 1 ? market.label : null,
        eventSlug: `${venue}:${market.event.index}`,
        eventTitle: market.event.title,
        openAt: market.openAt,
        closeAt: market.closeAt,
        expectedResolutionAt: market.closeAt,
      });
    }
  }
  const pairs = new Map<string, MarketPair>();
  const apply = ({ added, removed }: MatchUpdate) => {
    for (const { a, b } of removed) pairs.delete(keyOf(a, b));
    for (const pair of added) pairs.set(keyOf(pair.a, pair.b), pair);
  };
  let update = index.update(ALL);
  apply(update);
  for (let round = 0; round < RULES_ROUNDS_MAX && update.rulesWanted.length > 0; round++) {
    for (const id of update.rulesWanted) index.setRules(id, markets.get(id)?.rules ?? null);
    update = index.update(ALL);
    apply(update);
  }
  const isOpen = ({ a, b }: { a: ListedMarket; b: ListedMarket }) => markets.has(idOf(a)) && markets.has(idOf(b));
  return { pairs, truth: (world.pairs?.(NOW) ?? []).filter(isOpen) };
}

const isExact = (relation: string): boolean => relation === "identical" || relation === "inverse";

for (const seed of SEEDS)
  test(`matches the sandbox's venues with a precision of at least 0.99 and a recall of at least 0.96, seed ${seed}`, () => {
    const { pairs, truth } = matchWorld(seed);
    const relations = new Map(truth.map(({ a, b, relation }) => [keyOf(idOf(a), idOf(b)), relation]));
    const accepted = [...pairs].filter(
      ([, { relation, confidence }]) => isExact(relation) && confidence >= CONFIDENCE_MIN,
    );
    const right = accepted.filter(([key, { relation }]) => relations.get(key) === relation).length;
    const exact = [...relations.values()].filter(isExact).length;
    assert.ok(exact > 100, `the world has ${exact} pairs`);
    assert.ok(right / accepted.length >= 0.99, `precision ${right}/${accepted.length}`);
    assert.ok(right / exact >= 0.96, `recall ${right}/${exact}`);
  });
