import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { createEqualTitles } from "../../../../test/support/matching/equal-titles.ts";
import { createInlineThreads } from "../../../../test/support/matching/inline-thread.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { MatchOverride, MatchUpdate } from "../../../matching/index.ts";
import { Matcher } from "./matcher.ts";
import type { MatchRequest } from "./model.ts";
import type { PairChanges } from "./pair-map.ts";

const matchers: Matcher[] = [];
after(() => Promise.all(matchers.map((matcher) => matcher.stop())));

function openMatcher() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const threads = createInlineThreads<MatchRequest, MatchUpdate>(createEqualTitles);
  const changes: PairChanges[] = [];
  const matcher = new Matcher({
    board,
    clock,
    log: quietLog,
    openThread: () => threads.open(),
    judge: null,
    onChange: (change) => {
      if (change.added.length + change.removed.length > 0) changes.push(change);
    },
  });
  matchers.push(matcher);
  const put = (venue: string, marketId: string, title: string, listing: SampleParts["listing"] = {}) =>
    board.apply(sampleMarket(marketId, { listing: { venue, title, ...listing } }), SAMPLE_AT).market;
  const list = () => [...matcher.pairs.values()].map(({ a, b, relation }) => `${a} ${relation} ${b}`).sort();
  return { clock, board, threads, matcher, put, list, changes };
}

test("markets that are on the board before and after the start are matched, and a removed market has no pair", async () => {
  const { clock, board, matcher, put, list } = openMatcher();
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  matcher.start();
  await clock.settle();
  assert.deepEqual(list(), ["alpha/1 identical beta/2"]);
  const inverse = put("gamma", "3", "Not Rain?");
  await clock.settle();
  assert.deepEqual(list(), ["alpha/1 identical beta/2", "alpha/1 inverse gamma/3", "beta/2 inverse gamma/3"]);
  assert.deepEqual(
    matcher.pairs.of("gamma/3").map(({ a }) => a),
    ["alpha/1", "beta/2"],
  );
  board.remove(inverse);
  await clock.settle();
  assert.deepEqual(list(), ["alpha/1 identical beta/2"]);
  assert.deepEqual(matcher.pairs.of("gamma/3"), []);
});

test("pairs of events are found by the slug of either event", async () => {
  const { clock, board, matcher, put } = openMatcher();
  for (const venue of ["alpha", "beta"]) {
    board.applyEvent(sampleEvent("E", { venue }));
    put(venue, "1", "Rain?", { eventId: "E" });
    put(venue, "2", "Snow?", { eventId: "E" });
  }
  matcher.start();
  await clock.settle();
  assert.deepEqual(
    matcher.eventPairs.of("beta:e").map(({ a, b, legCount }) => [a, b, legCount]),
    [["alpha:e", "beta:e", 2]],
  );
  assert.deepEqual(matcher.eventPairs.of("alpha:e"), matcher.eventPairs.of("beta:e"));
});

test("a changed pair is reported with its old and its new values, an unchanged one is not reported", async () => {
  const { clock, matcher, put, changes } = openMatcher();
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  matcher.start();
  await clock.settle();
  put("beta", "2", "Not Rain?");
  put("beta", "3", "Unrelated?");
  await clock.settle();
  assert.deepEqual(
    changes.map(({ added, removed }) => [
      added.map(({ relation }) => relation),
      removed.map(({ relation }) => relation),
    ]),
    [
      [["identical"], []],
      [["inverse"], ["identical"]],
    ],
  );
});

test("rules are sent only for the markets that the thread requests, cut to 8,000 characters, and again when they change", async () => {
  const { clock, threads, matcher, put } = openMatcher();
  put("alpha", "1", "Rain?", { rules: "r".repeat(8_001) });
  put("beta", "2", "Rain?");
  put("beta", "3", "Unmatched?", { rules: "Never sent" });
  matcher.start();
  await clock.settle();
  const listRules = () => threads.requests.flatMap(({ rules }) => rules);
  assert.deepEqual(listRules(), [
    { id: "alpha/1", rules: "r".repeat(8_000) },
    { id: "beta/2", rules: null },
  ]);
  put("alpha", "1", "Rain?", { rules: "New" });
  put("beta", "3", "Unmatched?", { rules: "Never sent, too" });
  await clock.settle();
  assert.deepEqual(listRules().slice(2), [{ id: "alpha/1", rules: "New" }]);
});

test("a large board is sent in batches, nothing is matched before the last batch, and matching runs in slices", async () => {
  const { clock, threads, matcher, put } = openMatcher();
  for (let index = 0; index < 600; index++) put("alpha", String(index), `Question ${index}`);
  matcher.start();
  assert.equal(matcher.isComplete, false);
  await clock.settle();
  assert.deepEqual(
    threads.requests.map(({ markets, limit }) => [markets.length, limit]),
    [[250, 0], [250, 0], [100, 100], ...Array.from({ length: 5 }, () => [0, 100])],
  );
  assert.deepEqual([matcher.isComplete, matcher.report.pendingCount], [true, 0]);
});

test("changes of quotes and of other fields that matching does not read send nothing to the thread", async () => {
  const { clock, threads, matcher, board, put } = openMatcher();
  put("alpha", "1", "Rain?");
  matcher.start();
  await clock.settle();
  const requestsBefore = threads.requests.length;
  for (let count = 1; count < 50; count++) board.applyQuote("alpha", "1", { bid: count / 1_000 }, SAMPLE_AT);
  put("alpha", "1", "Rain?", { takerDelayMs: 500 });
  await clock.settle();
  assert.equal(threads.requests.length, requestsBefore);
});

test("decisions of the operator are sent before the first pair is found, and again after each change", async () => {
  const { clock, threads, matcher, put, list, changes } = openMatcher();
  const forbidden: MatchOverride = { a: "alpha/1", b: "beta/2", decision: "forbidden" };
  matcher.setOverrides([forbidden]);
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  matcher.start();
  await clock.settle();
  assert.deepEqual([list(), changes], [[], []]);
  matcher.setOverrides([{ ...forbidden, decision: "inverse" }]);
  await clock.settle();
  assert.deepEqual(list(), ["alpha/1 inverse beta/2"]);
  assert.equal(threads.requests.filter(({ overrides }) => overrides !== null).length, 2);
});

test("when a thread fails, its pairs are served until a new thread has matched the whole board", async () => {
  const { clock, board, threads, matcher, put, list } = openMatcher();
  put("alpha", "1", "Rain?");
  const closing = put("beta", "2", "Rain?");
  put("alpha", "3", "Snow?");
  put("beta", "4", "Snow?");
  matcher.start();
  await clock.settle();
  assert.deepEqual(matcher.report, { pairs: 2, pendingCount: 0, restarts: 0, isFailing: false });
  threads.failure = new Error("out of memory");
  put("alpha", "5", "Wind?");
  await clock.settle();
  assert.deepEqual([matcher.report.restarts, matcher.report.isFailing], [1, true]);
  // These changes happen while there is no thread.
  board.remove(closing);
  put("beta", "6", "Wind?");
  threads.failure = null;
  assert.deepEqual(list(), ["alpha/1 identical beta/2", "alpha/3 identical beta/4"]);
  await clock.advance(1_000);
  assert.deepEqual(list(), ["alpha/3 identical beta/4", "alpha/5 identical beta/6"]);
  assert.deepEqual(matcher.report, { pairs: 2, pendingCount: 0, restarts: 1, isFailing: false });
});

test("a new thread gets the decisions and the rules again", async () => {
  const { clock, threads, matcher, put } = openMatcher();
  matcher.setOverrides([{ a: "alpha/1", b: "beta/9", decision: "forbidden" }]);
  put("alpha", "1", "Rain?", { rules: "R" });
  put("beta", "2", "Rain?");
  matcher.start();
  await clock.settle();
  const firstRequests = threads.requests.splice(0);
  threads.failure = new Error("out of memory");
  put("alpha", "5", "Wind?");
  await clock.settle();
  threads.failure = null;
  await clock.advance(1_000);
  const countSent = (requests: readonly MatchRequest[]) => [
    requests.flatMap(({ overrides }) => overrides ?? []).length,
    requests.flatMap(({ rules }) => rules).length,
  ];
  assert.deepEqual(countSent(firstRequests), [1, 2]);
  assert.deepEqual(countSent(threads.requests), [1, 2]);
});

test("a thread that fails again and again is replaced after 1, 2, 4, … up to 64 seconds", async () => {
  const { clock, threads, matcher } = openMatcher();
  threads.failure = new Error("out of memory");
  matcher.start();
  await clock.settle();
  for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 64, 64].entries()) {
    await clock.advance(seconds * 1_000 - 1);
    assert.equal(threads.openedCount, index + 1);
    await clock.advance(1);
    assert.equal(threads.openedCount, index + 2);
  }
  assert.equal(matcher.report.isFailing, true);
});

test("after `stop` no thread is opened and nothing is sent", async () => {
  const { clock, threads, matcher, put } = openMatcher();
  matcher.start();
  await clock.settle();
  const requestsBefore = threads.requests.length;
  await matcher.stop();
  put("alpha", "1", "Rain?");
  await clock.advance(100_000);
  assert.deepEqual([threads.openedCount, threads.requests.length, clock.pending], [1, requestsBefore, 0]);
});
