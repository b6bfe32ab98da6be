import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { adapterHarness } from "../../../test/support/venues/adapter-harness.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import { createLimitlessVenue } from "./index.ts";

const NOW = Date.UTC(2026, 10, 21, 4);
const signal = new AbortController().signal;
const { listing } = sampleMarket("m-1", { listing: { venueKeys: { slug: "m-1", kind: "clob" } } });

/** Length of the simulated venue's windows and distance of their points. */
const WINDOWS: Readonly<Record<string, readonly [lengthMs: number, stepMs: number]>> = {
  "1h": [HOUR_MS, MINUTE_MS],
  "6h": [6 * HOUR_MS, 5 * MINUTE_MS],
  "1d": [DAY_MS, 15 * MINUTE_MS],
  "1w": [7 * DAY_MS, 30 * MINUTE_MS],
  "1m": [30 * DAY_MS, 12 * HOUR_MS],
  all: [Number.POSITIVE_INFINITY, 12 * HOUR_MS],
};
const priceAt = (at: number) => 0.2 + ((at / MINUTE_MS) % 600) / 1_000;

interface Venue {
  /** Whether the window ends at `to` instead of now. */
  readonly honoursRange?: boolean;
  readonly firstPointAt?: number;
  readonly pointsMax?: number;
  readonly hasPoint?: (at: number) => boolean;
}

function setUp({ honoursRange = true, firstPointAt = 0, pointsMax = Number.POSITIVE_INFINITY, hasPoint }: Venue = {}) {
  const harness = adapterHarness(
    (ports) =>
      createLimitlessVenue({
        ...ports,
        socketIo: { connect: () => assert.fail("opened a stream") },
        restUrl: "https://api.limitless.test",
        wsUrl: "wss://ws.limitless.test",
      }),
    ({ searchParams }) => {
      const [lengthMs, stepMs] = WINDOWS[searchParams.get("interval") ?? "all"] ?? [0, 1];
      const [from, to] = ["from", "to"].map((name) => (honoursRange ? searchParams.get(name) : null));
      const toMs = to == null ? NOW : Date.parse(to);
      const fromMs = Math.max(toMs - lengthMs, from == null ? 0 : Date.parse(from), firstPointAt - 1);
      const prices: object[] = [];
      for (let at = Math.floor(toMs / stepMs) * stepMs; at > fromMs && prices.length < pointsMax; at -= stepMs)
        if (hasPoint?.(at) !== false) prices.push({ timestamp: at, price: priceAt(at) });
      return { body: JSON.stringify({ title: listing.title, prices }) };
    },
    NOW,
  );
  const readHistory = async (pastMs: number, intervalMs: number) => {
    const points = await harness.clock.until(
      harness.venue.getHistory(listing, { fromMs: NOW - pastMs, toMs: NOW, intervalMs }, signal),
    );
    for (const [index, { startAt, endAt, yesPrice }] of points.entries()) {
      assert.ok(startAt >= (points[index - 1]?.endAt ?? NOW - pastMs) && startAt < endAt && endAt <= NOW);
      assert.equal(yesPrice, Math.round(priceAt(endAt) * 1e6) / 1e6);
    }
    return points;
  };
  const requests = () =>
    harness.urls().map(({ searchParams }) => {
      const [from, to] = ["from", "to"].map((name) => searchParams.get(name));
      const daysAgo = (text: string | null | undefined) => (NOW - Date.parse(text ?? "")) / DAY_MS;
      return [searchParams.get("interval"), ...(from == null ? [] : [daysAgo(from), daysAgo(to)])];
    });
  return { ...harness, readHistory, requests };
}

test("pages through 30 days in windows of a week and returns a price for every half hour", async () => {
  const { readHistory, requests, drops } = setUp();
  const points = await readHistory(30 * DAY_MS, HOUR_MS);
  assert.equal(points.length, 30 * 48);
  assert.ok(points.every(({ startAt, endAt }) => endAt - startAt === 30 * MINUTE_MS));
  assert.deepEqual(requests(), [
    ["1w", 7, 0],
    ["1w", 14, 7],
    ["1w", 21, 14],
    ["1w", 28, 21],
    ["1w", 30, 28],
  ]);
  assert.deepEqual(drops, {});
});

test("pages through two days in windows of a day, and returns points of the requested length", async () => {
  const { readHistory, requests } = setUp();
  const points = await readHistory(2 * DAY_MS, 5 * MINUTE_MS);
  assert.deepEqual(requests(), [
    ["1d", 1, 0],
    ["1d", 2, 1],
  ]);
  assert.equal(points.length, 2 * 96);
  assert.ok(points.every(({ startAt, endAt }) => endAt - startAt === 5 * MINUTE_MS));
});

test("if the venue ignores the range, stops after the second page and reads the rest from a longer window", async () => {
  const { readHistory, requests, drops } = setUp({ honoursRange: false });
  const points = await readHistory(30 * DAY_MS, HOUR_MS);
  assert.deepEqual(requests(), [["1w", 7, 0], ["1w", 14, 7], ["1m"]]);
  assert.deepEqual(drops, { history_range_ignored: 1 });
  const [lastWeek, before] = [7, 30].map((days) => points.filter(({ endAt }) => endAt > NOW - days * DAY_MS).length);
  assert.deepEqual([lastWeek, before], [7 * 48, 7 * 48 + 23 * 2]);
  assert.ok(points.every(({ startAt, endAt }) => endAt - startAt <= HOUR_MS));
});

test("if the venue returns only the newest points of a page, continues at the oldest one", async () => {
  const { readHistory, requests } = setUp({ pointsMax: 100 });
  const points = await readHistory(DAY_MS, HOUR_MS);
  assert.equal(points.length, 24 * 12);
  assert.ok(requests().length <= 5);
});

test("sends at most five requests with a range and one without", async () => {
  const { readHistory, requests } = setUp({ pointsMax: 2 });
  await readHistory(30 * DAY_MS, HOUR_MS);
  assert.deepEqual(
    requests().map((request) => request.length),
    [3, 3, 3, 3, 3, 1],
  );
});

test("a gap between the venue's points is not filled", async () => {
  const gapEnd = NOW - 10 * HOUR_MS;
  const { readHistory } = setUp({ hasPoint: (at) => at <= gapEnd - 4 * HOUR_MS || at >= gapEnd });
  const points = await readHistory(DAY_MS, HOUR_MS);
  const first = points.find(({ endAt }) => endAt >= gapEnd);
  assert.deepEqual([first?.startAt, first?.endAt], [gapEnd - 5 * MINUTE_MS, gapEnd]);
  assert.ok(points.every(({ startAt, endAt }) => endAt - startAt === 5 * MINUTE_MS));
});

test("returns nothing for the time before the venue's first point", async () => {
  const { readHistory, drops } = setUp({ firstPointAt: NOW - 2 * HOUR_MS });
  const points = await readHistory(30 * DAY_MS, HOUR_MS);
  assert.deepEqual([points.length, points[0]?.endAt], [5, NOW - 2 * HOUR_MS]);
  assert.deepEqual(drops, {});
});

test("returns no points, after two requests, if the venue has no prices", async () => {
  const { readHistory, requests, drops } = setUp({ hasPoint: () => false });
  assert.deepEqual(await readHistory(30 * DAY_MS, HOUR_MS), []);
  assert.equal(requests().length, 2);
  assert.deepEqual(drops, {});
});

test("a range within the shortest window needs one request", async () => {
  const { readHistory, requests } = setUp();
  assert.equal((await readHistory(HOUR_MS, 5 * MINUTE_MS)).length, 60);
  assert.deepEqual(requests(), [["1h", 1 / 24, 0]]);
});
