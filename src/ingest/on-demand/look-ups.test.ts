import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { ScriptedVenue } from "../../../test/support/venues/scripted-venue.ts";
import { AppError, VenueError } from "../../domain/errors.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import { createLookUps, UNKNOWN_MARKET_MS, UNKNOWN_MARKETS_MAX } from "./look-ups.ts";
import type { LookUpClaim, UnknownMarketStore } from "./unknown-market-store.ts";
import { LOOK_UP_SHARE_MAX, LOOK_UPS_PER_VENUE_MAX, VenueRequestQueue } from "./venue-request-queue.ts";

/** The rows of the store, in memory. */
class MemoryUnknownMarkets implements UnknownMarketStore {
  readonly #clock: FakeClock;
  readonly #rows = new Map<string, { readonly expiresAt: number; readonly isAnswered: boolean }>();
  isUp = true;
  isHung = false;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  async claim(venue: string, marketId: string, durationMs: number): Promise<LookUpClaim> {
    await this.#answer();
    const row = this.#rows.get(`${venue}/${marketId}`);
    const now = this.#clock.monotonic();
    if (row === undefined || row.expiresAt <= now) {
      this.#rows.set(`${venue}/${marketId}`, { expiresAt: now + durationMs, isAnswered: false });
      return { kind: "claimed" };
    }
    return row.isAnswered ? { kind: "unknown", expiresInMs: row.expiresAt - now } : { kind: "asked_elsewhere" };
  }

  async recordUnknown(venue: string, marketId: string, durationMs: number): Promise<void> {
    await this.#answer();
    const expiresAt = this.#clock.monotonic() + durationMs;
    this.#rows.set(`${venue}/${marketId}`, { expiresAt, isAnswered: true });
  }

  async release(venue: string, marketId: string): Promise<void> {
    await this.#answer();
    if (this.#rows.get(`${venue}/${marketId}`)?.isAnswered === false) this.#rows.delete(`${venue}/${marketId}`);
  }

  async removeOld(): Promise<void> {}

  #answer(): Promise<void> {
    if (this.isHung) return new Promise(() => {});
    return this.isUp ? Promise.resolve() : Promise.reject(new AppError("store_unavailable", "down"));
  }
}

/** The look-ups of processes that share one store and one venue. */
function setUp({ processes = 1, requestsPerSecond = 1_000 } = {}) {
  const clock = new FakeClock(SAMPLE_AT);
  const venue = new ScriptedVenue("alpha", clock);
  const store = new MemoryUnknownMarkets(clock);
  /** Markets that any process has found. */
  const listed = new Set<string>();
  const queues = Array.from({ length: processes }, () => new VenueRequestQueue(clock, () => requestsPerSecond));
  const lookUps = queues.map((requests) =>
    createLookUps({
      venues: new Map([["alpha", { adapter: venue }]]),
      unknownMarkets: store,
      requests,
      isListed: (_venue, marketId) => listed.has(marketId),
      applyPage(_venue, page) {
        for (const { listing } of page.markets) listed.add(listing.marketId);
      },
      clock,
      log: quietLog,
    }),
  );
  /** Looks a market up for a caller. Resolves to whether it was found, or to the failure. */
  const find = (marketId: string, { caller = "ann", process = 0 } = {}) =>
    runForCaller(caller, () => lookUps[process]?.find("alpha", marketId) ?? Promise.resolve(false)).catch(
      (error: unknown) => {
        if (error instanceof VenueError) return error.failure;
        throw error;
      },
    );
  const asked = () => venue.callsOf("findMarket").flatMap(({ marketIds }) => marketIds);
  return { clock, venue, store, queue: queues[0] ?? new VenueRequestQueue(clock), lookUps, find, asked };
}

test("concurrent look-ups of a market by several callers share one request", async () => {
  const { clock, venue, find, asked } = setUp();
  venue.markets.set("m", sampleMarket("m"));
  venue.responseMs = 1_000;
  const first = ["ann", "bob", "cid"].map((caller) => find("m", { caller }));
  await clock.advance(500);
  const later = find("m", { caller: "dan" });
  assert.deepEqual(await clock.until(Promise.all([...first, later])), [true, true, true, true]);
  assert.deepEqual(asked(), ["m"]);
});

test("all processes together request a market that its venue does not have at most once in ten minutes", async () => {
  const { clock, find, asked } = setUp({ processes: 2 });
  assert.equal(await find("none"), false);
  assert.equal(await find("none", { process: 1, caller: "bob" }), false);
  await clock.advance(UNKNOWN_MARKET_MS - 1);
  assert.deepEqual([await find("none"), await find("none", { process: 1 })], [false, false]);
  assert.deepEqual(asked(), ["none"]);
  await clock.advance(1);
  assert.equal(await find("none", { process: 1 }), false);
  assert.deepEqual(asked(), ["none", "none"]);
});

test("while one process asks for a market, another waits for its answer", async () => {
  const { clock, venue, find, asked } = setUp({ processes: 2 });
  venue.markets.set("m", sampleMarket("m"));
  venue.responseMs = 600;
  const finds = ["m", "none"].flatMap((marketId) => [find(marketId), find(marketId, { process: 1 })]);
  assert.deepEqual(await clock.until(Promise.all(finds)), [true, true, false, false]);
  assert.deepEqual(asked(), ["m", "none"]);
});

test("a failed look-up is not cached, and the next look-up requests the market at once", async () => {
  const { venue, find, asked } = setUp({ processes: 2 });
  venue.failing.set("findMarket", new VenueError("server_error", "broken", { retryable: true }));
  assert.equal(await find("m"), "server_error");
  venue.failing.clear();
  venue.markets.set("m", sampleMarket("m"));
  assert.equal(await find("m", { process: 1 }), true);
  assert.deepEqual(asked(), ["m", "m"]);
});

test("a look-up of an id that contains the name of another kind of request does not share that request", async () => {
  const { clock, venue, queue, find, asked } = setUp();
  venue.responseMs = 100;
  const lookUp = find("book m");
  await clock.settle();
  const book = runForCaller("bob", () => queue.run("alpha", "book m", 4_000, async () => "the book of m"));
  await clock.advance(100);
  assert.deepEqual(await Promise.all([lookUp, book]), [false, "the book of m"]);
  assert.deepEqual(asked(), ["book m"]);
});

test("look-ups run one at a time and use at most a quarter of a venue's requests", async () => {
  const { clock, venue, queue, find, asked } = setUp({ requestsPerSecond: 8 });
  venue.responseMs = 20;
  let running = 0;
  let runningMax = 0;
  const findMarket = venue.findMarket.bind(venue);
  venue.findMarket = async (marketId, signal) => {
    running += 1;
    runningMax = Math.max(runningMax, running);
    try {
      return await findMarket(marketId, signal);
    } finally {
      running -= 1;
    }
  };
  const outcomes: unknown[] = [];
  for (let second = 0; second < 30; second++) {
    for (let caller = 0; caller < 16; caller++)
      find(`none-${second}-${caller}`, { caller: `caller-${caller}` }).then((outcome) => outcomes.push(outcome));
    await clock.advance(1_000);
  }
  await clock.advance(5_000);
  assert.equal(outcomes.length, 480);
  assert.ok(outcomes.every((outcome) => outcome === false || outcome === "rate_limited"));
  assert.equal(runningMax, LOOK_UPS_PER_VENUE_MAX);
  assert.deepEqual([LOOK_UPS_PER_VENUE_MAX, LOOK_UP_SHARE_MAX], [1, 0.25]);
  assert.ok(asked().length >= 50 && asked().length <= 35 * 2 + 4, `${asked().length} in 35 seconds`);
  const other = runForCaller("zoe", () => queue.run("alpha", "book m", 4_000, async () => "sent"));
  assert.equal(await other, "sent");
});

test("a look-up waits for at most two look-ups of another caller, however many that caller has queued", async () => {
  const { clock, venue, find, asked } = setUp();
  venue.responseMs = 100;
  const many = Array.from({ length: 50 }, (_, index) => find(`none-${index}`));
  await clock.advance(50);
  const other = find("other", { caller: "bob" });
  await clock.advance(250);
  assert.equal(await other, false);
  assert.deepEqual(asked().slice(0, 3).sort(), ["none-0", "none-1", "other"]);
  await clock.advance(5_000);
  await Promise.all(many);
});

test("if the store does not answer, a look-up asks the venue, and the venue does not count as failing", async () => {
  const { clock, venue, store, find, asked } = setUp();
  venue.markets.set("m", sampleMarket("m"));
  store.isUp = false;
  assert.equal(await find("m"), true);
  store.isHung = true;
  for (const marketId of ["a", "b", "c", "d", "e"]) assert.equal(await clock.until(find(marketId), 1_000), false);
  assert.deepEqual(asked(), ["m", "a", "b", "c", "d", "e"]);
});

test("a process caches the last 10,000 markets that a venue does not have", async () => {
  const { lookUps, store, find, asked } = setUp();
  for (let number = 0; number <= UNKNOWN_MARKETS_MAX; number++) {
    await store.recordUnknown("alpha", `x${number}`, UNKNOWN_MARKET_MS);
    await find(`x${number}`);
  }
  assert.deepEqual(asked(), []);
  assert.equal(lookUps[0]?.unknownCount, UNKNOWN_MARKETS_MAX);
  assert.equal(UNKNOWN_MARKETS_MAX, 10_000);
});
