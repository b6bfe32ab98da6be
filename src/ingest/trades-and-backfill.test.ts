import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { intervalsBetween, openIngestHarness, openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { VenueError } from "../domain/errors.ts";
import type { Trade } from "../domain/trade.ts";
import { DAY_MS, MINUTE_MS } from "../lib/durations.ts";

const timeout = () => new VenueError("timeout", "no response", { retryable: true });
const withVolume = (id: string, volume24hUsd: number | null) => sampleMarket(id, { activity: { volume24hUsd } });

const trade = (tradeId: string, executedAt: number, usd: number): Trade => ({
  tradeId,
  executedAt,
  yesPrice: 0.5,
  size: 2 * usd,
  takerSide: "no",
});
const requestedIds = (venue: ScriptedVenue, method: "listTrades" | "getHistory") =>
  venue.callsOf(method).flatMap(({ marketIds }) => marketIds);
const secondsBetweenReads = (venue: ScriptedVenue) =>
  intervalsBetween(venue.callsOf("listTrades").map(({ at }) => at)).map((ms) => Math.round(ms / 1_000));

test("ingest requests only listings until the first sweep of every venue has ended", async () => {
  const harness = openIngestHarness((clock) => ["alpha", "slow"].map((id) => new ScriptedVenue(id, clock)));
  const [venue, slow] = harness.venues;
  assert.ok(venue && slow);
  venue.setMarkets(withVolume("a", 1));
  slow.responseMs = 20_000;
  await harness.start();
  await harness.clock.advance(19_000);
  assert.deepEqual([...requestedIds(venue, "listTrades"), ...requestedIds(venue, "getHistory")], []);
  await harness.clock.advance(5_000);
  assert.deepEqual([requestedIds(venue, "listTrades")[0], requestedIds(venue, "getHistory")[0]], ["a", "a"]);
});

test("reads the trades of every market once, in order of volume, before it reads any market twice", async () => {
  const { clock, venue, start } = openScriptedVenue();
  venue.setMarkets(withVolume("small", 1), withVolume("large", 9), withVolume("unknown", null));
  await start();
  await clock.advance(33_200);
  assert.deepEqual(requestedIds(venue, "listTrades").slice(0, 5), ["large", "small", "unknown", "large", "small"]);
});

test("stores a trade once if several reads return it", async () => {
  const { clock, venue, store, start } = openScriptedVenue();
  venue.setMarkets(withVolume("a", 1));
  venue.trades.set("a", [trade("t1", SAMPLE_AT - 1_000, 3), trade("t0", SAMPLE_AT - 86_500_000, 3)]);
  await start();
  await clock.advance(5 * MINUTE_MS);
  assert.ok(requestedIds(venue, "listTrades").length > 3);
  assert.deepEqual([...store.trades.keys()], ["1/t1"]);
});

test("reads a market without new trades less and less often, until its volume changes", async () => {
  const { clock, venue, start } = openScriptedVenue();
  const traded = (volumeTotalUsd: number) => sampleMarket("a", { activity: { volumeTotalUsd } });
  venue.setMarkets(traded(5));
  await start();
  await clock.advance(17 * MINUTE_MS);
  assert.deepEqual(secondsBetweenReads(venue), [30, 60, 120, 240, 240, 240]);
  venue.setMarkets(traded(6));
  venue.trades.set("a", [trade("t1", clock.now(), 1)]);
  await clock.advance(1.5 * MINUTE_MS);
  assert.ok((secondsBetweenReads(venue)[6] ?? 240) < 200);
});

test("after a new trade a market is read often again, but a trade that is read twice counts as no trade", async () => {
  const { clock, venue, start } = openScriptedVenue();
  venue.setMarkets(sampleMarket("a"));
  await start();
  await clock.advance(9 * MINUTE_MS);
  venue.trades.set("a", [trade("t1", clock.now(), 1)]);
  await clock.advance(5 * MINUTE_MS);
  assert.deepEqual(secondsBetweenReads(venue), [30, 60, 120, 240, 240, 0, 30, 60]);
});

test("a new last price ends the pause between two reads of a market without new trades", async () => {
  const { clock, venue, start } = openScriptedVenue();
  const withPrice = (lastPrice: number) => sampleMarket("a", { quote: { lastPrice } });
  venue.setMarkets(withPrice(0.5));
  await start();
  await clock.advance(8 * MINUTE_MS);
  assert.deepEqual(secondsBetweenReads(venue), [30, 60, 120, 240]);
  venue.setMarkets(withPrice(0.6));
  await clock.advance(1.5 * MINUTE_MS);
  assert.ok((secondsBetweenReads(venue)[4] ?? 240) < 200);
});

test("passes a trade to the store again only if its size or its taker has changed", async () => {
  const { clock, venue, store, start } = openScriptedVenue();
  const first = trade("t1", SAMPLE_AT - 1_000, 3);
  venue.setMarkets(withVolume("a", 1));
  venue.trades.set("a", [first]);
  await start();
  await clock.advance(2_000);
  store.trades.clear();
  await clock.advance(5 * MINUTE_MS);
  assert.deepEqual([...store.trades.keys()], []);
  for (const changed of [
    { ...first, size: 9 },
    { ...first, size: 9, taker: "x" },
  ]) {
    venue.trades.set("a", [changed]);
    await clock.advance(5 * MINUTE_MS);
    assert.deepEqual([...store.trades.keys()], ["1/t1"]);
    store.trades.clear();
  }
});

test("sums the 24-hour volume from trades only if the venue publishes no volume", async () => {
  for (const volumeFromTrades of [true, false]) {
    const { clock, venue, market, start } = openScriptedVenue({ profile: { volumeFromTrades } });
    venue.setMarkets(withVolume("a", null));
    venue.trades.set("a", [trade("t1", SAMPLE_AT - 1_000, 3), trade("t2", SAMPLE_AT - 2 * MINUTE_MS, 4)]);
    await start();
    await clock.advance(2_000);
    assert.equal(market("a")?.activity.volume24hUsd, volumeFromTrades ? 7 : null);
  }
});

test("the newest trade read sets the last price only if the venue lists no last trade", async () => {
  for (const volumeFromTrades of [true, false]) {
    const { clock, venue, market, start } = openScriptedVenue({ profile: { volumeFromTrades } });
    const quote = { bid: 0.4, ask: 0.45, lastPrice: null };
    venue.setMarkets(sampleMarket("a", { quote }));
    venue.trades.set("a", [trade("t2", SAMPLE_AT - 1_000, 3), trade("t1", SAMPLE_AT - MINUTE_MS, 4)]);
    await start();
    await clock.advance(2_000);
    assert.equal(market("a")?.quote.lastPrice, volumeFromTrades ? 0.5 : null);
  }
});

test("reads once the last trade of a market that has traded but has no price, even if the trade is older than a day", async () => {
  const { clock, venue, market, start } = openScriptedVenue({ profile: { volumeFromTrades: true } });
  const quote = { bid: 0.1, ask: 0.9, lastPrice: null };
  venue.setMarkets(
    sampleMarket("traded", { quote, activity: { volumeTotalUsd: 9 } }),
    sampleMarket("unknown", { quote, activity: { volumeTotalUsd: 9 } }),
    sampleMarket("untraded", { quote, activity: { volumeTotalUsd: 0 } }),
  );
  venue.trades.set("traded", [trade("t1", SAMPLE_AT - 3 * DAY_MS, 4)]);
  await start();
  await clock.advance(5 * MINUTE_MS);
  assert.deepEqual(
    ["traded", "unknown", "untraded"].map((id) => market(id)?.yesPrice),
    [0.5, null, null],
  );
  const readsOf = (id: string) => venue.tradesSince.filter(([marketId]) => marketId === id).map(([, since]) => since);
  assert.equal(readsOf("unknown").filter((since) => since === 0).length, 1);
  assert.ok(readsOf("unknown").length > 3);
  assert.deepEqual(readsOf("untraded"), []);
});

test("if a market has more trades than one read returns, its volume is null instead of too small", async () => {
  const { clock, venue, market, start } = openScriptedVenue({ profile: { volumeFromTrades: true } });
  venue.setMarkets(withVolume("a", null));
  venue.trades.set(
    "a",
    Array.from({ length: 1_500 }, (_, number) => trade(`t${number}`, SAMPLE_AT - number * 1_000, 1)),
  );
  await start();
  await clock.advance(2_000);
  assert.equal(market("a")?.activity.volume24hUsd, null);
});

test("does not read trades of a play-money venue", async () => {
  const { clock, venue, start } = openScriptedVenue({ playMoney: true });
  venue.setMarkets(withVolume("a", null));
  await start();
  await clock.advance(5_000);
  assert.deepEqual(requestedIds(venue, "listTrades"), []);
});

test("backfills every market once at each of two intervals, in order of volume", async () => {
  const { clock, venue, start } = openScriptedVenue();
  venue.setMarkets(withVolume("small", 1), withVolume("large", 9), withVolume("unknown", null));
  await start();
  await clock.advance(10_000);
  assert.deepEqual(requestedIds(venue, "getHistory"), ["large", "large", "small", "small", "unknown", "unknown"]);
  assert.deepEqual(
    new Set(venue.historyRanges.map(({ intervalMs }) => intervalMs)),
    new Set([60 * MINUTE_MS, 5 * MINUTE_MS]),
  );
});

test("if volumes are summed from trades, reads the trades of every market before the backfill", async () => {
  const { clock, venue, start } = openScriptedVenue({ profile: { volumeFromTrades: true } });
  venue.setMarkets(withVolume("a", null), withVolume("b", null), withVolume("c", null));
  venue.trades.set("c", [trade("t", SAMPLE_AT - 1_000, 9)]);
  await start();
  await clock.advance(10_000);
  const calls = venue.calls.filter(({ method }) => method === "listTrades" || method === "getHistory");
  const firstBackfill = calls.findIndex(({ method }) => method === "getHistory");
  assert.deepEqual(
    calls.slice(0, 3).map(({ method }) => method),
    ["listTrades", "listTrades", "listTrades"],
  );
  assert.ok(firstBackfill >= 3);
  assert.deepEqual([...new Set(requestedIds(venue, "getHistory"))], ["c", "a", "b"]);
});

test("attempts a failing backfill three times, then continues with the next market", async () => {
  const { clock, venue, start } = openScriptedVenue();
  venue.setMarkets(withVolume("a", 9));
  venue.failing.set("getHistory", timeout());
  await start();
  await clock.advance(30_000);
  assert.deepEqual(requestedIds(venue, "getHistory"), ["a", "a", "a"]);
  venue.failing.clear();
  venue.setMarkets(withVolume("b", 1));
  await clock.advance(2 * MINUTE_MS);
  assert.deepEqual(requestedIds(venue, "getHistory").slice(3), ["b", "b"]);
});

test("backfills a market that is listed after the start", async () => {
  const { clock, venue, start } = openScriptedVenue();
  venue.setMarkets(withVolume("a", 9));
  await start();
  await clock.advance(5_000);
  venue.setMarkets(withVolume("late", 99));
  await clock.advance(65_000);
  assert.deepEqual(requestedIds(venue, "getHistory"), ["a", "a", "late", "late"]);
});
