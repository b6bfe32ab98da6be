import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { openStoredIngest } from "../../../test/support/venues/stored-ingest.ts";
import { VenueError } from "../../domain/errors.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import type { Database } from "../../ports/database.ts";
import { createMarketStore } from "../../storage/index.ts";

const NEVER_MS = Number.MAX_SAFE_INTEGER;
/** Real time after which a test gives up. */
const GIVE_UP_MS = 60_000;

/** What clients read of a venue on demand. Each read is of another market, so that no earlier result is reused. */
const READS = ["book", "trades", "history", "look-up"] as const;
type Read = (typeof READS)[number];

function setUp(database: Database) {
  const { clock, board, venue, ingest } = openStoredIngest(database);
  let markets = 0;
  const store = createMarketStore(database);
  const newMarket = async () => {
    const snapshot = sampleMarket(`m${markets++}`);
    const [storeKey] = await store.upsertMarkets([snapshot]);
    assert.ok(storeKey);
    return board.annotate(board.apply(snapshot, SAMPLE_AT).market, { storeKey });
  };
  /** Waits for a promise. The store takes real time, the venue that of the fake clock. */
  const until = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (const endAt = performance.now() + GIVE_UP_MS; !isSettled && performance.now() < endAt; )
      await clock.advance(venue.isAsked ? 100 : 0);
    assert.ok(isSettled, "the read did not end");
    return promise;
  };
  const start = async (read: Read): Promise<unknown> => {
    switch (read) {
      case "book":
        return ingest.books.readOrLast(await newMarket());
      case "trades":
        return ingest.trades.read(await newMarket(), null, 10);
      case "history":
        return ingest.pastPrices.read(await newMarket(), "7d", 10);
      case "look-up":
        return ingest.lookUp("alpha", `unknown-${markets++}`);
    }
  };
  /** Reads for a client. Resolves to `answered` or to the failure. */
  const attempt = (read: Read): Promise<string> =>
    until(
      runForCaller("ann", () => start(read)).then(
        () => "answered",
        (error: unknown) => (error instanceof VenueError ? error.failure : String(error)),
      ),
    );
  return { clock, venue, ingest, newMarket, until, attempt };
}

for (const failing of READS)
  eachDatabase(
    `after three timeouts of a ${failing} in a row, every read of the venue is refused at once until it answers`,
    async (database) => {
      const { clock, venue, attempt } = setUp(database);
      venue.responseMs = NEVER_MS;
      for (let failures = 0; failures < 3; failures++) assert.equal(await attempt(failing), "timeout");
      const requests = venue.calls.length;
      for (const read of READS) assert.equal(await attempt(read), "circuit_open", read);
      assert.equal(venue.calls.length, requests);
      await clock.advance(1_000);
      assert.equal(await attempt(failing), "timeout", "one request tests whether the venue answers");
      for (const read of READS) assert.equal(await attempt(read), "circuit_open", read);
      assert.equal(venue.calls.length, requests + 1);
      venue.responseMs = 0;
      await clock.advance(1_000);
      for (const read of READS) assert.equal(await attempt(read), "answered", read);
    },
  );

eachDatabase("while a venue does not answer, its last known book is returned at once as stale", async (database) => {
  const { clock, venue, ingest, newMarket, until, attempt } = setUp(database);
  const market = await newMarket();
  const book = { bids: [{ price: 0.4, size: 10 }], asks: [], lastPrice: null, eventAt: null, receivedAt: SAMPLE_AT };
  venue.books.set(market.listing.marketId, book);
  const read = () => until(runForCaller("ann", () => ingest.books.readOrLast(market)));
  const first = await read();
  venue.responseMs = NEVER_MS;
  for (let failures = 0; failures < 3; failures++) assert.equal(await attempt("trades"), "timeout");
  const requests = venue.calls.length;
  assert.deepEqual(await read(), { book: first.book, isStale: true });
  assert.equal(venue.calls.length, requests);
  await clock.advance(6 * 60_000);
  const failure = await read().catch((error: unknown) => error);
  assert.ok(failure instanceof VenueError, "a book older than five minutes is not returned");
});
