import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { openThreadedIngest } from "../../../test/support/venues/threaded-ingest.ts";
import { AppError, VenueError } from "../../domain/errors.ts";
import { currentCaller, runForCaller } from "../../lib/current-caller.ts";
import type { Database } from "../../ports/database.ts";
import { createMarketStore } from "../../storage/index.ts";

/** Opens an ingest that has restored its board and has read its venue, which lists one market. */
async function openStarted(database: Database) {
  const opened = openThreadedIngest(database);
  const { venue, ingest, until } = opened;
  venue.setMarkets(sampleMarket("m", { quote: { lastPrice: 0.5 } }));
  const restored = ingest.restore();
  await opened.settle(restored);
  ingest.start();
  await until(() => ingest.isSettled);
  return opened;
}

eachDatabase(
  "restores the board from the store in the thread, and reads the venue when it is started",
  async (database) => {
    await createMarketStore(database).upsertMarkets([sampleMarket("stored")]);
    const { board, venue, ingest, observer, until, settle } = openThreadedIngest(database);
    venue.setMarkets(sampleMarket("stored"), sampleMarket("m"));
    assert.equal(await settle(ingest.restore()), 1);
    assert.notEqual(board.find("alpha", "stored")?.storeKey ?? null, null);
    assert.deepEqual([venue.calls.length, observer.starts, ingest.isSettled], [0, 0, false]);
    ingest.start();
    await until(() => ingest.isSettled);
    // Settled means that this board has every market of the first sweep.
    assert.notEqual(board.find("alpha", "m"), null);
    assert.deepEqual([observer.starts, ingest.figures], [1, { starts: 1 }]);
    const health = ingest.health().alpha;
    assert.deepEqual([health?.status, health?.role, health?.markets], ["ok", "ingest", 2]);
  },
);

eachDatabase("a market that was looked up or stored is on this board when the call returns", async (database) => {
  const { board, venue, ingest, settle } = await openStarted(database);
  venue.markets.set("new", sampleMarket("new"));
  assert.equal(await settle(ingest.lookUp("alpha", "new")), true);
  const market = board.find("alpha", "new");
  assert.ok(market !== null);
  const history = await settle(ingest.pastPrices.readRange(market, { fromMs: 0, toMs: 300_000, intervalMs: 300_000 }));
  assert.equal(history.period, null);
  assert.notEqual(board.find("alpha", "new")?.storeKey ?? null, null);
  assert.equal(await settle(ingest.lookUp("alpha", "none")), false);
});

eachDatabase(
  "order books and trades are read through the thread, for the caller, with the errors of the venue",
  async (database) => {
    const { clock, board, venue, ingest, settle } = await openStarted(database);
    const book = { bids: [{ price: 0.4, size: 1 }], asks: [], lastPrice: null, eventAt: null, receivedAt: SAMPLE_AT };
    venue.books.set("m", book);
    const market = board.find("alpha", "m");
    assert.ok(market !== null);
    assert.deepEqual((await settle(ingest.books.read(market)))?.bids, book.bids);
    assert.equal((await settle(ingest.books.readOrLast(market))).isStale, false);
    assert.deepEqual(await settle(ingest.books.tracked([market.listing, market.listing])), [null, null]);
    assert.deepEqual(await settle(ingest.trades.read(market, null, 10)), { trades: [], next: null });
    await clock.advance(2_000);
    const failure = new VenueError("server_error", "broken", { status: 503, retryable: true, retryAfterMs: 4_000 });
    venue.failing.set("getBook", failure);
    await assert.rejects(settle(ingest.books.read(market)), (error) => {
      assert.ok(error instanceof VenueError);
      const { failure: kind, message, status, retryable, retryAfterMs } = error;
      assert.deepEqual([kind, message, status, retryable, retryAfterMs], ["server_error", "broken", 503, true, 4_000]);
      return true;
    });
    await clock.advance(2_000);
    venue.failing.set("getBook", new AppError("overloaded", "later", { details: { retryAfterSeconds: 3 } }));
    await assert.rejects(settle(ingest.books.read(market)), {
      code: "overloaded",
      details: { retryAfterSeconds: 3 },
    });
  },
);

eachDatabase(
  "a thread that ends is replaced: calls fail, the board keeps its markets and their times",
  async (database) => {
    const { clock, board, venue, ingest, threads, until } = await openStarted(database);
    const before = board.find("alpha", "m");
    assert.ok(before !== null);
    venue.responseMs = 1_000;
    const call = ingest.lookUp("alpha", "other");
    const rejected = assert.rejects(call, { failure: "network", retryable: true });
    await clock.advance(10);
    const [first] = threads;
    assert.ok(first !== undefined);
    venue.setMarkets(sampleMarket("m", { quote: { lastPrice: 0.9 } }));
    await Promise.all([first.kill(), rejected]);
    assert.deepEqual(ingest.thread, { isUp: false, restarts: 1 });
    assert.deepEqual([ingest.health().alpha?.status, ingest.health().alpha?.stream], ["degraded", "down"]);
    assert.equal(board.find("alpha", "m"), before);
    await assert.rejects(ingest.books.read(before), { failure: "network", retryable: true });
    await clock.advance(249);
    assert.equal(threads.length, 1);
    await until(() => board.find("alpha", "m")?.quote.lastPrice === 0.9);
    await until(() => ingest.health().alpha?.status === "ok");
    assert.deepEqual([threads.length, ingest.thread?.isUp, ingest.thread?.restarts], [2, true, 1]);
    assert.equal(board.size, 1);
  },
);

eachDatabase("a call that arrives while a new thread restores its board waits for the markets", async (database) => {
  await createMarketStore(database).upsertMarkets([sampleMarket("m")]);
  const { board, ingest, threads, until, settle } = await openStarted(database);
  const market = board.find("alpha", "m");
  assert.ok(market !== null);
  await threads[0]?.kill();
  await until(() => threads.length === 2);
  assert.deepEqual(await settle(ingest.trades.read(market, null, 10)), { trades: [], next: null });
});

eachDatabase("a call about a market that the thread does not have fails, and may be repeated", async (database) => {
  const { board, ingest, settle } = await openStarted(database);
  const { market } = board.apply(sampleMarket("unsaved"), SAMPLE_AT);
  const reads: (() => Promise<unknown>)[] = [
    () => ingest.books.read(market),
    () => ingest.books.readOrLast(market),
    () => ingest.trades.read(market, null, 10),
  ];
  for (const read of reads)
    await assert.rejects(settle(read()), { failure: "network", retryable: true, message: /not loaded yet/ });
});

eachDatabase("a call runs in the thread on behalf of its caller", async (database) => {
  const { board, venue, ingest, settle } = await openStarted(database);
  const market = board.find("alpha", "m");
  assert.ok(market !== null);
  const callers: (string | null)[] = [];
  const { listTrades } = venue;
  venue.listTrades = (...parameters) => {
    callers.push(currentCaller());
    return listTrades.apply(venue, parameters);
  };
  await settle(runForCaller("customer", () => ingest.trades.read(market, null, 10)));
  assert.ok(callers.includes("customer"));
});

eachDatabase(
  "a thread that loads the stored markets sends its status, so that it is not replaced if this needs more than 30 s",
  async (database) => {
    const mayLoad = Promise.withResolvers<void>();
    const slow: Database = {
      ...database,
      query: (text, ...rest) =>
        text.includes("from events")
          ? mayLoad.promise.then(() => database.query(text, ...rest))
          : database.query(text, ...rest),
    };
    const { clock, ingest, threads, settle } = openThreadedIngest(slow);
    const restored = ingest.restore();
    await clock.advance(61_000);
    const { thread, figures } = ingest;
    const state = { threads: threads.length, isUp: thread?.isUp, restarts: thread?.restarts, figures };
    mayLoad.resolve();
    assert.equal(await settle(restored), 0);
    assert.deepEqual(state, { threads: 1, isUp: true, restarts: 0, figures: { starts: 0 } });
  },
);

eachDatabase("the pause before a replacement doubles while threads keep ending, up to 30 seconds", async (database) => {
  const { clock, threads, until } = await openStarted(database);
  const pauses: number[] = [];
  for (let count = 1; count <= 9; count++) {
    await threads.at(-1)?.kill();
    const endedAt = clock.monotonic();
    await until(() => threads.length > count, 50);
    pauses.push(Math.round((clock.monotonic() - endedAt) / 250) * 250);
  }
  assert.deepEqual(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

eachDatabase("a thread that sends no status for 30 seconds is ended and replaced", async (database) => {
  const { clock, ingest, threads, until } = await openStarted(database);
  threads[0]?.hang();
  await clock.advance(6_000);
  assert.deepEqual(ingest.thread, { isUp: false, restarts: 0 });
  await until(() => threads.length === 2, 100);
  await until(() => ingest.thread?.isUp === true);
  assert.equal(ingest.thread?.restarts, 1);
});

eachDatabase(
  "stopping stores queued changes and the observer's last events before the thread ends",
  async (database) => {
    const { venue, ingest, observer, settle, stop } = await openStarted(database);
    venue.setMarkets(sampleMarket("m"), sampleMarket("last"));
    assert.equal(await settle(ingest.lookUp("alpha", "last")), true);
    await stop();
    const rows = await database.query<{ market_id: string }>("select market_id from markets order by market_id");
    assert.deepEqual(
      rows.map(({ market_id }) => market_id),
      ["last", "m"],
    );
    assert.equal(observer.stops, 1);
  },
);

eachDatabase("a thread that cannot load the stored markets fails the start with its error", async (database) => {
  const broken: Database = {
    ...database,
    query: (text, ...rest) =>
      text.includes("from events")
        ? Promise.reject(new AppError("store_unavailable", "down"))
        : database.query(text, ...rest),
  };
  const { ingest, settle } = openThreadedIngest(broken);
  await assert.rejects(settle(ingest.restore()), { code: "store_unavailable", message: "down" });
});
