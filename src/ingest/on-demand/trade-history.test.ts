import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/market-samples.ts";
import { MemoryMarketStore } from "../../../test/support/memory-stores.ts";
import { ScriptedVenue } from "../../../test/support/venues/scripted-venue.ts";
import { MarketBoard } from "../../board/index.ts";
import { VenueError } from "../../domain/errors.ts";
import type { Trade } from "../../domain/trade.ts";
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
  const history = new TradeHistory({ venues: new Map([["alpha", { adapter: venue }]]), store, requests, clock });
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  const stored = board.annotate(market, { storeKey: 7 });
  const keep = (list: readonly Trade[]) => store.insertTrades(list.map((each) => ({ marketKey: 7, trade: each })));
  const requestCount = () => venue.callsOf("listTrades").length;
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
  return { clock, venue, store, history, market: stored, unstored: market, keep, requestCount, readAll };
}

test("returns the venue's trades, newest first, and pages through them without gaps or repetitions", async () => {
  const { venue, readAll, requestCount } = await setUp();
  venue.trades.set("m", trades(0, 1_234).reverse());
  const pages = await readAll(100);
  assert.deepEqual(idsOf(pages.flat()), idsOf(trades(0, 1_234)));
  assert.deepEqual([pages.length, pages.at(-1)?.length], [13, 34]);
  // The requests for 501, 2,000 and 10,000 trades. The last one shows that there are no more.
  assert.equal(requestCount(), 3);
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

test("a later page uses an earlier answer of the venue, because trades before its position do not change", async () => {
  const { clock, venue, history, market, requestCount } = await setUp();
  venue.trades.set("m", trades(10, 300));
  const { next } = await history.read(market, null, 100);
  venue.trades.set("m", trades(0, 300));
  await clock.advance(60_000);
  assert.deepEqual(idsOf((await history.read(market, next, 100)).trades), idsOf(trades(110, 210)));
  assert.equal(requestCount(), 1);
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
  const { venue, keep, readAll, requestCount } = await setUp();
  venue.trades.set("m", trades(0, 11_000));
  await keep(trades(9_990, 10_400));
  assert.deepEqual(idsOf((await readAll(500)).flat()), idsOf(trades(0, 10_400)));
  assert.equal(requestCount(), 3);
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

test("a venue that does not answer in time is a timeout", async () => {
  const { clock, venue, history, market } = await setUp();
  venue.responseMs = 60_000;
  const failure = await clock.until(history.read(market, null, 10).catch((error: unknown) => error));
  assert.ok(failure instanceof VenueError && failure.failure === "timeout");
});
