import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { groundTruthOf } from "./list-event.ts";
import { uniform } from "./random.ts";
import { createQuarterHourRound, drawEvent } from "./templates/index.ts";
import { deadlineOf, type OutcomeProcess, type ResolutionCriterion, trueProbability } from "./truth.ts";
import { SANDBOX_VENUES } from "./types.ts";
import { Universe } from "./universe.ts";

const GENESIS = Date.UTC(2026, 10, 20);
/** A hash key that the world does not use. */
const SALT = 9_999;
const BINS = 10;

interface Bin {
  count: number;
  /** Sum of outcomes (0 or 1) minus probabilities. */
  excess: number;
  variance: number;
}

/** Adds the probability at a random time, and its deviation from the outcome, to the probability's bin. */
function addToBins(bins: readonly Bin[], process: OutcomeProcess, criterion: ResolutionCriterion): void {
  const until = deadlineOf(criterion) ?? process.revealAt;
  const at = process.openAt + uniform(process.seed, process.underlying, SALT) * (until - process.openAt);
  const p = trueProbability(process, criterion, at);
  const bin = bins[Math.min(BINS - 1, Math.floor(p * BINS))];
  if (bin === undefined || p === 0 || p === 1) return;
  bin.count += 1;
  bin.excess += trueProbability(process, criterion, process.revealAt) - p;
  bin.variance += p * (1 - p);
}

test("true probabilities over eight seeds are calibrated in every bin", () => {
  const bins = Array.from({ length: BINS }, (): Bin => ({ count: 0, excess: 0, variance: 0 }));
  for (let seed = 101; seed <= 108; seed++) {
    for (let underlying = 0; underlying < 1_500; underlying++) {
      const days = 0.2 + 60 * uniform(seed, underlying, SALT, 1) ** 2;
      const drawnCloseAt = GENESIS + Math.round(days * 24) * HOUR_MS + HOUR_MS;
      const input = { seed, underlying, openAt: GENESIS, closeAt: drawnCloseAt };
      const { definition, closeAt } =
        underlying % 10 === 0 ? { definition: createQuarterHourRound(input), closeAt: drawnCloseAt } : drawEvent(input);
      const { model, markets } = definition;
      const process: OutcomeProcess = { seed, underlying, model, openAt: GENESIS, revealAt: closeAt };
      // One market per event, because markets of one event are not independent.
      const market = markets[Math.floor(uniform(seed, underlying, SALT, 2) * markets.length)];
      if (market !== undefined) addToBins(bins, process, market.criterion);
    }
  }
  for (const [number, { count, excess, variance }] of bins.entries()) {
    assert.ok(count > 200, `bin ${number} has ${count}`);
    assert.ok(
      Math.abs(excess) <= 4 * Math.sqrt(variance),
      `bin ${number}: ${excess} of ${count}, error ${Math.sqrt(variance)}`,
    );
  }
});

/** Yields all events of the worlds with these seeds, with the ground truth of each market. */
function* eventsWithTruth(seeds: readonly number[]) {
  for (const seed of seeds) {
    const universe = new Universe({ seed, genesis: GENESIS, marketCount: 200 });
    for (const venue of SANDBOX_VENUES) {
      for (const event of universe.listing(venue, GENESIS).events) {
        yield { event, truths: event.markets.map((market) => groundTruthOf(market)) };
      }
    }
  }
}

test("probabilities of two competing events, and of their opposites, are calibrated over 4,000 seeds", () => {
  const bins = Array.from({ length: BINS }, (): Bin => ({ count: 0, excess: 0, variance: 0 }));
  for (let seed = 1; seed <= 4_000; seed++) {
    const times = { openAt: GENESIS, revealAt: GENESIS + 30 * DAY_MS };
    const createProcess = (underlying: number): OutcomeProcess => ({
      seed,
      underlying,
      ...times,
      model: { kind: "hazard", perDay: 0.005 + 0.08 * uniform(seed, underlying, SALT, 2) },
    });
    const deadline = times.revealAt - 3 * DAY_MS;
    const other = createProcess(2);
    for (const kind of ["either", "first"] as const) {
      addToBins(bins, createProcess(1), { kind, deadline, other });
      addToBins(bins, createProcess(1), { kind: "not", criterion: { kind, deadline, other } });
    }
  }
  // The deviations of a criterion and its opposite cancel, so each bin is tested instead of their sum.
  for (const [index, { count, excess, variance }] of bins.entries()) {
    assert.ok(count > 100, `bin ${index}: ${count}`);
    assert.ok(Math.abs(excess) < 6 * Math.sqrt(variance), `bin ${index}: ${excess} of ${count}`);
  }
});

test("true probabilities of a ladder decrease with the threshold and increase with the deadline, and the reverse for opposite questions", () => {
  let ladders = 0;
  for (const { event, truths } of eventsWithTruth([1, 2, 3])) {
    if (!event.ladder || truths.length < 2) continue;
    ladders += 1;
    for (let step = 0; step <= 20; step++) {
      const at = event.openAt + ((event.closeAt - event.openAt) * step) / 20;
      const probabilities = truths.map(({ process, criterion }) => trueProbability(process, criterion, at));
      const criterion = truths[0]?.criterion;
      assert.ok(criterion !== undefined);
      const isOpposite =
        criterion.kind === "not" || (criterion.kind === "range" && criterion.above === Number.NEGATIVE_INFINITY);
      const isIncreasing = (deadlineOf(criterion) !== null) !== isOpposite;
      const ordered = isIncreasing ? probabilities : probabilities.toReversed();
      assert.ok(
        ordered.every((p, index) => index === 0 || p >= (ordered[index - 1] ?? 0) - 1e-9),
        `${event.title}: ${probabilities}`,
      );
    }
  }
  assert.ok(ladders > 30, String(ladders));
});

test("true probabilities of a mutually exclusive event sum to at most 1, and to 1 if the event is exhaustive", () => {
  let exhaustive = 0;
  for (const { event, truths } of eventsWithTruth([4, 5])) {
    if (!event.mutuallyExclusive) continue;
    for (let step = 0; step < 10; step++) {
      const at = event.openAt + ((event.closeAt - event.openAt) * step) / 10;
      const sum = truths.reduce((total, { process, criterion }) => total + trueProbability(process, criterion, at), 0);
      assert.ok(sum <= 1 + 1e-6, `${event.title}: ${sum}`);
      if (event.exhaustive) {
        assert.ok(Math.abs(sum - 1) < 1e-6, `${event.title}: ${sum}`);
        exhaustive += 1;
      }
    }
  }
  assert.ok(exhaustive > 50);
});

test("after the outcome is revealed, the true probability is 0 or 1 and does not change", () => {
  for (const { event, truths } of eventsWithTruth([6])) {
    for (const { process, criterion, tradingEndsAt } of truths) {
      const until = deadlineOf(criterion) ?? process.revealAt;
      const revealed = trueProbability(process, criterion, until);
      assert.ok(revealed === 0 || revealed === 1);
      assert.equal(trueProbability(process, criterion, until + 30 * DAY_MS), revealed);
      assert.ok(tradingEndsAt <= event.closeAt && tradingEndsAt > event.openAt);
    }
  }
});
