import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { VenueError, type VenueFailure } from "../../src/domain/errors.ts";
import { type EventListing, MARKET_STATUSES, type MarketSnapshot, yesPrice } from "../../src/domain/market.ts";
import type { ListingPage, VenueAdapter } from "../../src/ports/venue.ts";
import type { ScriptedAnswer } from "../support/venues/scripted-http.ts";
import { openVenueHarness, type VenueHarness, type VenueName } from "../support/venues/venue-harness.ts";

const PAGES_MAX = 2_000;
const SAMPLE = 12;
const TIME_MIN = Date.UTC(2000, 0, 1);
const TIME_MAX = Date.UTC(2200, 0, 1);
const DAY_MS = 86_400_000;
/** Counted, though the venue did nothing wrong: rows that are no questions of their own. */
const LEFT_OUT_ON_PURPOSE: ReadonlySet<string> = new Set(["neg_risk_other"]);
const open = () => new AbortController().signal;

const HOSTILE_IDS: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "../../../etc/passwd",
  "..%2f..%2fadmin",
  "%2F",
  "%",
  "a/b",
  "a?b=c#d",
  "\u0000",
  "a\u0000b",
  "a\r\nHost: elsewhere",
  "x".repeat(3_000),
  "\u{1f984}",
  "\ud800",
  "__proto__",
  "constructor",
  "-1",
  "1e999",
  "a:b",
  "https://elsewhere.example/",
  "' OR 1=1 --",
];

const GARBAGE: readonly (readonly [string, ScriptedAnswer, VenueFailure])[] = [
  ["500", { status: 500, body: "oops" }, "server_error"],
  ["HTML with 200", { body: "<!doctype html><title>Maintenance</title>" }, "bad_body"],
  ["an empty body", { body: "" }, "bad_body"],
  ["cut JSON", { body: '[{"id":"a"},{"id":' }, "bad_body"],
  ["a JSON string", { body: '"hello"' }, "bad_body"],
  ["null", { body: "null" }, "bad_body"],
  ["a number", { body: "42" }, "bad_body"],
  ["rows of which none can be read", { body: '[{"a":1},7,null,"x"]' }, "bad_body"],
  ["403", { status: 403, body: "{}" }, "client_error"],
];

/** What every adapter promises, whoever the venue is; run against its sandbox exchange over a simulated world. */
export function describeVenueContract(name: VenueName): void {
  describe(`contract of ${name}`, { concurrency: false }, () => {
    let bench: VenueHarness;
    let pages: ListingPage[];
    let markets: MarketSnapshot[];
    let events: EventListing[];
    let adapter: VenueAdapter;

    before(async () => {
      bench = await openVenueHarness(name);
      adapter = bench.adapter();
      pages = await collect(adapter);
      markets = pages.flatMap((page) => page.markets);
      events = pages.flatMap((page) => page.events);
    });
    after(() => bench?.close());

    const sample = () => markets.filter((_, at) => at % Math.ceil(markets.length / SAMPLE) === 0);

    test("the listing ends, is not empty, and names each market once", () => {
      assert.ok(pages.length < PAGES_MAX);
      assert.ok(markets.length > 0);
      assert.equal(new Set(markets.map(({ listing }) => listing.marketId)).size, markets.length);
    });

    test("nothing of what a healthy venue lists is dropped as unreadable", () => {
      assert.deepEqual(
        [...bench.drops.keys()].filter((reason) => !LEFT_OUT_ON_PURPOSE.has(reason)),
        [],
      );
    });

    test("every market has the configured venue, words, a known status and sane times", () => {
      for (const { listing } of markets) {
        assert.equal(listing.venue, name);
        assert.ok(listing.marketId.length > 0 && listing.title.length > 0);
        assert.ok(MARKET_STATUSES.includes(listing.status));
        for (const at of [listing.openAt, listing.closeAt, listing.expectedResolutionAt, listing.resolvedAt]) {
          assert.ok(at === null || (at > TIME_MIN && at < TIME_MAX), `${listing.marketId}: ${at}`);
        }
        assert.ok(listing.tickSize === null || (listing.tickSize > 0 && listing.tickSize < 1));
        assert.ok(listing.outcome === null || listing.status === "determined" || listing.status === "finalized");
        if (listing.url !== null) assert.equal(new URL(listing.url).protocol, "https:");
      }
    });

    test("every price lies inside (0, 1), a bid below its ask, sizes above nothing", () => {
      for (const { listing, quote } of markets) {
        for (const price of [quote.bid, quote.ask, quote.lastPrice, quote.indicativePrice, yesPrice(quote)]) {
          assert.ok(price === null || (price > 0 && price < 1), `${listing.marketId}: ${price}`);
        }
        if (quote.bid !== null && quote.ask !== null) assert.ok(quote.bid < quote.ask, listing.marketId);
        for (const size of [quote.bidSize, quote.askSize]) assert.ok(size === null || size > 0, listing.marketId);
      }
    });

    test("play money never stands in a field of dollars, and dollars are never below nothing", () => {
      for (const { activity } of markets) {
        for (const amount of Object.values(activity)) {
          assert.ok(adapter.playMoney ? amount === null : amount === null || amount >= 0);
        }
      }
    });

    test("nothing is NaN, infinite or undefined anywhere", () => {
      for (const page of pages) assertPlain(page, "page");
    });

    test("the event of every market is listed too, once", () => {
      const ids = new Set(events.map((event) => event.eventId));
      assert.equal(ids.size, events.length);
      for (const event of events) assert.equal(event.venue, name);
      for (const { listing } of markets) {
        assert.ok(listing.eventId === null || ids.has(listing.eventId), `${listing.marketId} of ${listing.eventId}`);
      }
    });

    test("markets read one by one are the same as in the listing, which may only know less", async () => {
      const chosen = sample();
      const page = await bench.adapter().getMarkets(
        chosen.map(({ listing }) => listing),
        open(),
      );
      assertPlain(page, "page");
      assert.equal(page.markets.length, chosen.length);
      const byId = new Map(page.markets.map((market) => [market.listing.marketId, market]));
      for (const listed of chosen) {
        const read = byId.get(listed.listing.marketId);
        assert.ok(read !== undefined, listed.listing.marketId);
        assertAgrees(listed.listing, read.listing);
      }
    });

    test("nothing is asked and nothing is found when no market is asked for", async () => {
      const before = bench.requests.length;
      assert.deepEqual((await adapter.getMarkets([], open())).markets, []);
      assert.equal(bench.requests.length, before);
    });

    test("a listed market is found by its public id alone", async () => {
      const stranger = bench.adapter();
      for (const { listing } of sample().slice(0, 4)) {
        const page = await stranger.findMarket(listing.marketId, open());
        const found = page?.markets.find((market) => market.listing.marketId === listing.marketId);
        assert.ok(found !== undefined, listing.marketId);
        // Alone, a market may not tell its event; what both say must be the same.
        assertAgrees(found.listing, listing, { gaps: true });
      }
    });

    test("an id the venue does not know is null, and no request leaves the venue's own paths", async () => {
      const stranger = bench.adapter();
      const before = bench.requests.length;
      for (const id of HOSTILE_IDS) {
        assert.equal(await stranger.findMarket(id, open()), null, JSON.stringify(id.slice(0, 40)));
      }
      for (const { url } of bench.requests.slice(before)) {
        const asked = new URL(url);
        const isInside = bench.bases.some((base) => `${asked.origin}${asked.pathname}`.startsWith(`${base}/`));
        assert.ok(isInside, url.slice(0, 200));
      }
    });

    test("a book is in normal form, trades are newest first and within what was asked, history is oldest first", async () => {
      const now = bench.now();
      for (const { listing } of sample().slice(0, 5)) {
        const book = await adapter.getBook(listing, open());
        if (book !== null) {
          assertPlain(book, "book");
          const isSorted = (prices: number[], sign: number) =>
            prices.every((price, at) => at === 0 || sign * price >= sign * (prices[at - 1] ?? price));
          assert.ok(
            isSorted(
              book.asks.map(({ price }) => price),
              1,
            ) &&
              isSorted(
                book.bids.map(({ price }) => price),
                -1,
              ),
          );
          assert.ok((book.bids[0]?.price ?? 0) < (book.asks[0]?.price ?? 1), "crossed");
          for (const { price, size } of [...book.bids, ...book.asks]) assert.ok(price > 0 && price < 1 && size > 0);
        }
        const since = now - DAY_MS;
        const trades = await adapter.listTrades(listing, since, 20, open());
        assertPlain(trades, "trades");
        assert.ok(trades.length <= 20);
        assert.equal(new Set(trades.map(({ tradeId }) => tradeId)).size, trades.length);
        for (const [at, trade] of trades.entries()) {
          assert.ok(trade.executedAt >= since && trade.executedAt <= now);
          assert.ok(trade.executedAt <= (trades[at - 1]?.executedAt ?? now), "newest first");
          assert.ok(trade.yesPrice > 0 && trade.yesPrice < 1 && trade.size > 0);
        }
        const range = { fromMs: now - DAY_MS, toMs: now, intervalMs: 3_600_000 };
        const history = await adapter.getHistory(listing, range, open());
        assertPlain(history, "history");
        for (const [at, point] of history.entries()) {
          assert.ok(point.startAt >= (history[at - 1]?.endAt ?? range.fromMs) && point.startAt < point.endAt);
          assert.ok(point.startAt < range.toMs && point.endAt - point.startAt <= range.intervalMs);
          for (const price of [point.yesPrice, point.bid, point.ask])
            assert.ok(price === null || (price > 0 && price < 1));
          assert.ok(point.volumeUsd === null || (point.volumeUsd >= 0 && !adapter.playMoney));
        }
      }
    });

    test("an abort ends the listing promptly, and nothing is asked after it", async () => {
      const abort = new AbortController();
      bench.intercept = () => ({ afterMs: 3_600_000 });
      const before = bench.requests.length;
      const listing = collect(bench.adapter(), abort.signal);
      await bench.until(() => bench.requests.length > before);
      abort.abort();
      await assert.rejects(listing);
      const asked = bench.requests.length;
      bench.intercept = null;
      await bench.pause();
      assert.equal(bench.requests.length, asked);
    });

    test("an already aborted listing asks nothing", async () => {
      const before = bench.requests.length;
      await assert.rejects(collect(bench.adapter(), AbortSignal.abort()));
      assert.equal(bench.requests.length, before);
    });

    for (const [what, answer, failure] of GARBAGE) {
      test(`a venue that answers ${what} is a ${failure} and gives no part of a listing`, async () => {
        bench.intercept = () => answer;
        try {
          const seen: ListingPage[] = [];
          await assert.rejects(collect(bench.adapter(), open(), seen), (error) => {
            assert.ok(error instanceof VenueError, String(error));
            assert.equal(error.failure, failure);
            return true;
          });
          assert.deepEqual(seen, []);
        } finally {
          bench.intercept = null;
        }
      });
    }

    test("a venue that fails is never taken for one that does not know the market", async () => {
      const known = markets[0]?.listing;
      assert.ok(known !== undefined);
      for (const answer of [{ status: 500 }, { body: "<html>" }]) {
        bench.intercept = () => answer;
        try {
          await assert.rejects(bench.adapter().findMarket(known.marketId, open()), VenueError);
          await assert.rejects(bench.adapter().getMarkets([known], open()), VenueError);
        } finally {
          bench.intercept = null;
        }
      }
    });

    test("a listing that breaks off after its first answer fails, so that nobody takes it for whole", async () => {
      const asked = await bench.count(() => collect(bench.adapter()));
      if (asked < 2) return;
      let turn = 0;
      bench.intercept = () => (turn++ === 0 ? null : { status: 500 });
      try {
        await assert.rejects(collect(bench.adapter()), VenueError);
      } finally {
        bench.intercept = null;
      }
    });

    for (const [what, spoil] of SPOILERS) {
      test(`one row that is ${what} among good ones is dropped and counted, and the others stay`, async () => {
        bench.drops.clear();
        let isSpoilt = false;
        bench.rewrite = (body) => {
          if (isSpoilt) return body;
          const json: unknown = JSON.parse(body);
          isSpoilt = spoilFirstRow(json, spoil);
          return JSON.stringify(json);
        };
        try {
          const left = (await collect(bench.adapter())).flatMap((page) => page.markets);
          assert.ok(isSpoilt, "no answer had rows to spoil");
          assert.ok(left.length > 0 && left.length < markets.length, `${left.length} of ${markets.length}`);
          assert.ok([...bench.drops.values()].reduce((sum, count) => sum + count, 0) > 0);
          for (const page of left) assertPlain(page, "page");
        } finally {
          bench.rewrite = null;
          bench.drops.clear();
        }
      });
    }

    test("a venue that was given another name goes by it everywhere", async () => {
      const renamed = bench.adapter("venue_a");
      assert.equal(renamed.id, "venue_a");
      const [first] = await collect(renamed);
      assert.ok(first !== undefined);
      const found = await renamed.findMarket(markets[0]?.listing.marketId ?? "", open());
      for (const page of [first, found]) {
        for (const { listing } of page?.markets ?? []) assert.equal(listing.venue, "venue_a");
        for (const event of page?.events ?? []) assert.equal(event.venue, "venue_a");
      }
    });
  });
}

async function collect(
  adapter: VenueAdapter,
  signal: AbortSignal = open(),
  pages: ListingPage[] = [],
): Promise<ListingPage[]> {
  for await (const page of adapter.listOpenMarkets(signal)) {
    pages.push(page);
    assert.ok(pages.length < PAGES_MAX, "the listing does not end");
  }
  return pages;
}

/** Every number is finite and nothing is undefined, however deep. */
function assertPlain(value: unknown, path: string): void {
  assert.notEqual(value, undefined, path);
  if (typeof value === "number") assert.ok(Number.isFinite(value), `${path} is ${value}`);
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) assertPlain(inner, `${path}.${name}`);
}

/** What a listing says is what a full read says; only where it says nothing may the read know more. */
function assertAgrees(listed: object, read: object, options: { gaps?: boolean } = {}): void {
  const other = new Map(Object.entries(read));
  for (const [name, value] of Object.entries(listed)) {
    if (value === null || name === "venueKeys" || (options.gaps === true && other.get(name) === null)) continue;
    assert.deepEqual(other.get(name), value, name);
  }
}

const SPOILERS: readonly (readonly [string, (row: unknown) => unknown])[] = [
  ["no object", () => 42],
  ["empty", () => ({})],
  ["of wrong types", (row) => wrongTypes(row)],
];

function wrongTypes(row: unknown): unknown {
  return Object.fromEntries(Object.keys(Object(row)).map((name) => [name, { wrong: [true] }]));
}

/** Replaces the first row of the first list of objects found in an answer; tells whether there was one. */
function spoilFirstRow(json: unknown, spoil: (row: unknown) => unknown): boolean {
  const lists = Array.isArray(json) ? [json] : Object.values(Object(json)).filter(Array.isArray);
  for (const list of lists) {
    if (list.length < 2 || typeof list[0] !== "object") continue;
    list[0] = spoil(list[0]);
    return true;
  }
  return false;
}
