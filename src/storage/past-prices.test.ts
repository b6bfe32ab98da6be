import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket, samplePage } from "../../test/support/market-samples.ts";
import { openIngestHarness } from "../../test/support/venues/ingest-harness.ts";
import type { BoardMarket } from "../board/index.ts";
import { AppError, VenueError } from "../domain/errors.ts";
import type { MarketListing } from "../domain/market.ts";
import type { HistoryPoint } from "../domain/trade.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const failure = new VenueError("timeout", "no answer", { retryable: true });

const point = (endAt: number, yesPrice: number | null, lengthMs = HOUR_MS): HistoryPoint => ({
  ...{ startAt: endAt - lengthMs, endAt, yesPrice, bid: null, ask: null, volumeUsd: null },
});

/** One market on the board, as yet unknown to the store. */
function bench(listing: Partial<MarketListing> = {}) {
  const opened = openIngestHarness();
  const [venue] = opened.venues;
  if (venue === undefined) throw new Error("a bench has a venue");
  const snapshot = sampleMarket("m", { listing });
  venue.show(snapshot);
  for (const shown of samplePage([snapshot]).markets) opened.recorder.note(opened.board.apply(shown, SAMPLE_AT));
  const market = (): BoardMarket => {
    const found = opened.market("m");
    if (found === null) throw new Error("the market is on the board");
    return found;
  };
  const asked = () => venue.asked("getHistory").length;
  return { ...opened, venue, current: market, asked };
}

test("the first read of a market just met stores it, fetches its past in both grains and keeps it", async () => {
  const { venue, past, history, current, asked } = bench();
  venue.history.set("m", [point(SAMPLE_AT - DAY_MS, 0.3), point(SAMPLE_AT, 0.4)]);
  const reading = await past.read(current(), "7d", 48);
  assert.deepEqual([current().storeKey, reading.period, reading.generatedAt], [1, "7d", SAMPLE_AT]);
  assert.ok(reading.points.length > 0);
  assert.deepEqual(
    history.ranges.map(({ intervalMs, fromMs, toMs }) => [intervalMs, toMs - fromMs, toMs]),
    [
      [HOUR_MS, 30 * DAY_MS, SAMPLE_AT],
      [HOUR_MS / 12, 2 * DAY_MS, SAMPLE_AT],
    ],
  );
  await past.read(current(), "30d", 10);
  assert.equal(asked(), 2);
});

test("calls at the same time share one fetch", async () => {
  const { venue, clock, past, current, asked } = bench();
  venue.answerMs = 100;
  const reads = Promise.all([
    past.read(current(), "7d", 48),
    past.read(current(), "48h", 48),
    past.read(current(), "7d", 10),
  ]);
  await clock.until(reads);
  assert.equal(asked(), 2);
});

test("what the store has is not fetched again after a restart", async () => {
  const { past, history, current, asked } = bench();
  for (const intervalMs of [HOUR_MS, HOUR_MS / 12]) {
    history.ranges.push({ key: 1, intervalMs, fromMs: SAMPLE_AT - DAY_MS, toMs: SAMPLE_AT - HOUR_MS });
  }
  await past.read(current(), "7d", 48);
  assert.equal(asked(), 0);
});

test("nothing is asked for from before a market opened", async () => {
  const { past, history, current } = bench({ openAt: SAMPLE_AT - 90 * 60_000 });
  await past.read(current(), "7d", 48);
  assert.deepEqual(
    history.ranges.map(({ fromMs }) => SAMPLE_AT - fromMs),
    [2 * HOUR_MS, 90 * 60_000],
  );
});

test("a market that has yet to open has no past to ask for", async () => {
  const { past, current, asked } = bench({ openAt: SAMPLE_AT + DAY_MS });
  assert.deepEqual((await past.read(current(), "7d", 48)).points, []);
  assert.equal(asked(), 0);
});

test("with the venue down and nothing stored, the venue's error is told; the next read asks again", async () => {
  const { venue, past, current, asked } = bench();
  venue.failing.set("getHistory", failure);
  await assert.rejects(past.read(current(), "7d", 48), (error) => error === failure);
  assert.equal(past.has(current()), false);
  venue.failing.clear();
  await past.read(current(), "7d", 48);
  assert.deepEqual([asked(), past.has(current())], [3, true]);
});

test("with the venue down and something stored, what is stored is told", async () => {
  const { venue, recorder, past, history, current } = bench();
  await recorder.flush();
  history.points.set(1, [point(SAMPLE_AT, 0.4)]);
  venue.failing.set("getHistory", failure);
  assert.equal((await past.read(current(), "7d", 48)).points.length, 1);
});

test("the price of a day ago is taken from the last point at or before that instant", async () => {
  const { venue, past, current } = bench();
  const dayAgo = SAMPLE_AT - DAY_MS;
  venue.history.set("m", [point(dayAgo - HOUR_MS, 0.2), point(dayAgo, null), point(dayAgo + HOUR_MS, 0.9)]);
  await past.read(current(), "7d", 48);
  assert.equal(current().priceDayAgo, 0.2);
});

test("a market of a venue that nobody reads any more has what is stored of it", async () => {
  const { past, board, history } = bench();
  board.restore(sampleMarket("m", { listing: { venue: "gone" } }), 7);
  history.points.set(7, [point(SAMPLE_AT, 0.4)]);
  const market = board.find("gone", "m");
  assert.ok(market);
  assert.equal((await past.read(market, "7d", 48)).points.length, 1);
});

test("a market just met while the store is away has no history to tell, and says so; once stored it has", async () => {
  const { store, past, current, asked } = bench();
  const upsert = store.upsertMarkets.bind(store);
  store.upsertMarkets = async () => {
    throw new AppError("store_unavailable", "The store is away.");
  };
  const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "store_unavailable";
  await assert.rejects(past.read(current(), "7d", 48), isUnavailable);
  assert.equal(asked(), 0);
  store.upsertMarkets = upsert;
  assert.equal((await past.read(current(), "7d", 48)).intervalSeconds, 3_600);
});
