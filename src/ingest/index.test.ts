import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../test/support/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { MarketBoard } from "../board/index.ts";
import { AppError, VenueError } from "../domain/errors.ts";
import { createEventLog } from "../event-log/index.ts";
import type { Database } from "../ports/database.ts";
import { createMarketStore } from "../storage/index.ts";
import { createIngest, VenueHealth } from "./index.ts";

const DAY_MS = 86_400_000;

function bench(database: Database) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const venue = new ScriptedVenue("alpha", clock);
  const venues = [{ adapter: venue, health: new VenueHealth(clock, venue.profile) }];
  const eventLog = createEventLog({ database, bus: createInProcessBus(quietLog) });
  return {
    clock,
    board,
    venue,
    ingest: createIngest({ venues, board, database, clock, log: quietLog, eventLog, eventDays: 7 }),
  };
}

/** The same store behind a switch. */
function switchable(real: Database) {
  const state = { isUp: true };
  const database: Database = {
    query: (text, parameters) =>
      state.isUp ? real.query(text, parameters) : Promise.reject(new AppError("store_unavailable", "gone")),
    transaction: (run) => real.transaction(run),
    close: async () => {},
  };
  return { state, database };
}

eachDatabase("what the store knows is on the board before any venue was asked", async (database) => {
  const store = createMarketStore(database);
  const settled = (id: string, receivedAt: number) =>
    sampleMarket(id, { listing: { status: "finalized" }, quote: { receivedAt } });
  await store.upsertEvents([sampleEvent("E", { title: "Stored event" })]);
  await store.upsertMarkets([
    sampleMarket("open", { listing: { eventId: "E" } }),
    sampleMarket("elsewhere", { listing: { venue: "gone" } }),
    settled("lately", SAMPLE_AT - 29 * DAY_MS),
    settled("long-ago", SAMPLE_AT - 31 * DAY_MS),
  ]);
  const { board, venue, ingest } = bench(database);
  assert.equal(await ingest.restore(), 2);
  assert.deepEqual([...board.markets()].map(({ listing }) => listing.marketId).sort(), ["lately", "open"]);
  assert.equal(board.findEvent("alpha:e")?.listing.title, "Stored event");
  assert.ok(board.find("alpha", "open")?.storeKey !== null);
  assert.deepEqual(venue.calls, []);
  await ingest.stop();
});

eachDatabase(
  "a market asked for by name is put on the board; one nobody knows is not; a failure is the venue's own",
  async (database) => {
    const { board, venue, ingest } = bench(database);
    venue.markets.set("m", sampleMarket("m"));
    assert.deepEqual(
      [await ingest.lookUp("alpha", "m"), await ingest.lookUp("alpha", "none"), await ingest.lookUp("gone", "m")],
      [true, false, false],
    );
    assert.ok(board.find("alpha", "m"));
    const failure = new VenueError("server_error", "broken", { retryable: true });
    venue.failing.set("findMarket", failure);
    await assert.rejects(ingest.lookUp("alpha", "other"), (error) => error === failure);
    await ingest.stop();
  },
);

eachDatabase(
  "it is settled once every venue's first sweep has ended, and health counts the open markets",
  async (database) => {
    const { clock, venue, ingest } = bench(database);
    venue.show(sampleMarket("a"), sampleMarket("b"), sampleMarket("over", { listing: { status: "closed" } }));
    venue.answerMs = 1_000;
    assert.equal(ingest.isSettled, false);
    ingest.start();
    await clock.advance(500);
    assert.deepEqual([ingest.isSettled, ingest.health().alpha?.status], [false, "starting"]);
    await clock.advance(3_000);
    const health = ingest.health().alpha;
    assert.deepEqual([ingest.isSettled, health?.status, health?.markets], [true, "ok", 2]);
    await ingest.stop();
  },
);

eachDatabase("a job that fails is named until it succeeds again", async (real) => {
  const { state, database } = switchable(real);
  const { clock, ingest } = bench(database);
  /** Jobs wait for a real store between two steps of the clock. */
  const until = async (isTrue: () => boolean) => {
    for (const giveUpAt = performance.now() + 20_000; !isTrue() && performance.now() < giveUpAt; ) await clock.settle();
    assert.ok(isTrue(), ingest.failingJobs.join());
  };
  state.isUp = false;
  ingest.start();
  await until(() => ingest.failingJobs.length === 4);
  assert.deepEqual([...ingest.failingJobs].sort(), ["event_retention", "price_day_ago", "retention", "roll_up"]);
  state.isUp = true;
  await clock.advance(121_000);
  await until(() => [...ingest.failingJobs].sort().join() === "event_retention,retention");
  await ingest.stop();
});

eachDatabase("unknown ids asked for at once leave the venue's requests to the ingest", async (database) => {
  const { clock, venue, ingest } = bench(database);
  venue.answerMs = 1_000;
  const asked = Array.from({ length: 50 }, (_, number) =>
    ingest.lookUp("alpha", `nobody-knows-${number}`).then(
      () => "asked",
      (error: unknown) => (error instanceof VenueError ? error.failure : "other"),
    ),
  );
  await clock.advance(2_000);
  const outcomes = await Promise.all(asked);
  assert.equal(outcomes.filter((outcome) => outcome === "asked").length, venue.asked("findMarket").length);
  assert.ok(venue.asked("findMarket").length <= 4);
  assert.ok(outcomes.includes("rate_limited"));
  assert.equal(await Promise.race([ingest.lookUp("alpha", "later"), clock.advance(2_000).then(() => "late")]), false);
  await ingest.stop();
});

eachDatabase("a market settled more than 30 days ago leaves the board, a younger one stays", async (database) => {
  const { clock, board, ingest } = bench(database);
  for (const [id, days] of [
    ["old", 31],
    ["young", 29],
  ] as const) {
    const receivedAt = SAMPLE_AT - days * DAY_MS;
    board.apply(sampleMarket(id, { listing: { status: "finalized" }, quote: { receivedAt } }), receivedAt);
  }
  assert.equal(board.size, 2);
  ingest.start();
  await clock.settle();
  assert.deepEqual([board.find("alpha", "old"), board.find("alpha", "young")?.listing.marketId], [null, "young"]);
  await ingest.stop();
});
