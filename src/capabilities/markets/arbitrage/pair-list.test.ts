import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ScriptedPairs, samplePair } from "../../../../test/support/markets/arbitrage-api.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import { comparePrices, topOfBookOf } from "./compare.ts";
import { ComparedPairList } from "./pair-list.ts";

const VENUES = ["alpha", "beta", "delta"];

function setUp() {
  const board = new MarketBoard(() => SAMPLE_AT);
  const pairs = new ScriptedPairs();
  const create = () => new ComparedPairList({ board, pairs, venues: VENUES });
  const set = (venue: string, marketId: string, { listing, ...parts }: SampleParts = {}) =>
    board.apply(
      sampleMarket(marketId, { listing: { venue, takerFee: { kind: "none" }, ...listing }, ...parts }),
      SAMPLE_AT,
    ).market;
  return { board, pairs, create, set };
}
const describe = (list: ComparedPairList) =>
  [...list.compared()].map(({ pair, spread }) => `${pair.a} ${pair.b} ${spread.spread} ${spread.netSpread}`).sort();

test("includes markets and pairs that existed before the list, and those that are added later in any order", () => {
  const { pairs, create, set } = setUp();
  set("alpha", "old");
  set("beta", "old", { quote: { bid: 0.5, ask: 0.52 } });
  pairs.set(samplePair("old"));
  const list = create();
  assert.equal([...list.compared()].length, 1);
  pairs.set(samplePair("pair first"));
  set("beta", "pair first");
  assert.equal([...list.compared()].length, 1);
  set("alpha", "pair first");
  assert.equal([...list.compared()].length, 2);
  set("alpha", "markets first");
  set("beta", "markets first");
  pairs.set(samplePair("markets first"));
  assert.equal([...list.compared()].length, 3);
  pairs.remove(samplePair("old"));
  assert.deepEqual([list.size, [...list.compared()].length], [2, 2]);
});

test("a pair of a removed market is not compared until the market is listed again, even if its row is reused", () => {
  const { board, pairs, create, set } = setUp();
  pairs.set(samplePair("m"));
  const list = create();
  const market = set("alpha", "m");
  set("beta", "m");
  board.remove(market);
  assert.equal([...list.compared()].length, 0);
  set("delta", "other");
  assert.equal([...list.compared()].length, 0, "the row belongs to another market now");
  set("alpha", "m");
  assert.equal([...list.compared()].length, 1);
});

test("pairs of one venue, with a reference venue, or with a confidence below 0.5 are not listed", () => {
  const { pairs, create } = setUp();
  const list = create();
  pairs.set(samplePair("m", { b: "gamma/m" }));
  pairs.set(samplePair("m", { b: "alpha/n" }));
  pairs.set(samplePair("m", { confidence: 0.499 }));
  pairs.set(samplePair("m", { confidence: Number.NaN }));
  for (const relation of ["subset", "superset", "overlap"] as const) pairs.set(samplePair("m", { relation }));
  assert.equal(list.size, 0);
  pairs.set(samplePair("m", { confidence: 0.5 }));
  assert.equal(list.size, 1);
  pairs.set(samplePair("m", { confidence: 0.4 }));
  assert.equal(list.size, 0, "the changed pair replaces the earlier one");
});

test("after any changes of markets and pairs, the list equals one that is computed from the start", () => {
  const price = fc.integer({ min: 1, max: 78 });
  const id = fc.constantFrom("m", "n");
  const marketChange = fc.record({
    kind: fc.constant("market" as const),
    venue: fc.constantFrom(...VENUES),
    id,
    bid: fc.option(price, { nil: null }),
    width: fc.option(fc.integer({ min: 0, max: 20 }), { nil: null }),
    status: fc.constantFrom("active", "active", "active", "closed"),
    paused: fc.constantFrom(false, false, false, true),
  });
  const removal = fc.record({ kind: fc.constant("remove" as const), venue: fc.constantFrom(...VENUES), id });
  const pairChange = fc.record({
    kind: fc.constant("pair" as const),
    id,
    b: fc.constantFrom("beta", "delta"),
    relation: fc.constantFrom("identical", "identical", "inverse", "overlap"),
    isRemoved: fc.constantFrom(false, false, true),
  });
  const change = fc.oneof(
    { arbitrary: marketChange, weight: 6 },
    { arbitrary: removal, weight: 1 },
    { arbitrary: pairChange, weight: 3 },
  );
  let comparedCount = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 20, maxLength: 60, size: "max" }), (changes) => {
      const { board, pairs, create, set } = setUp();
      const list = create();
      for (const each of changes) {
        if (each.kind === "market") {
          const bid = each.bid === null ? null : each.bid / 100;
          const ask = each.width === null ? null : ((each.bid ?? 40) + each.width) / 100;
          set(each.venue, each.id, { listing: { status: each.status, paused: each.paused }, quote: { bid, ask } });
        } else if (each.kind === "remove") {
          const market = board.find(each.venue, each.id);
          if (market !== null) board.remove(market);
        } else {
          const pair = samplePair(each.id, { b: `${each.b}/${each.id}`, relation: each.relation });
          if (each.isRemoved) pairs.remove(pair);
          else pairs.set(pair);
        }
      }
      const expected = [...pairs.pairs()].flatMap((pair) => {
        const [topA, topB] = [pair.a, pair.b].map((marketId) => {
          const [venue = "", name = ""] = marketId.split("/");
          const market = board.find(venue, name);
          return market === null ? null : topOfBookOf(market);
        });
        const spread = topA == null || topB == null ? null : comparePrices(pair.relation, topA, topB);
        return spread === null ? [] : `${pair.a} ${pair.b} ${spread.spread} ${spread.netSpread}`;
      });
      comparedCount += expected.length;
      assert.deepEqual(describe(list), expected.sort());
    }),
    { numRuns: 300, seed: 7 },
  );
  assert.ok(comparedCount > 20, `${comparedCount} compared pairs`);
});
