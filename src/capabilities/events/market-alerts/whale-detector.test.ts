import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { Trade } from "../../../domain/trade.ts";
import { MINUTE_MS, SECOND_MS } from "../../../lib/durations.ts";
import { DEFAULT_ALERT_LIMITS } from "./index.ts";
import { LiveVolume, WhaleDetector } from "./whale-detector.ts";

/** Creates a detector and one market, whose 24-hour volume is 20,000 USD unless given. */
function openWatch(volume24hUsd: number | null = 20_000) {
  let requests = 0;
  const watch = new WhaleDetector(DEFAULT_ALERT_LIMITS.whale, () => {
    requests += 1;
  });
  const snapshot = sampleMarket("m", { activity: { volume24hUsd } });
  const { market } = new MarketBoard(() => SAMPLE_AT).apply(snapshot, SAMPLE_AT);
  let count = 0;
  /** Adds a trade of `usd` at 0.4 for NO, `seconds` after the start. Returns whether takers were requested. */
  const add = (usd: number, seconds: number, parts: Partial<Trade> = {}, isRepeated = false) => {
    const trade: Trade = {
      tradeId: `t${count++}`,
      executedAt: SAMPLE_AT + seconds * SECOND_MS,
      yesPrice: 0.6,
      size: usd / 0.4,
      takerSide: "no",
      ...parts,
    };
    const earlierRequests = requests;
    watch.add(market, trade, isRepeated, SAMPLE_AT + seconds * SECOND_MS);
    return requests > earlierRequests;
  };
  const candidates = () => watch.peek(10_000).map(({ usd, trades }) => [Math.round(usd), trades.length]);
  return { watch, market, add, candidates };
}

test("one taker's trades on one side within a minute are one candidate, at their average price", () => {
  const { watch, add, candidates } = openWatch();
  add(600, 0, { taker: "x" });
  assert.deepEqual(candidates(), []);
  add(300, 30, { taker: "x", yesPrice: 0.7, size: 1_000 });
  add(400, 60, { taker: "x" });
  assert.deepEqual(candidates(), [[1_300, 3]]);
  const [candidate] = watch.peek(1);
  assert.equal(candidate?.side, "no");
  assert.ok(Math.abs((candidate?.price ?? 0) - 1_300 / 3_500) < 1e-12);
  assert.equal(candidate?.startedAt, SAMPLE_AT);
  assert.equal(candidate?.executedAt, SAMPLE_AT + MINUTE_MS);
});

test("trades of other takers, of the other side, of unknown takers and of a later minute are not added up", () => {
  const { add, candidates } = openWatch();
  add(900, 0, { taker: "x" });
  add(900, 1, { taker: "y" });
  add(900, 2, { taker: "x", takerSide: "yes", yesPrice: 0.4 });
  add(900, 3);
  add(900, 4);
  add(900, 61, { taker: "x" });
  assert.deepEqual(candidates(), []);
});

test("trades that arrive newest first, and in two reads of a list, are added up", () => {
  const { add, candidates } = openWatch();
  for (const seconds of [50, 40]) add(400, 60, { taker: "x", executedAt: SAMPLE_AT + seconds * SECOND_MS });
  add(400, 170, { taker: "x", executedAt: SAMPLE_AT + 30 * SECOND_MS });
  assert.deepEqual(candidates(), [[1_200, 3]]);
});

test("trades are added up when their taker becomes known", () => {
  const { add, candidates } = openWatch();
  for (const tradeId of ["a", "b"]) add(800, 0, { tradeId });
  assert.deepEqual(candidates(), []);
  for (const tradeId of ["a", "b"]) add(800, 1, { tradeId, taker: "x" }, true);
  assert.deepEqual(candidates(), [[1_600, 2]]);
  assert.equal(add(900, 2), false, "the named trades are no trades of unknown takers any more");
});

test("a large trade whose taker becomes known is one candidate, together with the taker's other trades", () => {
  const { add, candidates } = openWatch();
  add(3_000, 0, { tradeId: "a" });
  assert.deepEqual(candidates(), [[3_000, 1]]);
  add(500, 1, { taker: "x" });
  add(3_000, 0, { tradeId: "a", taker: "x" }, true);
  assert.deepEqual(candidates(), [[3_500, 2]]);
});

test("a trade is announced once, even if its taker becomes known or trades more during the comparison", () => {
  const { watch, add, candidates } = openWatch();
  add(3_000, 0, { tradeId: "a" });
  const compared = watch.peek(1);
  add(500, 1, { taker: "x" });
  add(3_000, 0, { tradeId: "a", taker: "x" }, true);
  watch.settle(compared, new Set(compared));
  assert.deepEqual(candidates(), []);
  add(600, 2, { taker: "x" });
  assert.deepEqual(candidates(), [[1_100, 2]], "only the trades that were not announced");
  const second = watch.peek(1);
  watch.settle(second, new Set());
  add(100, 3, { taker: "x" });
  assert.deepEqual(candidates(), [[1_200, 3]], "a candidate that was not announced can grow");
});

test("a candidate that grows during its comparison is compared again", () => {
  const { watch, add, candidates } = openWatch();
  add(1_500, 0, { tradeId: "a" });
  const compared = watch.peek(1);
  add(2_500, 1, { tradeId: "a" }, true);
  watch.settle(compared, new Set());
  assert.deepEqual(candidates(), [[2_500, 1]]);
});

test("requests takers if the sum of the trades of unknown takers is large", () => {
  const { add } = openWatch();
  assert.equal(add(1_990, 0), false, "one trade is classified without its taker");
  assert.equal(add(1, 1, { takerSide: "yes", yesPrice: 0.4 }), false, "the other side");
  assert.equal(add(20, 2), true, "a tenth of the volume");
  assert.equal(add(1_990, 70), false, "the sum of a minute");
  assert.equal(openWatch().add(3_000, 0), false, "one large trade is judged without its taker, too");
  const small = openWatch(1_000);
  for (const seconds of [0, 1]) assert.equal(small.add(400, seconds), false, "below the minimum of both rules");
  const unknownVolume = openWatch(null);
  assert.equal(unknownVolume.add(2_500, 0), false);
  assert.equal(unknownVolume.add(2_499, 0), false);
  assert.equal(unknownVolume.add(1, 0), true);
  const settled = unknownVolume.watch.peek(10);
  unknownVolume.watch.settle(settled, new Set(settled));
  assert.equal(unknownVolume.add(1, 0), false, "announced trades do not count");
  const named = openWatch();
  for (const seconds of [0, 1, 2]) assert.equal(named.add(2_000, seconds, { taker: "x" }), false);
});

test("a trade is compared with earlier trades, not with itself, and counted once with its last size", () => {
  const { watch, market, add } = openWatch();
  const sizes = watch.setSizes(market, [10], { until: SAMPLE_AT + SECOND_MS, now: SAMPLE_AT });
  add(5, 0);
  add(50, 1, { tradeId: "grows" });
  add(500, 2, { tradeId: "grows" }, true);
  assert.equal(sizes.count, 1);
  add(20, 400);
  assert.equal(sizes.count, 2, "the trade before `until` was read from the store");
  assert.equal(sizes.percentileOf(400), 50);
  add(600, 800, { tradeId: "grows" }, true);
  assert.equal(sizes.count, 2, "a trade that is no longer kept is not added again");
});

test("the volume is the last published volume plus the trades since, without those of the candidate", () => {
  const { watch, market, add } = openWatch(20_000);
  const volumes = () => watch.peek(10_000).map(({ volume24hUsd }) => Math.round(volume24hUsd ?? Number.NaN));
  add(500, 0);
  add(1_500, 1, { tradeId: "a" });
  add(2_000, 2, { tradeId: "a" }, true);
  assert.deepEqual(volumes(), [20_500]);
  add(3_000, 3, { tradeId: "b" });
  assert.deepEqual(volumes(), [20_500, 22_500], "with all fills of the other trades");
  const published = { ...market, activity: { ...market.activity, volume24hUsd: 30_000 } };
  const trade: Trade = { tradeId: "c", executedAt: SAMPLE_AT, yesPrice: 0.5, size: 9_000, takerSide: "yes" };
  watch.add(published, trade, false, SAMPLE_AT);
  assert.equal(volumes().at(-1), 30_000);
});

test("stores the volumes of a bounded number of markets", () => {
  const { market } = openWatch();
  const volume = new LiveVolume();
  const marketOf = (index: number) => ({ ...market, listing: { ...market.listing, marketId: `m${index}` } });
  for (let index = 0; index < 10_001; index++) volume.add(marketOf(index), 5);
  assert.equal(volume.size, 10_000);
  assert.deepEqual([volume.before(marketOf(0), 0), volume.before(marketOf(1), 0)], [20_000, 20_005]);
});

test("a candidate that waits for the store remains after its trades are deleted from memory", () => {
  const { watch, add, candidates } = openWatch();
  add(50_000, 0, { taker: "x" });
  add(20, 400, { taker: "x" });
  assert.deepEqual(candidates(), [[50_000, 1]]);
  const compared = watch.peek(1);
  watch.settle(compared, new Set(compared));
  assert.deepEqual(candidates(), []);
});

test("sizes are read again after six hours, and for a trade before the time of the last read", () => {
  const { watch, market } = openWatch();
  watch.setSizes(market, [1], { until: SAMPLE_AT, now: SAMPLE_AT });
  assert.equal(watch.findSizes({ market, startedAt: SAMPLE_AT }, SAMPLE_AT + 360 * MINUTE_MS)?.count, 1);
  assert.equal(watch.findSizes({ market, startedAt: SAMPLE_AT }, SAMPLE_AT + 360 * MINUTE_MS + 1), null);
  assert.equal(
    watch.findSizes({ market, startedAt: SAMPLE_AT - 1 }, SAMPLE_AT),
    null,
    "they can contain a trade of this time",
  );
});

test("a candidate has the latest state of its market", () => {
  const { watch, market, add } = openWatch();
  add(900, 0, { taker: "x" });
  const renamed = { ...market, listing: { ...market.listing, title: "New title" } };
  const trade: Trade = { tradeId: "b", executedAt: SAMPLE_AT, yesPrice: 0.6, size: 900, takerSide: "no", taker: "x" };
  watch.add(renamed, trade, false, SAMPLE_AT);
  assert.equal(watch.peek(1)[0]?.market.listing.title, "New title");
});

test("stores bounded numbers of trades, of candidates and of markets with sizes", () => {
  const { watch, market, add } = openWatch();
  for (let index = 0; index < 1_100; index++)
    watch.setSizes({ ...market, listing: { ...market.listing, marketId: `m${index}` } }, [1], {
      until: SAMPLE_AT,
      now: SAMPLE_AT,
    });
  assert.equal(watch.size, 1_000);
  for (let index = 0; index < 5_001; index++) add(2_000, 0);
  assert.deepEqual([watch.candidateCount, watch.dropped], [5_000, 1]);
  for (let index = 0; index < 20_000; index++) add(1, 0, { taker: `x${index % 100}` });
  assert.equal(watch.recentCount, 20_000);
  assert.equal(watch.candidateCount, 5_000, "candidates stay although their trades are no longer kept");
  for (const size of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0]) add(1, 0, { size });
  assert.equal(watch.recentCount, 20_000);
  add(1, 1_000, { taker: "y" });
  assert.deepEqual([watch.recentCount, watch.groupCount], [1, 1]);
  watch.forget("alpha");
  assert.equal(watch.size, 0);
});
