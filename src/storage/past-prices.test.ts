import assert from "node:assert/strict";
import { test } from "node:test";
import { isStoreUnavailable } from "../../test/support/asserts/error-code.ts";
import { SAMPLE_AT, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { samplePoint } from "../../test/support/storage-samples.ts";
import { openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import type { BoardMarket } from "../board/index.ts";
import { AppError, VenueError } from "../domain/errors.ts";
import type { MarketListing } from "../domain/market.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";

const venueFailure = new VenueError("timeout", "timed out", { retryable: true });

const createPoint = (endAt: number, yesPrice: number | null) => samplePoint(endAt - HOUR_MS, endAt, yesPrice);

/** One market that is on the board but not in the store. */
function openHarness(listing: Partial<MarketListing> = {}) {
  const harness = openScriptedVenue();
  const snapshot = sampleMarket("m", { listing });
  harness.venue.setMarkets(snapshot);
  harness.storeWriter.queueChange(harness.board.apply(snapshot, SAMPLE_AT));
  const findMarket = (): BoardMarket => {
    const foundMarket = harness.market("m");
    if (foundMarket === null) throw new Error("The market is not on the board");
    return foundMarket;
  };
  const requestCount = () => harness.venue.callsOf("getHistory").length;
  const read = () => harness.pastPrices.read(findMarket(), "7d", 48);
  return { ...harness, findMarket, requestCount, read };
}

test("the first read of a new market stores the market and fetches its hourly and five-minute history once", async () => {
  const { venue, pastPrices, findMarket, requestCount, read } = openHarness();
  venue.history.set("m", [createPoint(SAMPLE_AT - 30 * DAY_MS + HOUR_MS, 0.3), createPoint(SAMPLE_AT, 0.4)]);
  const reading = await read();
  assert.deepEqual([findMarket().storeKey, reading.period, reading.generatedAt], [1, "7d", SAMPLE_AT]);
  assert.ok(reading.points.length > 0);
  assert.deepEqual(venue.historyRanges, [
    { fromMs: SAMPLE_AT - 30 * DAY_MS, toMs: SAMPLE_AT, intervalMs: HOUR_MS },
    { fromMs: SAMPLE_AT - 2 * DAY_MS, toMs: SAMPLE_AT, intervalMs: HOUR_MS / 12 },
  ]);
  await pastPrices.read(findMarket(), "30d", 10);
  assert.equal(requestCount(), 2);
});

const FIVE_MINUTES_MS = HOUR_MS / 12;
const lastDays = (days: number) => ({
  fromMs: SAMPLE_AT - days * DAY_MS,
  toMs: SAMPLE_AT,
  intervalMs: FIVE_MINUTES_MS,
});

test("a read of five-minute prices of the last two days fetches only these", async () => {
  const { venue, storeWriter, history, pastPrices, findMarket } = openHarness();
  await storeWriter.flush();
  history.points.set(1, [samplePoint(SAMPLE_AT - 2 * DAY_MS, SAMPLE_AT, 0.4)]);
  const fetched = () => venue.historyRanges.map(({ intervalMs }) => intervalMs);
  await pastPrices.readRange(findMarket(), lastDays(2));
  assert.deepEqual(fetched(), [FIVE_MINUTES_MS]);
  assert.equal(pastPrices.has(findMarket()), false);
  await pastPrices.readRange(findMarket(), lastDays(3));
  assert.deepEqual(fetched(), [FIVE_MINUTES_MS, HOUR_MS]);
  assert.equal(pastPrices.has(findMarket()), true);
});

test("a read of five-minute prices also fetches hourly ones if its first price is missing", async () => {
  const { venue, storeWriter, history, pastPrices, findMarket } = openHarness();
  await storeWriter.flush();
  history.points.set(1, [samplePoint(SAMPLE_AT - DAY_MS, SAMPLE_AT, 0.4)]);
  await pastPrices.readRange(findMarket(), lastDays(2));
  assert.deepEqual(
    venue.historyRanges.map(({ intervalMs }) => intervalMs),
    [FIVE_MINUTES_MS, HOUR_MS],
  );
});

test("records only the range from the first point on as fetched, and no range if the venue returns no points", async () => {
  const { venue, pastPrices, history, findMarket } = openHarness();
  venue.history.set("m", [createPoint(SAMPLE_AT - 9 * DAY_MS, 0.3), createPoint(SAMPLE_AT - 8 * DAY_MS, 0.4)]);
  await pastPrices.read(findMarket(), "30d", 48);
  assert.deepEqual(history.ranges, [
    { key: 1, intervalMs: HOUR_MS, fromMs: SAMPLE_AT - 9 * DAY_MS - HOUR_MS, toMs: SAMPLE_AT },
  ]);
});

test("concurrent reads of a market share one fetch", async () => {
  const { venue, clock, pastPrices, findMarket, requestCount, read } = openHarness();
  venue.responseMs = 100;
  const reads = Promise.all([
    read(),
    pastPrices.read(findMarket(), "48h", 48),
    pastPrices.read(findMarket(), "7d", 10),
  ]);
  await clock.until(reads);
  assert.equal(requestCount(), 2);
});

test("a new instance does not fetch stored history again", async () => {
  const { history, requestCount, read } = openHarness();
  for (const intervalMs of [HOUR_MS, HOUR_MS / 12]) {
    history.ranges.push({ key: 1, intervalMs, fromMs: SAMPLE_AT - DAY_MS, toMs: SAMPLE_AT - HOUR_MS });
  }
  await read();
  assert.equal(requestCount(), 0);
});

test("requests no history for times before the market opened", async () => {
  const { venue, read } = openHarness({ openAt: SAMPLE_AT - 90 * 60_000 });
  await read();
  const rangeLengths = venue.historyRanges.map(({ fromMs }) => SAMPLE_AT - fromMs);
  assert.deepEqual(rangeLengths, [2 * HOUR_MS, 90 * 60_000]);
});

test("requests no history for a market that has not opened yet", async () => {
  const { requestCount, read } = openHarness({ openAt: SAMPLE_AT + DAY_MS });
  assert.deepEqual((await read()).points, []);
  assert.equal(requestCount(), 0);
});

test("throws the venue error if no history is stored, and the next read repeats the request", async () => {
  const { venue, pastPrices, findMarket, requestCount, read } = openHarness();
  venue.failing.set("getHistory", venueFailure);
  await assert.rejects(read(), (error) => error === venueFailure);
  assert.equal(pastPrices.has(findMarket()), false);
  venue.failing.clear();
  await read();
  assert.deepEqual([requestCount(), pastPrices.has(findMarket())], [3, true]);
});

test("returns stored history if the venue request fails", async () => {
  const { venue, storeWriter, history, read } = openHarness();
  await storeWriter.flush();
  history.points.set(1, [createPoint(SAMPLE_AT, 0.4)]);
  venue.failing.set("getHistory", venueFailure);
  assert.equal((await read()).points.length, 1);
});

test("sets the price a day ago to the price of the last point at or before that time", async () => {
  const { venue, findMarket, read } = openHarness();
  const dayAgoMs = SAMPLE_AT - DAY_MS;
  venue.history.set("m", [
    createPoint(dayAgoMs - HOUR_MS, 0.2),
    createPoint(dayAgoMs, null),
    createPoint(dayAgoMs + HOUR_MS, 0.9),
  ]);
  await read();
  assert.equal(findMarket().priceDayAgo, 0.2);
});

test("returns stored history of a market whose venue is no longer configured", async () => {
  const { pastPrices, board, history } = openHarness();
  board.restore(sampleMarket("m", { listing: { venue: "removed" } }), 7);
  history.points.set(7, [createPoint(SAMPLE_AT, 0.4)]);
  const market = board.find("removed", "m");
  assert.ok(market);
  assert.equal((await pastPrices.read(market, "7d", 48)).points.length, 1);
});

test("throws store_unavailable for a new market until it can be stored", async () => {
  const { store, requestCount, read } = openHarness();
  const upsert = store.upsertMarkets.bind(store);
  store.upsertMarkets = async () => {
    throw new AppError("store_unavailable", "The database is unavailable");
  };
  await assert.rejects(read(), isStoreUnavailable);
  assert.equal(requestCount(), 0);
  store.upsertMarkets = upsert;
  assert.equal((await read()).intervalSeconds, 3_600);
});

test("fetches only missing histories, ignores a venue's failure, and ends after the timeout", async () => {
  const { venue, clock, pastPrices, findMarket, requestCount } = openHarness();
  await pastPrices.fetchMissing([], { intervalMsMin: 0, timeoutMs: 1_000 });
  venue.failing.set("getHistory", venueFailure);
  await pastPrices.fetchMissing([findMarket()], { intervalMsMin: 0, timeoutMs: 1_000 });
  assert.equal(pastPrices.has(findMarket()), false);
  venue.failing.clear();
  await pastPrices.fetchMissing([findMarket()], { intervalMsMin: 0, timeoutMs: 1_000 });
  assert.equal(pastPrices.has(findMarket()), true);
  const requests = requestCount();
  await pastPrices.fetchMissing([findMarket()], { intervalMsMin: 0, timeoutMs: 1_000 });
  assert.equal(requestCount(), requests);
  const other = openHarness();
  // An adapter may not notice the signal.
  other.venue.getHistory = () => new Promise(() => {});
  const timerCount = other.clock.pending;
  const startedAt = other.clock.monotonic();
  await other.clock.until(other.pastPrices.fetchMissing([other.findMarket()], { intervalMsMin: 0, timeoutMs: 1_000 }));
  assert.equal(other.clock.monotonic() - startedAt, 1_000);
  assert.equal(other.clock.pending, timerCount);
  assert.deepEqual([clock.monotonic(), clock.pending], [0, timerCount]);
});

test("fetches the histories of at most 50 markets per call, and those of the others in the next call", async () => {
  const { venue, board, storeWriter, pastPrices } = openHarness();
  const snapshots = Array.from({ length: 60 }, (_, number) => sampleMarket(`n${number}`));
  venue.setMarkets(...snapshots);
  for (const snapshot of snapshots) storeWriter.queueChange(board.apply(snapshot, SAMPLE_AT));
  const fetchedIds = async () => {
    await pastPrices.fetchMissing(
      snapshots.flatMap(({ listing }) => board.find(listing.venue, listing.marketId) ?? []),
      { intervalMsMin: 0, timeoutMs: 1_000 },
    );
    return new Set(venue.callsOf("getHistory").map(({ marketIds }) => marketIds[0])).size;
  };
  assert.equal(await fetchedIds(), 50);
  assert.equal(await fetchedIds(), 60);
});

test("fetches no five-minute history if only hours are missing, and does not fetch the hours again", async () => {
  const { venue, pastPrices, findMarket } = openHarness();
  const fetchMissing = (intervalMsMin: number) =>
    pastPrices.fetchMissing([findMarket()], { intervalMsMin, timeoutMs: 1_000 });
  await fetchMissing(HOUR_MS);
  await fetchMissing(HOUR_MS);
  const intervals = () => venue.historyRanges.map(({ intervalMs }) => intervalMs);
  assert.deepEqual(intervals(), [HOUR_MS]);
  assert.equal(pastPrices.has(findMarket()), false);
  await fetchMissing(HOUR_MS / 12);
  assert.deepEqual(intervals(), [HOUR_MS, HOUR_MS / 12]);
  assert.equal(pastPrices.has(findMarket()), true);
});
