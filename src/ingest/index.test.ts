import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { interruptible } from "../../test/support/interruptible-database.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { openStoredIngest } from "../../test/support/venues/stored-ingest.ts";
import { VenueError } from "../domain/errors.ts";
import { DAY_MS } from "../lib/durations.ts";
import { createMarketStore } from "../storage/index.ts";

eachDatabase("restores the board from the store without requesting the venue", async (database) => {
  const store = createMarketStore(database);
  const settled = (id: string, receivedAt: number) =>
    sampleMarket(id, { listing: { status: "finalized" }, quote: { receivedAt } });
  await store.upsertEvents([sampleEvent("E", { title: "Stored event" })]);
  await store.upsertMarkets([
    sampleMarket("open", { listing: { eventId: "E" } }),
    sampleMarket("elsewhere", { listing: { venue: "gone" } }),
    settled("recent", SAMPLE_AT - 29 * DAY_MS),
    settled("old", SAMPLE_AT - 31 * DAY_MS),
  ]);
  const { board, venue, ingest } = openStoredIngest(database);
  assert.equal(await ingest.restore(), 2);
  assert.deepEqual([...board.markets()].map(({ listing }) => listing.marketId).sort(), ["open", "recent"]);
  assert.equal(board.findEvent("alpha:e")?.listing.title, "Stored event");
  assert.ok(board.find("alpha", "open")?.storeKey !== null);
  assert.deepEqual(venue.calls, []);
});

eachDatabase(
  "a look-up adds the market to the board, returns false if the market is unknown, and throws the venue's error",
  async (database) => {
    const { board, venue, ingest } = openStoredIngest(database);
    venue.markets.set("m", sampleMarket("m"));
    assert.deepEqual(
      [await ingest.lookUp("alpha", "m"), await ingest.lookUp("alpha", "none"), await ingest.lookUp("gone", "m")],
      [true, false, false],
    );
    assert.ok(board.find("alpha", "m"));
    const failure = new VenueError("server_error", "broken", { retryable: true });
    venue.failing.set("findMarket", failure);
    await assert.rejects(ingest.lookUp("alpha", "other"), (error) => error === failure);
  },
);

eachDatabase(
  "ingest is settled if the first sweep of every venue has ended, and health counts the active markets",
  async (database) => {
    const { clock, venue, ingest } = openStoredIngest(database);
    venue.setMarkets(sampleMarket("a"), sampleMarket("b"), sampleMarket("closed", { listing: { status: "closed" } }));
    venue.responseMs = 1_000;
    assert.equal(ingest.isSettled, false);
    ingest.start();
    await clock.advance(500);
    assert.deepEqual([ingest.isSettled, ingest.health().alpha?.status], [false, "starting"]);
    await clock.advance(3_000);
    const health = ingest.health().alpha;
    assert.deepEqual([ingest.isSettled, health?.status, health?.markets], [true, "ok", 2]);
  },
);

eachDatabase("`failingJobs` lists a failing job until it succeeds", async (realDatabase) => {
  const { state, database } = interruptible(realDatabase);
  const { clock, ingest } = openStoredIngest(database);
  /** Waits for a condition. Jobs use a real store, so advancing the fake clock does not complete them. */
  const until = async (condition: () => boolean) => {
    for (const endAt = performance.now() + 20_000; !condition() && performance.now() < endAt; ) await clock.settle();
    assert.ok(condition(), ingest.failingJobs.join());
  };
  state.isUp = false;
  ingest.start();
  await until(() => ingest.failingJobs.length === 6);
  assert.deepEqual([...ingest.failingJobs].sort(), [
    "event_retention",
    "price_day_ago",
    "reclaim_space",
    "retention",
    "roll_up",
    "unknown_markets",
  ]);
  state.isUp = true;
  await clock.advance(121_000);
  await until(() => [...ingest.failingJobs].sort().join() === "event_retention,reclaim_space,retention");
});

eachDatabase("removes markets that settled more than 30 days ago from the board", async (database) => {
  const { clock, board, ingest } = openStoredIngest(database);
  for (const [id, days] of [
    ["old", 31],
    ["recent", 29],
  ] as const) {
    const receivedAt = SAMPLE_AT - days * DAY_MS;
    board.apply(sampleMarket(id, { listing: { status: "finalized" }, quote: { receivedAt } }), receivedAt);
  }
  assert.equal(board.size, 2);
  ingest.start();
  await clock.settle();
  assert.deepEqual([board.find("alpha", "old"), board.find("alpha", "recent")?.listing.marketId], [null, "recent"]);
});
