import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { MemoryMarketStore } from "../../../test/support/memory-stores.ts";
import { ScriptedVenue } from "../../../test/support/venues/scripted-venue.ts";
import { MarketBoard } from "../../board/index.ts";
import { VenueError } from "../../domain/errors.ts";
import type { Trade } from "../../domain/trade.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import type { TradePosition } from "../../storage/index.ts";
import { TradeHistory } from "./trade-history.ts";
import { VenueRequestQueue } from "./venue-request-queue.ts";

/** The trade number `number`: larger numbers are older, and three trades share each second. */
const trade = (number: number): Trade => ({
  tradeId: `t${String(99_999 - number)}`,
  executedAt: SAMPLE_AT - Math.floor(number / 3) * 1_000,
  yesPrice: 0.5,
  size: 1 + (number % 7),
  takerSide: "yes",
});
const trades = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => trade(from + index));
const idsOf = (list: readonly Trade[]) => list.map(({ tradeId }) => tradeId);

async function setUp() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const venue = new ScriptedVenue("alpha", clock);
  const store = new MemoryMarketStore();
  const requests = new VenueRequestQueue(clock);
  const requestedSizes: number[] = [];
  const adapter: Pick<VenueAdapter, "listTrades"> = {
    listTrades(listing, sinceMs, limit, signal) {
      requestedSizes.push(limit);
      return venue.listTrades(listing, sinceMs, limit, signal);
    },
  };
  const history = new TradeHistory({ venues: new Map([["alpha", { adapter }]]), store, requests, clock });
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  const stored = board.annotate(market, { storeKey: 7 });
  const addMarket = (marketId: string, parts: SampleParts = {}) =>
    board.apply(sampleMarket(marketId, parts), SAMPLE_AT).market;
  const keep = (list: readonly Trade[]) => store.insertTrades(list.map((each) => ({ marketKey: 7, trade: each })));
  const requestCount = () => requestedSizes.length;
  const sizes = () => requestedSizes;
  /** Follows the pages to the end. */
  const readAll = async (limit: number, pagesMax = 1_000) => {
    const pages: (readonly Trade[])[] = [];
    let after: TradePosition | null = null;
    do {
      const { trades: page, next }: Awaited<ReturnType<TradeHistory["read"]>> = await history.read(
        stored,
        after,
        limit,
      );
      pages.push(page);
      after = next;
    } while (after !== null && pages.length < pagesMax);
    return pages;
  };
  return {
    clock,
    venue,
    store,
    history,
    market: stored,
    unstored: market,
    addMarket,
    keep,
    requestCount,
    sizes,
    readAll,
  };
}

test("returns the venue's trades, newest first, and pages through them without gaps or repetitions", async () => {
  const { venue, readAll, sizes } = await setUp();
  venue.trades.set("m", trades(0, 1_234).reverse());
  const pages = await readAll(100);
  assert.deepEqual(idsOf(pages.flat()), idsOf(trades(0, 1_234)));
  assert.deepEqual([pages.length, pages.at(-1)?.length], [13, 34]);
  // The last request shows that there are no more.
  assert.deepEqual(sizes(), [200, 600, 2_000, 10_000]);
});

test("requests only as many trades as the first page needs", async () => {
  for (const [limit, size] of [
    [100, 200],
    [190, 200],
    [200, 600],
    [500, 600],
  ] as const) {
    const { venue, history, market, sizes } = await setUp();
    venue.trades.set("m", trades(0, 1_234));
    assert.equal((await history.read(market, null, limit)).trades.length, limit);
    assert.deepEqual(sizes(), [size]);
  }
});

test("a market with few trades costs one request; one without trades is an empty page", async () => {
  const { clock, venue, readAll, requestCount } = await setUp();
  assert.deepEqual(await readAll(100), [[]]);
  await clock.advance(2_000);
  venue.trades.set("m", trades(0, 3));
  assert.deepEqual(idsOf((await readAll(100)).flat()), idsOf(trades(0, 3)));
  assert.equal(requestCount(), 2);
});

test("the newest trades are requested at most once in 2 seconds, also by concurrent callers and after a failure", async () => {
  const { clock, venue, history, market, requestCount } = await setUp();
  venue.responseMs = 50;
  venue.trades.set("m", trades(1, 4));
  const reads = Promise.all(Array.from({ length: 20 }, () => history.read(market, null, 10)));
  await clock.until(reads);
  venue.trades.set("m", trades(0, 4));
  await clock.advance(1_949);
  assert.equal((await history.read(market, null, 10)).trades.length, 3);
  assert.equal(requestCount(), 1);
  await clock.advance(1);
  assert.equal((await clock.until(history.read(market, null, 10))).trades.length, 4);
  venue.failing.set("listTrades", new VenueError("server_error", "broken", { retryable: true }));
  await clock.advance(2_000);
  for (let call = 0; call < 3; call++) await assert.rejects(clock.until(history.read(market, null, 10)), VenueError);
  assert.equal(requestCount(), 3);
});

test("a request that takes longer than 2 seconds is shared until it ends", async () => {
  const { clock, venue, history, market, requestCount } = await setUp();
  venue.responseMs = 3_000;
  const first = history.read(market, null, 10);
  await clock.advance(2_500);
  const second = history.read(market, null, 10);
  await clock.until(Promise.all([first, second]));
  assert.equal(requestCount(), 1);
});

test("for 10 minutes, a later page uses an earlier answer, because trades before its position do not change", async () => {
  const { clock, venue, history, market, requestCount } = await setUp();
  venue.trades.set("m", trades(10, 400));
  const { next } = await history.read(market, null, 250);
  venue.trades.set("m", trades(0, 400));
  await clock.advance(599_999);
  assert.deepEqual(idsOf((await history.read(market, next, 100)).trades), idsOf(trades(260, 360)));
  assert.equal(requestCount(), 1);
  await clock.advance(1);
  await history.read(market, next, 100);
  assert.ok(requestCount() > 1);
});

test("a page ends early if the venue answers only for its first part, and the next page continues there", async () => {
  const { clock, venue, history, unstored } = await setUp();
  venue.trades.set("m", trades(0, 700));
  const first = await history.read(unstored, null, 150);
  venue.failing.set("listTrades", new VenueError("server_error", "broken", { retryable: true }));
  const second = await history.read(unstored, first.next, 150);
  // Of the 200 trades in the answer, those of the oldest second may be incomplete.
  assert.deepEqual(idsOf(second.trades), idsOf(trades(150, 198)));
  await assert.rejects(history.read(unstored, second.next, 150), VenueError);
  venue.failing.clear();
  await clock.advance(2_000);
  assert.deepEqual(idsOf((await history.read(unstored, second.next, 150)).trades), idsOf(trades(198, 348)));
});

test("a failed request for a later page is repeated after 2 seconds", async () => {
  const { clock, venue, history, unstored } = await setUp();
  venue.trades.set("m", trades(0, 600));
  const { next } = await history.read(unstored, null, 197);
  venue.failing.set("listTrades", new VenueError("server_error", "broken", { retryable: true }));
  assert.equal((await history.read(unstored, next, 100)).trades.length, 1);
  venue.failing.clear();
  await assert.rejects(history.read(unstored, next, 100), VenueError);
  await clock.advance(2_000);
  assert.deepEqual(idsOf((await history.read(unstored, next, 100)).trades), idsOf(trades(197, 297)));
});

test("keeps at most 50,000 trades, the most recently requested, and none for longer than 10 minutes", async () => {
  const { clock, venue, history, addMarket, requestCount } = await setUp();
  const markets = Array.from({ length: 12 }, (_, number) => addMarket(`m${number}`));
  for (const { listing } of markets) venue.trades.set(listing.marketId, trades(0, 10_000));
  const last: TradePosition = { executedAt: 0, tradeId: "" };
  const counts: number[] = [];
  for (const market of markets) {
    // Requests 10,000 trades. The answers before it, of 200, 600 and 2,000 trades, must not be counted as well.
    await history.read(market, last, 10);
    counts.push(history.cachedTradeCount);
  }
  assert.deepEqual(counts, [10_000, 20_000, 30_000, 40_000, ...Array(8).fill(50_000)]);
  const before = requestCount();
  for (const market of markets.slice(-5)) await history.read(market, last, 10);
  assert.equal(requestCount(), before);
  await clock.advance(600_000);
  await history.read(addMarket("other"), null, 10);
  assert.equal(history.cachedTradeCount, 0);
});

test("keeps at most 2,000 answers, including those without trades, and all requests that are pending", async () => {
  const { clock, venue, history, addMarket, requestCount } = await setUp();
  venue.responseMs = 1_500;
  const slow = addMarket("slow");
  const pending = history.read(slow, null, 10);
  await clock.settle();
  venue.responseMs = 0;
  const markets = Array.from({ length: 2_001 }, (_, number) => addMarket(`m${number}`));
  for (const market of markets) await history.read(market, null, 10);
  assert.equal(requestCount(), 2_002);
  await clock.advance(1_000);
  const shared = history.read(slow, null, 10);
  await clock.until(Promise.all([pending, shared]));
  assert.equal(requestCount(), 2_002);
  await history.read(markets[2_000] ?? slow, null, 10);
  assert.equal(requestCount(), 2_002);
  await history.read(markets[0] ?? slow, null, 10);
  assert.equal(requestCount(), 2_003);
});

test("if a response arrives after a larger one, the number of cached trades stays that of the larger one", async () => {
  const { clock, venue, history, market } = await setUp();
  venue.trades.set("m", trades(0, 300));
  venue.responseMs = 100;
  const newest = history.read(market, null, 10);
  await clock.advance(50);
  await clock.until(Promise.all([newest, history.read(market, null, 200)]));
  assert.equal(history.cachedTradeCount, 300);
});

test("orders trades of one time by the bytes of their ids, as the store does", async () => {
  const { venue, readAll } = await setUp();
  const at = (tradeId: string) => ({ ...trade(0), tradeId });
  // In UTF-16, U+1F600 is before U+FF5E.
  venue.trades.set("m", [at("\u{ff5e}"), at("\u{1f600}"), at("b"), at("a")]);
  assert.deepEqual(idsOf((await readAll(1)).flat()), ["\u{1f600}", "\u{ff5e}", "b", "a"]);
});

test("an error that is not the venue's is thrown even if trades are stored", async () => {
  const { venue, history, market, keep } = await setUp();
  await keep(trades(0, 5));
  venue.failing.set("listTrades", new TypeError("a defect"));
  await assert.rejects(history.read(market, null, 10), TypeError);
});

test("a market of a venue that is no longer configured has its stored trades", async () => {
  const { store, history, addMarket } = await setUp();
  const market = { ...addMarket("n", { listing: { venue: "gone" } }), storeKey: 8 };
  await store.insertTrades(trades(0, 3).map((each) => ({ marketKey: 8, trade: each })));
  assert.deepEqual(idsOf((await history.read(market, null, 10)).trades), idsOf(trades(0, 3)));
});

test("continues with stored trades where the venue has no older ones", async () => {
  const { venue, keep, readAll } = await setUp();
  venue.trades.set("m", trades(0, 50));
  await keep(trades(40, 120));
  const pages = await readAll(30);
  assert.deepEqual(idsOf(pages.flat()), idsOf(trades(0, 120)));
  assert.deepEqual(
    pages.map((page) => page.length),
    [30, 30, 30, 30],
  );
});

test("continues with stored trades beyond the newest 10,000", async () => {
  const { venue, keep, readAll, sizes } = await setUp();
  venue.trades.set("m", trades(0, 11_000));
  await keep(trades(9_990, 10_400));
  assert.deepEqual(idsOf((await readAll(500)).flat()), idsOf(trades(0, 10_400)));
  assert.deepEqual(sizes(), [600, 2_000, 10_000]);
});

test("if the venue does not answer, returns the stored trades, and the failure if there are none", async () => {
  const { clock, venue, history, market, unstored, keep, readAll } = await setUp();
  venue.failing.set("listTrades", new VenueError("server_error", "broken", { retryable: true }));
  await assert.rejects(history.read(unstored, null, 10), VenueError);
  await assert.rejects(history.read(market, null, 10), VenueError);
  await clock.advance(2_000);
  await keep(trades(0, 25));
  assert.deepEqual(idsOf((await readAll(10)).flat()), idsOf(trades(0, 25)));
});

test("a read fails with `timeout` if the venue does not answer within 8 seconds", async () => {
  const { clock, venue, history, market } = await setUp();
  venue.responseMs = HOUR_MS;
  const failures: unknown[] = [];
  const ended = history.read(market, null, 10).catch((error: unknown) => failures.push(error));
  await clock.advance(7_999);
  assert.equal(failures.length, 0);
  await clock.advance(1);
  const [failure] = failures;
  assert.ok(failure instanceof VenueError && failure.failure === "timeout");
  await ended;
});
