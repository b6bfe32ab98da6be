import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { type BoardMarket, MarketBoard } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { OrderBook } from "../domain/order-book.ts";
import { runForCaller } from "../lib/current-caller.ts";
import { createBookReader } from "./book-reader.ts";
import { VenueRequestQueue } from "./on-demand/venue-request-queue.ts";

const book = (price: number): OrderBook => ({
  bids: [{ price, size: 10 }],
  asks: [],
  lastPrice: null,
  eventAt: null,
  receivedAt: SAMPLE_AT,
});

function setUp() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const venue = new ScriptedVenue("alpha", clock);
  const tracked = new Map<string, OrderBook>();
  const reader = createBookReader({
    venues: new Map([[venue.id, { adapter: venue }]]),
    trackedBookOf: (id, marketId) => tracked.get(`${id}/${marketId}`) ?? null,
    requests: new VenueRequestQueue(clock),
    clock,
  });
  const market = (marketId: string, parts: SampleParts = {}): BoardMarket =>
    board.apply(sampleMarket(marketId, parts), clock.now()).market;
  /** Reads with simulated time until the result, and returns it or the failure of the VenueError. */
  const read = (of: BoardMarket) =>
    clock.until(
      reader.read(of).catch((error: unknown) => {
        if (error instanceof VenueError) return error.failure;
        throw error;
      }),
    );
  const requests = () => venue.callsOf("getBook").length;
  return { clock, venue, tracked, reader, market, read, requests };
}

test("concurrent and repeated reads within 2 seconds share one request; the next read sends another", async () => {
  const { clock, venue, reader, market, read, requests } = setUp();
  venue.books.set("m", book(0.4));
  venue.responseMs = 100;
  const reads = Array.from({ length: 50 }, () => reader.read(market("m")));
  await clock.advance(100);
  assert.equal(new Set(await Promise.all(reads)).size, 1);
  await clock.advance(1_899);
  venue.books.set("m", book(0.5));
  assert.deepEqual(((await read(market("m"))) as OrderBook).bids, [{ price: 0.4, size: 10 }]);
  assert.equal(requests(), 1);
  await clock.advance(1);
  assert.deepEqual(((await read(market("m"))) as OrderBook).bids, [{ price: 0.5, size: 10 }]);
  assert.equal(requests(), 2);
});

test("a read of a market without a book returns null; a read of a resolved market sends no request", async () => {
  const { market, read, requests } = setUp();
  assert.equal(await read(market("amm")), null);
  assert.equal(requests(), 1);
  assert.equal(await read(market("settled", { listing: { status: "finalized" } })), null);
  assert.equal(await read(market("elsewhere", { listing: { venue: "gone" } })), null);
  assert.equal(requests(), 1);
});

test("a failure is thrown to all callers of the next 2 seconds without another request", async () => {
  const { clock, venue, market, read, requests } = setUp();
  venue.books.set("m", book(0.4));
  venue.failing.set("getBook", new VenueError("server_error", "broken", { retryable: true }));
  assert.equal(await read(market("m")), "server_error");
  venue.failing.clear();
  assert.equal(await read(market("m")), "server_error");
  assert.equal(requests(), 1);
  await clock.advance(2_000);
  assert.deepEqual(((await read(market("m"))) as OrderBook).bids, book(0.4).bids);
});

test("a read times out after 4 seconds, even if the adapter ignores the abort signal", async () => {
  const { clock, venue, reader, market } = setUp();
  const signals: (AbortSignal | undefined)[] = [];
  venue.getBook = (_listing, signal) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const started = clock.monotonic();
  const reads = Array.from({ length: 3 }, (_, index) =>
    reader.read(market(`m${index}`)).catch((error: unknown) => error),
  );
  for (const failure of await clock.until(Promise.all(reads))) {
    assert.ok(failure instanceof VenueError);
    assert.deepEqual([failure.failure, failure.retryable], ["timeout", true]);
  }
  assert.equal(clock.monotonic() - started, 4_000);
  assert.ok(signals.length > 0 && signals.every((signal) => signal?.aborted === true));
  assert.equal(clock.pending, 0);
});

test("a read that exceeds the limit of its caller is rejected for that caller only", async () => {
  const { clock, venue, reader, market } = setUp();
  venue.responseMs = 10;
  venue.books.set("shared", book(0.4));
  const readAs = (caller: string, id: string) =>
    runForCaller(caller, () => reader.read(market(id)).catch((error: VenueError) => error.failure));
  const many = Array.from({ length: 103 }, (_, index) => readAs("ann", `m${index}`));
  assert.equal(await readAs("ann", "shared"), "rate_limited");
  assert.deepEqual(((await clock.until(readAs("bob", "shared"))) as OrderBook).bids, [{ price: 0.4, size: 10 }]);
  await clock.until(Promise.all(many));
});

test("if the venue fails, the last book of the last five minutes is returned as stale", async () => {
  const { clock, venue, reader, market } = setUp();
  const readOrLast = () => clock.until(reader.readOrLast(market("m")).catch((error: VenueError) => error.failure));
  const known = book(0.4);
  venue.books.set("m", known);
  const first = (await readOrLast()) as Exclude<Awaited<ReturnType<typeof readOrLast>>, string>;
  assert.deepEqual([first.book?.bids, first.isStale], [known.bids, false]);
  venue.failing.set("getBook", new VenueError("server_error", "the venue failed", { retryable: true }));
  await clock.advance(2_000);
  assert.deepEqual(await readOrLast(), { book: first.book, isStale: true });
  await clock.advance(5 * 60_000);
  assert.equal(await readOrLast(), "server_error");
});

test("serves the tracked book of the stream without a request", async () => {
  const { tracked, market, read, requests } = setUp();
  tracked.set("alpha/m", book(0.7));
  assert.deepEqual(await read(market("m")), book(0.7));
  tracked.delete("alpha/m");
  assert.equal(await read(market("m")), null);
  assert.equal(requests(), 1);
});

test("a request that takes longer than 2 seconds is shared until it ends, regardless of other reads", async () => {
  const { clock, venue, reader, market, requests } = setUp();
  venue.responseMs = 3_500;
  const reads = [reader.read(market("m"))];
  await clock.advance(2_500);
  reads.push(reader.read(market("n")), reader.read(market("m")));
  await clock.until(Promise.all(reads));
  assert.equal(requests(), 2);
});

test("keeps at most 1,000 results, and removes those that are older than 2 seconds", async () => {
  const { clock, venue, reader, market, requests } = setUp();
  for (let index = 0; index < 1_100; index++) await reader.read(market(`m${index}`));
  assert.equal(requests(), 1_100);
  await reader.read(market("m1099"));
  assert.equal(requests(), 1_100);
  await reader.read(market("m0"));
  assert.equal(requests(), 1_101);
  assert.equal(venue.callsOf("getBook").at(-1)?.marketIds[0], "m0");
  assert.equal(reader.entryCount, 1_000);
  await clock.advance(2_000);
  // The oldest result becomes the newest, so that the others can be removed.
  await reader.read(market("m101"));
  assert.equal(reader.entryCount, 1);
  assert.equal(clock.pending, 0);
});

test("the ingest of a venue serves the books that its stream tracks until the stream is closed", async () => {
  const { venue, start, bookOf, stop } = openScriptedVenue();
  venue.setMarkets(sampleMarket("m"));
  venue.trackedBooks.set("m", book(0.4));
  await start();
  assert.deepEqual(bookOf("alpha", "m"), book(0.4));
  assert.equal(bookOf("alpha", "unknown"), null);
  await stop();
  assert.equal(bookOf("alpha", "m"), null);
});
