import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RETRY_DELAYS_MS } from "../../../domain/webhook-limits.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import type { WebhookAnswer } from "../../../ports/webhook-out.ts";
import type { DeliveryMessage, FailureStreak } from "./model.ts";
import { classifyAttempt } from "./outcome.ts";

const NO_FAILURES: FailureStreak = { count: 0, since: null, lastAt: null };
const MESSAGE: DeliveryMessage = {
  eventId: 1,
  eventType: "price_shift",
  body: "{}",
  attempts: 0,
  firstAttemptAt: null,
};

const answer = (status: number, fields: { retryAt?: number; bodyHead?: string } = {}): WebhookAnswer => ({
  kind: "answered",
  status,
  retryAt: null,
  bodyHead: "",
  ...fields,
});
const FAILURE: WebhookAnswer = { kind: "failed", failure: "timeout" };

const judge = (
  result: WebhookAnswer,
  {
    at = 0,
    streak = NO_FAILURES,
    attempts = 0,
    uniform = 0,
  }: {
    at?: number;
    streak?: FailureStreak;
    attempts?: number;
    uniform?: number;
  } = {},
) =>
  classifyAttempt({ ...MESSAGE, attempts }, result, { startedAt: at, endedAt: at, latencyMs: 1 }, streak, {
    retryDelaysMs: RETRY_DELAYS_MS,
    random: { uniform: () => uniform, bytes: (length) => new Uint8Array(length) },
  });

test("only a 2xx status is a delivery and ends the streak of failures", () => {
  const streak = { count: 3, since: 1, lastAt: 2 };
  for (let status = 100; status < 600; status++) {
    const outcome = judge(answer(status), { at: 5, streak });
    assert.equal(outcome.delivery.status === "delivered", status >= 200 && status < 300, String(status));
    assert.deepEqual(
      outcome.streak,
      outcome.delivery.status === "delivered" ? NO_FAILURES : { count: 4, since: 1, lastAt: 5 },
    );
  }
  assert.equal(judge(FAILURE).delivery.status, "retrying");
});

test("a delivery is attempted ten times, after the documented delays lengthened by at most a tenth", () => {
  const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1_000);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(9), (uniform, attempts) => {
      const { delivery } = judge(FAILURE, { uniform, attempts, at: 1_000 });
      const delay = delays[attempts];
      if (delay === undefined) return assert.deepEqual([delivery.status, delivery.nextAttemptAt], ["failed", null]);
      const waitMs = (delivery.nextAttemptAt ?? 0) - 1_000;
      assert.ok(waitMs >= delay && waitMs <= 1.1 * delay);
    }),
  );
});

test("a delay begins at the end of the attempt, and a random value of 0.5 adds a twentieth", () => {
  const times = { startedAt: 1_000, endedAt: 9_000, latencyMs: 8_000.4 };
  const random = { uniform: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
  const ports = { retryDelaysMs: RETRY_DELAYS_MS, random };
  const first = classifyAttempt(MESSAGE, FAILURE, times, NO_FAILURES, ports).delivery;
  assert.deepEqual([first.firstAttemptAt, first.lastAttemptAt, first.nextAttemptAt], [1_000, 1_000, 9_000 + 5_250]);
  assert.equal(first.latencyMs, 8_000, "whole milliseconds, as they are stored");
  const retry = classifyAttempt(
    { ...MESSAGE, attempts: 1, firstAttemptAt: 7 },
    FAILURE,
    times,
    NO_FAILURES,
    ports,
  ).delivery;
  assert.deepEqual([retry.firstAttemptAt, retry.lastAttemptAt], [7, 1_000]);
});

test("a longer Retry-After delays the retry by at most 24 hours and the other events of the webhook by at most one hour", () => {
  const cases = [
    [2_000, 5_000, 2_000],
    [60_000, 60_000, 60_000],
    [2 * HOUR_MS, 2 * HOUR_MS, HOUR_MS],
    [9 * DAY_MS, DAY_MS, HOUR_MS],
  ] as const;
  for (const [retryAt, nextAttemptAt, pausedUntil] of cases) {
    const outcome = judge(answer(503, { retryAt }));
    assert.deepEqual([outcome.delivery.nextAttemptAt, outcome.pausedUntil], [nextAttemptAt, pausedUntil]);
  }
});

test("a 410 response disables the webhook at once", () => {
  const { delivery, disables } = judge(answer(410));
  assert.deepEqual([delivery.status, disables], ["failed", true]);
});

/** Runs failures at these times and returns the first time at which the webhook is disabled. */
function disabledAt(times: readonly number[], results: (at: number) => WebhookAnswer = () => FAILURE): number | null {
  let streak = NO_FAILURES;
  for (const at of times) {
    const outcome = judge(results(at), { at, streak });
    if (outcome.disables) return at;
    streak = outcome.streak;
  }
  return null;
}
const every = (stepMs: number, untilMs: number) =>
  Array.from({ length: Math.floor(untilMs / stepMs) + 1 }, (_, index) => index * stepMs);

test("five days of failures without a success disable the webhook", () => {
  assert.equal(disabledAt(every(HOUR_MS, 10 * DAY_MS)), 5 * DAY_MS);
  assert.equal(disabledAt(every(26 * HOUR_MS, 10 * DAY_MS)), 130 * HOUR_MS);
  assert.equal(disabledAt(every(30 * HOUR_MS, 10 * DAY_MS)), 5 * DAY_MS);
  const succeedsAt = 4 * DAY_MS;
  const results = (at: number) => (at === succeedsAt ? answer(200) : FAILURE);
  assert.equal(disabledAt(every(HOUR_MS, 10 * DAY_MS), results), succeedsAt + HOUR_MS + 5 * DAY_MS);
});

test("failures of rare events do not disable the webhook", () => {
  assert.equal(disabledAt(every(7 * DAY_MS, 70 * DAY_MS)), null);
  assert.equal(disabledAt(every(31 * HOUR_MS, 70 * DAY_MS)), null);
});
