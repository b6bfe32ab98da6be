import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { VenueError, type VenueFailure } from "../../src/domain/errors.ts";
import { type EventListing, MARKET_STATUSES, type MarketSnapshot, yesPrice } from "../../src/domain/market.ts";
import { isCrossed } from "../../src/domain/order-book.ts";
import { isPriceGrid } from "../../src/domain/order-rules.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { ListingPage, VenueAdapter } from "../../src/ports/venue.ts";
import type { ScriptedResponse } from "../support/venues/scripted-http.ts";
import { openVenueHarness, type VenueHarness, type VenueName } from "../support/venues/venue-harness.ts";

const PAGES_MAX = 2_000;
const SAMPLE_SIZE = 12;
const PLAUSIBLE_TIME_MIN = Date.UTC(2000, 0, 1);
const PLAUSIBLE_TIME_MAX = Date.UTC(2200, 0, 1);
/** Drop reasons of valid rows that are intentionally not listed. `neg_risk_other`: Polymarket's "other" outcome of a group. */
const EXPECTED_DROPS: ReadonlySet<string> = new Set(["neg_risk_other"]);
const createSignal = () => new AbortController().signal;

const HOSTILE_MARKET_IDS: readonly string[] = [
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

const INVALID_RESPONSES: readonly (readonly [string, ScriptedResponse, VenueFailure])[] = [
  ["500", { status: 500, body: "oops" }, "server_error"],
  ["200 with HTML", { body: "<!doctype html><title>Maintenance</title>" }, "bad_body"],
  ["an empty body", { body: "" }, "bad_body"],
  ["truncated JSON", { body: '[{"id":"a"},{"id":' }, "bad_body"],
  ["a JSON string", { body: '"hello"' }, "bad_body"],
  ["null", { body: "null" }, "bad_body"],
  ["a number", { body: "42" }, "bad_body"],
  ["only invalid rows", { body: '[{"a":1},7,null,"x"]' }, "bad_body"],
  ["403", { status: 403, body: "{}" }, "client_error"],
];

/** Invalid values that replace one row of a valid response. */
const INVALID_ROWS: readonly (readonly [string, (row: unknown) => unknown])[] = [
  ["a number", () => 42],
  ["an empty object", () => ({})],
  [
    "an object with fields of wrong types",
    (row) => Object.fromEntries(Object.keys(Object(row)).map((name) => [name, { wrong: [true] }])),
  ],
];

/** The adapter under test and the result of one sweep. */
interface TestedVenue {
  readonly name: VenueName;
  readonly harness: VenueHarness;
  readonly adapter: VenueAdapter;
  readonly pages: readonly ListingPage[];
  readonly markets: readonly MarketSnapshot[];
  readonly events: readonly EventListing[];
}

/** Guarantees of every adapter, tested against its sandbox exchange with a simulated world. */
export function describeVenueContract(name: VenueName): void {
  describe(`contract of ${name}`, { concurrency: false }, () => {
    let testedVenue: TestedVenue;
    before(async () => {
      const harness = await openVenueHarness(name);
      const adapter = harness.adapter();
      const pages = await sweep(adapter);
      testedVenue = {
        name,
        harness,
        adapter,
        pages,
        markets: pages.flatMap((page) => page.markets),
        events: pages.flatMap((page) => page.events),
      };
    });
    after(() => testedVenue?.harness.close());

    testListing(() => testedVenue);
    testSingleMarkets(() => testedVenue);
    testBooksTradesAndHistory(() => testedVenue);
    testAborts(() => testedVenue);
    testFailures(() => testedVenue);
    testInvalidRows(() => testedVenue);
  });
}

function testListing(getVenue: () => TestedVenue): void {
  test("the listing has a last page, is not empty and contains each market once", () => {
    const { pages, markets } = getVenue();
    assert.ok(pages.length < PAGES_MAX);
    assert.ok(markets.length > 0);
    assert.equal(new Set(markets.map(({ listing }) => listing.marketId)).size, markets.length);
  });

  test("if a venue has no faults, none of its rows is dropped as invalid", () => {
    const reasons = [...getVenue().harness.drops.keys()];
    assert.deepEqual(
      reasons.filter((reason) => !EXPECTED_DROPS.has(reason)),
      [],
    );
  });

  test("every market has the configured venue, a title, a known status and plausible times", () => {
    const { name, markets } = getVenue();
    for (const { listing } of markets) {
      assert.equal(listing.venue, name);
      assert.ok(listing.marketId.length > 0 && listing.title.length > 0);
      assert.ok(MARKET_STATUSES.includes(listing.status));
      for (const at of [listing.openAt, listing.closeAt, listing.expectedResolutionAt, listing.resolvedAt]) {
        assert.ok(at === null || (at > PLAUSIBLE_TIME_MIN && at < PLAUSIBLE_TIME_MAX), `${listing.marketId}: ${at}`);
      }
      assert.ok(listing.priceRanges === null || isPriceGrid(listing.priceRanges));
      assert.ok(listing.outcome === null || listing.status === "determined" || listing.status === "finalized");
      if (listing.url !== null) assert.equal(new URL(listing.url).protocol, "https:");
    }
  });

  test("every price is in (0, 1), every bid is below its ask and every size is positive", () => {
    for (const { listing, quote } of getVenue().markets) {
      for (const price of [quote.bid, quote.ask, quote.lastPrice, quote.indicativePrice, yesPrice(quote)]) {
        assert.ok(price === null || (price > 0 && price < 1), `${listing.marketId}: ${price}`);
      }
      assert.ok(!isCrossed(quote.bid, quote.ask), listing.marketId);
      for (const size of [quote.bidSize, quote.askSize]) assert.ok(size === null || size > 0, listing.marketId);
    }
  });

  test("USD amounts are null if the venue uses play money, and are never negative", () => {
    const { adapter, markets } = getVenue();
    for (const { activity } of markets) {
      for (const amount of Object.values(activity)) {
        assert.ok(adapter.playMoney ? amount === null : amount === null || amount >= 0);
      }
    }
  });

  test("no value is NaN, infinite or undefined", () => {
    for (const page of getVenue().pages) assertFiniteValues(page, "page");
  });

  test("every event is listed once, and the event of every market is listed", () => {
    const { name, events, markets } = getVenue();
    const ids = new Set(events.map((event) => event.eventId));
    assert.equal(ids.size, events.length);
    for (const event of events) assert.equal(event.venue, name);
    for (const { listing } of markets) {
      assert.ok(listing.eventId === null || ids.has(listing.eventId), `${listing.marketId} of ${listing.eventId}`);
    }
  });
}

function testSingleMarkets(getVenue: () => TestedVenue): void {
  test("a market read by id has all non-null fields of its listing, with equal values", async () => {
    const sample = selectSample(getVenue().markets);
    const page = await getVenue()
      .harness.adapter()
      .getMarkets(
        sample.map(({ listing }) => listing),
        createSignal(),
      );
    assertFiniteValues(page, "page");
    assert.equal(page.markets.length, sample.length);
    const byId = new Map(page.markets.map((market) => [market.listing.marketId, market]));
    for (const { listing } of sample) {
      const singleMarket = byId.get(listing.marketId);
      assert.ok(singleMarket !== undefined, listing.marketId);
      assertKnownFieldsEqual(listing, singleMarket.listing);
    }
  });

  test("getMarkets sends no request if the list of ids is empty", async () => {
    const { adapter, harness } = getVenue();
    const requestsBefore = harness.requests.length;
    assert.deepEqual((await adapter.getMarkets([], createSignal())).markets, []);
    assert.equal(harness.requests.length, requestsBefore);
  });

  test("an adapter that has not listed any market finds a market by its id", async () => {
    const newAdapter = getVenue().harness.adapter();
    for (const { listing } of selectSample(getVenue().markets).slice(0, 4)) {
      const page = await newAdapter.findMarket(listing.marketId, createSignal());
      const found = page?.markets.find((market) => market.listing.marketId === listing.marketId);
      assert.ok(found !== undefined, listing.marketId);
      // The response for a single market may not contain its event.
      assertKnownFieldsEqual(found.listing, listing, { ignoreNulls: true });
    }
  });

  test("findMarket returns null for a hostile id and sends requests only below the venue's base URLs", async () => {
    const { harness } = getVenue();
    const newAdapter = harness.adapter();
    const requestsBefore = harness.requests.length;
    for (const id of HOSTILE_MARKET_IDS) {
      assert.equal(await newAdapter.findMarket(id, createSignal()), null, JSON.stringify(id.slice(0, 40)));
    }
    for (const { url } of harness.requests.slice(requestsBefore)) {
      const { origin, pathname } = new URL(url);
      assert.ok(
        harness.baseUrls.some((base) => `${origin}${pathname}`.startsWith(`${base}/`)),
        url.slice(0, 200),
      );
    }
  });

  test("a venue with a configured id uses this id in its listings, markets and events", async () => {
    const { harness, markets } = getVenue();
    const renamedAdapter = harness.adapter("venue_a");
    assert.equal(renamedAdapter.id, "venue_a");
    const [firstPage] = await sweep(renamedAdapter);
    assert.ok(firstPage !== undefined);
    const foundPage = await renamedAdapter.findMarket(markets[0]?.listing.marketId ?? "", createSignal());
    for (const page of [firstPage, foundPage]) {
      for (const { listing } of page?.markets ?? []) assert.equal(listing.venue, "venue_a");
      for (const event of page?.events ?? []) assert.equal(event.venue, "venue_a");
    }
  });
}

function testBooksTradesAndHistory(getVenue: () => TestedVenue): void {
  const sample = () => selectSample(getVenue().markets).slice(0, 5);

  test("public ids have names in snake_case and are not empty; an automated market maker has no book", async () => {
    const { adapter, markets } = getVenue();
    for (const { listing } of markets) {
      const { bookType, ids } = adapter.detailsOf(listing);
      for (const [name, id] of Object.entries(ids)) assert.ok(/^[a-z_]+$/.test(name) && id !== "", `${name}: ${id}`);
      assert.ok(adapter.playMoney || Object.keys(ids).length > 0);
      assert.ok(bookType === "clob" || bookType === "amm");
    }
    const amm = markets.find(({ listing }) => adapter.detailsOf(listing).bookType === "amm");
    if (amm !== undefined) assert.equal(await adapter.getBook(amm.listing, createSignal()), null);
  });

  test("a book has valid levels, is sorted with the best price first and is not crossed", async () => {
    for (const { listing } of sample()) {
      const book = await getVenue().adapter.getBook(listing, createSignal());
      if (book === null) continue;
      assertFiniteValues(book, "book");
      const { bids, asks } = book;
      assert.ok(bids.every(({ price }, index) => price <= (bids[index - 1]?.price ?? price)));
      assert.ok(asks.every(({ price }, index) => price >= (asks[index - 1]?.price ?? price)));
      assert.ok(!isCrossed(bids[0]?.price ?? null, asks[0]?.price ?? null), "crossed");
      for (const { price, size } of [...bids, ...asks]) assert.ok(price > 0 && price < 1 && size > 0);
    }
  });

  test("trades are unique, newest first, within the requested time range and not more than the limit", async () => {
    const { adapter, harness } = getVenue();
    const now = harness.now();
    const since = now - DAY_MS;
    for (const { listing } of sample()) {
      const trades = await adapter.listTrades(listing, since, 20, createSignal());
      assertFiniteValues(trades, "trades");
      assert.ok(trades.length <= 20);
      assert.equal(new Set(trades.map(({ tradeId }) => tradeId)).size, trades.length);
      for (const [index, trade] of trades.entries()) {
        assert.ok(trade.executedAt >= since && trade.executedAt <= now);
        assert.ok(trade.executedAt <= (trades[index - 1]?.executedAt ?? now), "newest first");
        assert.ok(trade.yesPrice > 0 && trade.yesPrice < 1 && trade.size > 0);
      }
    }
  });

  test("history points are oldest first, do not overlap and are in the requested range", async () => {
    const { adapter, harness } = getVenue();
    const now = harness.now();
    const range = { fromMs: now - DAY_MS, toMs: now, intervalMs: 3_600_000 };
    for (const { listing } of sample()) {
      const history = await adapter.getHistory(listing, range, createSignal());
      assertFiniteValues(history, "history");
      for (const [index, point] of history.entries()) {
        assert.ok(point.startAt >= (history[index - 1]?.endAt ?? range.fromMs) && point.startAt < point.endAt);
        assert.ok(point.startAt < range.toMs && point.endAt - point.startAt <= range.intervalMs);
        for (const price of [point.yesPrice, point.bid, point.ask]) {
          assert.ok(price === null || (price > 0 && price < 1));
        }
        assert.ok(point.volumeUsd === null || (point.volumeUsd >= 0 && !adapter.playMoney));
      }
    }
  });
}

function testAborts(getVenue: () => TestedVenue): void {
  test("an abort ends the listing, and the adapter sends no further request", async () => {
    const { harness } = getVenue();
    const abort = new AbortController();
    harness.intercept = () => ({ afterMs: 3_600_000 });
    const requestsBefore = harness.requests.length;
    const listing = sweep(harness.adapter(), abort.signal);
    await harness.until(() => harness.requests.length > requestsBefore);
    abort.abort();
    await assert.rejects(listing);
    const requestsAtAbort = harness.requests.length;
    harness.intercept = null;
    await harness.pause();
    assert.equal(harness.requests.length, requestsAtAbort);
  });

  test("a listing sends no request if its signal is already aborted", async () => {
    const { harness } = getVenue();
    const requestsBefore = harness.requests.length;
    await assert.rejects(sweep(harness.adapter(), AbortSignal.abort()));
    assert.equal(harness.requests.length, requestsBefore);
  });
}

function testFailures(getVenue: () => TestedVenue): void {
  for (const [description, response, failure] of INVALID_RESPONSES) {
    test(`a listing that receives ${description} fails with ${failure} and yields no page`, async () => {
      const { harness } = getVenue();
      harness.intercept = () => response;
      try {
        const pages: ListingPage[] = [];
        await assert.rejects(sweep(harness.adapter(), createSignal(), pages), (error) => {
          assert.ok(error instanceof VenueError, String(error));
          assert.equal(error.failure, failure);
          return true;
        });
        assert.deepEqual(pages, []);
      } finally {
        harness.intercept = null;
      }
    });
  }

  test("findMarket and getMarkets throw if their request fails, and do not report the market as unknown", async () => {
    const { harness, markets } = getVenue();
    const listing = markets[0]?.listing;
    assert.ok(listing !== undefined);
    for (const response of [{ status: 500 }, { body: "<html>" }]) {
      harness.intercept = () => response;
      try {
        await assert.rejects(harness.adapter().findMarket(listing.marketId, createSignal()), VenueError);
        await assert.rejects(harness.adapter().getMarkets([listing], createSignal()), VenueError);
      } finally {
        harness.intercept = null;
      }
    }
  });

  test("a listing throws if its second request fails", async () => {
    const { harness } = getVenue();
    const requestCount = await harness.count(() => sweep(harness.adapter()));
    if (requestCount < 2) return;
    let requests = 0;
    harness.intercept = () => (requests++ === 0 ? null : { status: 500 });
    try {
      await assert.rejects(sweep(harness.adapter()), VenueError);
    } finally {
      harness.intercept = null;
    }
  });
}

function testInvalidRows(getVenue: () => TestedVenue): void {
  for (const [description, makeInvalid] of INVALID_ROWS) {
    test(`the adapter drops and counts a row replaced by ${description}, and keeps the other rows`, async () => {
      const { harness, markets } = getVenue();
      harness.drops.clear();
      let isReplaced = false;
      harness.rewrite = (body) => {
        if (isReplaced) return body;
        const json: unknown = JSON.parse(body);
        isReplaced = replaceFirstRow(json, makeInvalid);
        return JSON.stringify(json);
      };
      try {
        const remainingMarkets = (await sweep(harness.adapter())).flatMap((page) => page.markets);
        assert.ok(isReplaced, "no response had rows to replace");
        assert.ok(
          remainingMarkets.length > 0 && remainingMarkets.length < markets.length,
          `${remainingMarkets.length} of ${markets.length}`,
        );
        assert.ok([...harness.drops.values()].reduce((sum, count) => sum + count, 0) > 0);
        for (const market of remainingMarkets) assertFiniteValues(market, "market");
      } finally {
        harness.rewrite = null;
        harness.drops.clear();
      }
    });
  }
}

/** Selects at most `SAMPLE_SIZE` markets, evenly distributed over the listing. */
function selectSample(markets: readonly MarketSnapshot[]): MarketSnapshot[] {
  const step = Math.ceil(markets.length / SAMPLE_SIZE);
  return markets.filter((_, index) => index % step === 0);
}

async function sweep(
  adapter: VenueAdapter,
  signal: AbortSignal = createSignal(),
  pages: ListingPage[] = [],
): Promise<ListingPage[]> {
  for await (const page of adapter.listOpenMarkets(signal)) {
    pages.push(page);
    assert.ok(pages.length < PAGES_MAX, "the listing does not end");
  }
  return pages;
}

/** Asserts recursively that every number is finite and no value is undefined. */
function assertFiniteValues(value: unknown, path: string): void {
  assert.notEqual(value, undefined, path);
  if (typeof value === "number") assert.ok(Number.isFinite(value), `${path} is ${value}`);
  if (typeof value !== "object" || value === null) return;
  for (const [name, field] of Object.entries(value)) assertFiniteValues(field, `${path}.${name}`);
}

/** Asserts that every non-null field of `expected` is equal in `actual`. */
function assertKnownFieldsEqual(expected: object, actual: object, options: { ignoreNulls?: boolean } = {}): void {
  const actualFields = new Map(Object.entries(actual));
  for (const [name, value] of Object.entries(expected)) {
    if (value === null || name === "venueKeys") continue;
    if (options.ignoreNulls === true && actualFields.get(name) === null) continue;
    assert.deepEqual(actualFields.get(name), value, name);
  }
}

/** Replaces the first row of the first list of objects in a response; returns whether such a list exists. */
function replaceFirstRow(json: unknown, replace: (row: unknown) => unknown): boolean {
  const lists = Array.isArray(json) ? [json] : Object.values(Object(json)).filter(Array.isArray);
  for (const list of lists) {
    if (list.length < 2 || typeof list[0] !== "object") continue;
    list[0] = replace(list[0]);
    return true;
  }
  return false;
}
