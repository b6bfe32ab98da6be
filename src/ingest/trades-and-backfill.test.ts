import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../test/support/market-samples.ts";
import { type IngestHarness, openIngestHarness } from "../../test/support/venues/ingest-harness.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { VenueError } from "../domain/errors.ts";
import type { Trade } from "../domain/trade.ts";

const MINUTE_MS = 60_000;
const timeout = () => new VenueError("timeout", "no answer", { retryable: true });
const withVolume = (id: string, volume24hUsd: number | null) => sampleMarket(id, { activity: { volume24hUsd } });

function bench(options: ConstructorParameters<typeof ScriptedVenue>[2] = {}): IngestHarness & { venue: ScriptedVenue } {
  const opened = openIngestHarness((clock) => [new ScriptedVenue("alpha", clock, options)]);
  const [venue] = opened.venues;
  if (venue === undefined) throw new Error("a bench has a venue");
  return { ...opened, venue };
}

const trade = (tradeId: string, executedAt: number, usd: number): Trade => ({
  ...{ tradeId, executedAt, yesPrice: 0.5, size: 2 * usd, takerSide: "no" },
});
const askedFor = (venue: ScriptedVenue, method: "listTrades" | "getHistory") =>
  venue.asked(method).flatMap(({ marketIds }) => marketIds);

test("until every venue's first sweep is over, nothing but listings is asked for", async () => {
  const opened = openIngestHarness((clock) => ["alpha", "slow"].map((id) => new ScriptedVenue(id, clock)));
  const [venue, slow] = opened.venues;
  assert.ok(venue && slow);
  venue.show(withVolume("a", 1));
  slow.answerMs = 20_000;
  await opened.start();
  await opened.clock.advance(19_000);
  assert.deepEqual([...askedFor(venue, "listTrades"), ...askedFor(venue, "getHistory")], []);
  await opened.clock.advance(5_000);
  assert.deepEqual([askedFor(venue, "listTrades")[0], askedFor(venue, "getHistory")[0]], ["a", "a"]);
  await opened.stop();
});

test("tapes are read from the most traded market down, each once before any is read again", async () => {
  const { clock, venue, start, stop } = bench();
  venue.show(withVolume("small", 1), withVolume("large", 9), withVolume("unknown", null));
  await start();
  await clock.advance(3_200);
  assert.deepEqual(askedFor(venue, "listTrades").slice(0, 5), ["large", "small", "unknown", "large", "small"]);
  await stop();
});

test("trades of the tape are stored once, also when a later read tells them again", async () => {
  const { clock, venue, store, start, stop } = bench();
  venue.show(withVolume("a", 1));
  venue.trades.set("a", [trade("t1", SAMPLE_AT - 1_000, 3), trade("t0", SAMPLE_AT - 86_500_000, 3)]);
  await start();
  await clock.advance(5_000);
  assert.ok(askedFor(venue, "listTrades").length > 3);
  assert.deepEqual([...store.trades.keys()], ["1/t1"]);
  await stop();
});

test("the day's volume is summed from the tape where the venue tells none, and only there", async () => {
  for (const volumeFromTrades of [true, false]) {
    const { clock, venue, market, start, stop } = bench({ profile: { volumeFromTrades } });
    venue.show(withVolume("a", null));
    venue.trades.set("a", [trade("t1", SAMPLE_AT - 1_000, 3), trade("t2", SAMPLE_AT - 2 * MINUTE_MS, 4)]);
    await start();
    await clock.advance(2_000);
    assert.equal(market("a")?.activity.volume24hUsd, volumeFromTrades ? 7 : null);
    await stop();
  }
});

test("a tape longer than one read leaves the volume unknown instead of too small", async () => {
  const { clock, venue, market, start, stop } = bench({ profile: { volumeFromTrades: true } });
  venue.show(withVolume("a", null));
  venue.trades.set(
    "a",
    Array.from({ length: 1_500 }, (_, number) => trade(`t${number}`, SAMPLE_AT - number * 1_000, 1)),
  );
  await start();
  await clock.advance(2_000);
  assert.equal(market("a")?.activity.volume24hUsd, null);
  await stop();
});

test("no tape is read of a venue that deals in play money", async () => {
  const { clock, venue, start, stop } = bench({ playMoney: true });
  venue.show(withVolume("a", null));
  await start();
  await clock.advance(5_000);
  assert.deepEqual(askedFor(venue, "listTrades"), []);
  await stop();
});

test("the past is brought in by volume, each market once, two grains each", async () => {
  const { clock, venue, history, start, stop } = bench();
  venue.show(withVolume("small", 1), withVolume("large", 9), withVolume("unknown", null));
  await start();
  await clock.advance(10_000);
  assert.deepEqual(askedFor(venue, "getHistory"), ["large", "large", "small", "small", "unknown", "unknown"]);
  assert.deepEqual(
    new Set(history.ranges.map(({ intervalMs }) => intervalMs)),
    new Set([60 * MINUTE_MS, 5 * MINUTE_MS]),
  );
  await stop();
});

test("where volumes come from the tape, every tape is read once before the past is brought in, in their order", async () => {
  const { clock, venue, start, stop } = bench({ profile: { volumeFromTrades: true } });
  venue.show(withVolume("a", null), withVolume("b", null), withVolume("c", null));
  venue.trades.set("c", [trade("t", SAMPLE_AT - 1_000, 9)]);
  await start();
  await clock.advance(10_000);
  const calls = venue.calls.filter(({ method }) => method === "listTrades" || method === "getHistory");
  const firstPast = calls.findIndex(({ method }) => method === "getHistory");
  assert.deepEqual(
    calls.slice(0, 3).map(({ method }) => method),
    ["listTrades", "listTrades", "listTrades"],
  );
  assert.ok(firstPast >= 3);
  assert.deepEqual([...new Set(askedFor(venue, "getHistory"))], ["c", "a", "b"]);
  await stop();
});

test("a market whose past cannot be had is tried three times, then the next one has its turn", async () => {
  const { clock, venue, start, stop } = bench();
  venue.show(withVolume("a", 9));
  venue.failing.set("getHistory", timeout());
  await start();
  await clock.advance(30_000);
  assert.deepEqual(askedFor(venue, "getHistory"), ["a", "a", "a"]);
  venue.failing.clear();
  venue.show(withVolume("b", 1));
  await clock.advance(2 * MINUTE_MS);
  assert.deepEqual(askedFor(venue, "getHistory").slice(3), ["b", "b"]);
  await stop();
});

test("a market listed later gets its past too", async () => {
  const { clock, venue, start, stop } = bench();
  venue.show(withVolume("a", 9));
  await start();
  await clock.advance(5_000);
  venue.show(withVolume("late", 99));
  await clock.advance(65_000);
  assert.deepEqual(askedFor(venue, "getHistory"), ["a", "a", "late", "late"]);
  await stop();
});
