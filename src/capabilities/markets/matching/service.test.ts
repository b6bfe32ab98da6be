import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eachDatabase, embeddedDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { type MatchingHarness, openTestMatching } from "../../../../test/support/matching/matching-harness.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { Bus } from "../../../ports/bus.ts";
import type { Database } from "../../../ports/database.ts";
import type { PairChanges } from "./pair-map.ts";

const harnesses: MatchingHarness[] = [];
after(() => Promise.all(harnesses.map(({ matching }) => matching.stop())));

/** One node: a board of its own that is matched by equal titles. Several nodes may share the database and the bus. */
function openNode(database: Database, bus?: Bus) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const harness = openTestMatching({ board, clock, database, ...(bus === undefined ? {} : { bus }) });
  harnesses.push(harness);
  const put = (venue: string, marketId: string, title: string, parts: SampleParts = {}) =>
    board.apply(sampleMarket(marketId, { ...parts, listing: { venue, title, ...parts.listing } }), SAMPLE_AT).market;
  const list = () => [...harness.matching.pairs()].map(({ a, b, relation }) => `${a} ${relation} ${b}`).sort();
  const becomes = (expected: readonly string[]) =>
    eventually(() => (JSON.stringify(list()) === JSON.stringify(expected) ? true : null), `pairs ${expected}`);
  return { ...harness, clock, board, put, list, becomes };
}

const FORBID = {
  markets: ["beta/2", "alpha/1"],
  decision: "forbidden",
  note: "Other station",
  decidedBy: "ada",
} as const;

eachDatabase("a decision applies at once, replaces an earlier one, and ends when it is cleared", async (database) => {
  const { matching, put, becomes } = openNode(database);
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  await becomes(["alpha/1 identical beta/2"]);
  const decided = await matching.decisions.decide(FORBID);
  assert.deepEqual(decided, {
    a: "alpha/1",
    b: "beta/2",
    decision: "forbidden",
    note: "Other station",
    decidedBy: "ada",
    decidedAt: SAMPLE_AT,
  });
  await becomes([]);
  await matching.decisions.decide({ ...FORBID, decision: "inverse", note: null });
  await becomes(["alpha/1 inverse beta/2"]);
  assert.deepEqual(await matching.decisions.list(), [{ ...decided, decision: "inverse", note: null }]);
  assert.equal(await matching.decisions.clear("alpha/1", "beta/2"), true);
  assert.equal(await matching.decisions.clear("alpha/1", "beta/2"), false);
  await becomes(["alpha/1 identical beta/2"]);
});

eachDatabase(
  "a decision is kept across a restart, and a forbidden pair is not served during the restart",
  async (database) => {
    const first = openNode(database);
    await first.matching.decisions.decide(FORBID);
    await first.matching.stop();
    const { put, settle, matching, list } = openNode(database);
    const changes: PairChanges[] = [];
    matching.observe({ onPairs: (change) => changes.push(change) });
    put("alpha", "1", "Rain?");
    put("beta", "2", "Rain?");
    await settle();
    assert.deepEqual([list(), changes], [[], []]);
  },
);

eachDatabase(
  "other nodes apply a decision when the bus announces it, and without the bus after five seconds",
  async (database) => {
    const bus = createInProcessBus(quietLog);
    const [deciding, listening, deaf] = [openNode(database, bus), openNode(database, bus), openNode(database)];
    for (const { put, becomes } of [deciding, listening, deaf]) {
      put("alpha", "1", "Rain?");
      put("beta", "2", "Rain?");
      await becomes(["alpha/1 identical beta/2"]);
    }
    await deciding.matching.decisions.decide(FORBID);
    await listening.becomes([]);
    assert.deepEqual(deaf.list(), ["alpha/1 identical beta/2"]);
    await deaf.clock.advance(5_000);
    await deaf.becomes([]);
  },
);

eachDatabase("invalid pairs and notes are refused and not stored", async (database) => {
  const { decisions } = openNode(database).matching;
  const decide = (a: string, b: string, note: string | null = null) =>
    decisions.decide({ markets: [a, b], decision: "identical", note, decidedBy: "ada" });
  await assert.rejects(decide("alpha/1", "alpha/2"), /Both markets are of alpha/);
  await assert.rejects(decide("alpha/1", "alpha/1"), /Both markets are of alpha/);
  for (const wrong of ["", "alpha", "alpha/", "alpha/a b", "alpha/\0", `alpha/${"x".repeat(513)}`, "1"])
    await assert.rejects(decide(wrong, "beta/2"), RangeError, JSON.stringify(wrong));
  await assert.rejects(decide("delta/1", "beta/2"), /the venue is not one of alpha, beta, gamma/);
  await assert.rejects(decide("alpha/1", "beta/2", "x".repeat(501)), /at most 500 characters/);
  await assert.rejects(decide("alpha/1", "beta/2", "\0"), RangeError);
  await assert.rejects(decisions.clear("alpha/1", "beta"), RangeError);
  assert.deepEqual(await decisions.list(), []);
});

eachDatabase("the order of the ids is that of their bytes, and an id may contain a slash", async (database) => {
  const { decisions } = openNode(database).matching;
  for (const [first, second] of [
    ["beta/a", "alpha/Z/1"],
    ["alpha/_", "beta/B"],
  ] as const)
    await decisions.decide({ markets: [first, second], decision: "identical", note: null, decidedBy: "ada" });
  assert.deepEqual(
    (await decisions.list()).map(({ a, b }) => [a, b]),
    [
      ["alpha/Z/1", "beta/a"],
      ["alpha/_", "beta/B"],
    ],
  );
});

test("matching starts only after the decisions are read; later failures of the store do not discard them", async () => {
  const database = await embeddedDatabase();
  let isDown = true;
  const flaky: Database = {
    ...database,
    query: (...call: Parameters<Database["query"]>) =>
      isDown ? Promise.reject(new Error("unavailable")) : database.query(...call),
  } as Database;
  const { put, clock, threads, becomes, list } = openNode(flaky);
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  await clock.advance(60_000);
  assert.equal(threads.openedCount, 0);
  isDown = false;
  await clock.advance(5_000);
  await becomes(["alpha/1 identical beta/2"]);
  isDown = true;
  await clock.advance(60_000);
  assert.deepEqual(list(), ["alpha/1 identical beta/2"]);
});

test("a market that is removed from the board and added again keeps its links, and its partner shows its new URL", async () => {
  const { matching, board, put, settle } = openNode(await embeddedDatabase());
  const partner = put("beta", "2", "Rain?", { listing: { url: "https://beta.test/2" } });
  const market = put("alpha", "1", "Rain?", { listing: { url: "https://alpha.test/1" } });
  await settle();
  assert.deepEqual(matching.alsoOnOf(market), { beta: "https://beta.test/2" });
  board.remove(market);
  const returned = put("alpha", "1", "Rain?", { listing: { url: "https://alpha.test/new" } });
  await settle();
  assert.deepEqual(matching.alsoOnOf(returned), { beta: "https://beta.test/2" });
  assert.deepEqual(matching.alsoOnOf(partner), { alpha: "https://alpha.test/new" });
});

test("pairs of a market are found by its venue and id, and observers get each change", async () => {
  const { matching, put, settle } = openNode(await embeddedDatabase());
  const changes: PairChanges[] = [];
  matching.observe({ onPairs: (change) => changes.push(change) });
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  await settle();
  const pairs = matching.pairsOf("beta", "2");
  assert.deepEqual(
    pairs.map(({ a, b }) => [a, b]),
    [["alpha/1", "beta/2"]],
  );
  assert.deepEqual(changes, [{ added: pairs, removed: [] }]);
});

test("equal markets are those on the board that ask the same or the opposite question, most likely first", async () => {
  const database = await embeddedDatabase();
  const markets = ["alpha/1", "gamma/3"] as const;
  await openNode(database).matching.decisions.decide({ ...FORBID, markets, decision: "identical" });
  const { matching, board, put, settle } = openNode(database);
  const market = put("alpha", "1", "Rain?");
  assert.deepEqual(matching.equalMarketsOf(market), []);
  const inverse = put("beta", "2", "Not Rain?");
  const playMoney = put("gamma", "3", "Rain?");
  put("beta", "4", "Also Rain?");
  await settle();
  assert.deepEqual(
    matching
      .pairsOf("alpha", "1")
      .map(({ relation }) => relation)
      .sort(),
    ["identical", "inverse", "overlap"],
  );
  const asInverse = { market: inverse, isInverse: true, isPlayMoney: false, confidence: 0.95 };
  const asPlayMoney = { market: playMoney, isInverse: false, isPlayMoney: true, confidence: 1 };
  assert.deepEqual(matching.equalMarketsOf(market), [asPlayMoney, asInverse]);
  assert.deepEqual(
    matching.equalMarketsOf(inverse).map(({ market: partner }) => partner.listing.marketId),
    ["1", "3"],
  );
  board.remove(playMoney);
  assert.deepEqual(matching.equalMarketsOf(market), [asInverse], "the removal has not been matched yet");
});
