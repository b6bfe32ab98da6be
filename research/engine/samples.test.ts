import assert from "node:assert/strict";
import { test } from "node:test";
import { ENGINE_COEFFICIENTS, estimate } from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { createRow, daysBefore, RESOLVED_AT } from "../../test/support/engine/sample-rows.ts";
import type { ResolvedRow } from "./rows.ts";
import { createSamples, estimateSamples } from "./samples.ts";
import { toQuestionHistories, viewQuestion } from "./views.ts";

const horizonsOf = (...prices: ResolvedRow["prices"]) =>
  createSamples(toQuestionHistories([createRow({ prices })])).map(({ days, market }) => [days, market]);

test("the price of a sample is the newest price at the horizon, unless it is stale", () => {
  assert.deepEqual(horizonsOf([daysBefore(8), 0.2], [daysBefore(1), 0.3]), [
    [0.25, 0.3],
    [1, 0.3],
    [7, 0.2],
  ]);
  // A price may be 3 days old at the horizons of 0.25 and 1 day, and 15 days old at 30 days.
  assert.deepEqual(horizonsOf([daysBefore(4.5), 0.2]), []);
  assert.deepEqual(horizonsOf([daysBefore(44), 0.2]), [[30, 0.2]]);
  assert.deepEqual(horizonsOf([daysBefore(46), 0.2]), []);
  assert.deepEqual(horizonsOf(), []);
});

test("a view does not depend on the outcome, the resolution time, or later prices", () => {
  const prices: ResolvedRow["prices"] = [
    [daysBefore(9), 0.2],
    [daysBefore(5), 0.4],
  ];
  const asOf = RESOLVED_AT - 6 * DAY_MS;
  const viewWith = (changes: Partial<ResolvedRow>) => {
    const [history] = toQuestionHistories([createRow({ prices, ...changes }), createRow({ market_id: "other" })]);
    assert.ok(history !== undefined);
    return viewQuestion(history, asOf);
  };
  const view = viewWith({});
  assert.deepEqual(viewWith({ outcome: 0, resolved_at: daysBefore(-3), category: "sports" }), view);
  assert.deepEqual(viewWith({ prices: prices.slice(0, 1) }), view);
  assert.deepEqual(view.prices, [{ at: RESOLVED_AT - 9 * DAY_MS, yesPrice: 0.2 }]);
});

test("a deadline after the last resolution in the file is not used", () => {
  const title = "Will it happen before July?";
  const histories = toQuestionHistories([
    createRow({ title, close_at: daysBefore(-1) }),
    createRow({ title, close_at: daysBefore(-9) }),
    createRow({ resolved_at: daysBefore(-2) }),
  ]);
  const views = histories.map((history) => viewQuestion(history, RESOLVED_AT - 2 * DAY_MS));
  assert.deepEqual(
    views.map(({ closeAt, deadlineAt }) => [closeAt, deadlineAt]),
    [
      [RESOLVED_AT + DAY_MS, RESOLVED_AT + DAY_MS],
      [null, null],
      [null, null],
    ],
  );
});

test("the markets of an event become legs of the view, unless their prices sum to more than 1.25", () => {
  const legsAt = (first: number, second: number, changes: Partial<ResolvedRow> = {}) => {
    const [history] = toQuestionHistories([
      createRow({ event_id: "E", prices: [[daysBefore(2), first]] }),
      createRow({ event_id: "E", market_id: "N", prices: [[daysBefore(2), second]], ...changes }),
    ]);
    return history === undefined ? null : viewQuestion(history, RESOLVED_AT - DAY_MS).event;
  };
  assert.deepEqual(
    legsAt(0.6, 0.45)?.legs.map(({ yesPrice }) => yesPrice),
    [0.6, 0.45],
  );
  assert.equal(legsAt(0.6, 0.45)?.isExhaustive, true);
  assert.equal(legsAt(0.6, 0.2)?.isExhaustive, false);
  assert.equal(legsAt(0.9, 0.8), null);
  assert.equal(legsAt(0.6, 0.45, { venue: "venue_b" }), null);
});

test("a view omits later prices and stale prices of other markets, and an opening time after the view", () => {
  const at = RESOLVED_AT - 3 * DAY_MS;
  const viewWith = (prices: ResolvedRow["prices"]) => {
    const [history] = toQuestionHistories([
      createRow({ event_id: "E", created_at: daysBefore(2.9), prices: [[daysBefore(4), 0.6]] }),
      createRow({ event_id: "E", market_id: "N", prices }),
    ]);
    assert.ok(history !== undefined);
    return viewQuestion(history, at);
  };
  const { event, openAt } = viewWith([
    [daysBefore(4), 0.45],
    [daysBefore(2), 0.1],
  ]);
  assert.deepEqual(
    event?.legs.map(({ yesPrice }) => yesPrice),
    [0.6, 0.45],
  );
  assert.equal(openAt, null);
  assert.equal(viewWith([[daysBefore(6.1), 0.45]]).event, null, "more than three days old");
  assert.equal(viewWith([[daysBefore(2), 0.45]]).event, null, "later");
});

test("the probability of a sample is the engine's estimate for its view", () => {
  const samples = createSamples(
    toQuestionHistories([createRow({ prices: [[daysBefore(2), 0.97]], close_at: daysBefore(0) })]),
  );
  const scored = estimateSamples(samples, ENGINE_COEFFICIENTS);
  assert.equal(scored.length, 2);
  for (const { view, probability } of scored)
    assert.equal(probability, estimate(view, ENGINE_COEFFICIENTS)?.probability);
});
