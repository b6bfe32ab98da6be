import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { adapterHarness } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { ScriptedResponse } from "../../../test/support/venues/scripted-http.ts";
import type { MarketListing } from "../../domain/market.ts";
import { createLimitlessVenue } from "./index.ts";

const fixture = fixtureReader(import.meta.url);
const NOW = Date.UTC(2026, 10, 21, 4);
const signal = new AbortController().signal;

/** The adapter with scripted responses; the clock advances while the adapter waits. */
function setUp(respond: (path: string, requestIndex: number) => ScriptedResponse) {
  const harness = adapterHarness(
    (ports) =>
      createLimitlessVenue({
        ...ports,
        socketIo: { connect: () => assert.fail("opened a stream") },
        restUrl: "https://api.limitless.test/",
        wsUrl: "wss://ws.limitless.test",
      }),
    (url, requestIndex) => respond(`${url.pathname}${url.search}`, requestIndex),
    NOW,
  );
  return { ...harness, paths: () => harness.urls().map((url) => `${url.pathname}${url.search}`) };
}

const row = (number: number) => ({ ...(fixture("market/one-sided") as object), slug: `market-${number}` });
const page = (from: number, count: number, total: number | null) => ({
  body: JSON.stringify({
    data: Array.from({ length: count }, (_, index) => row(from + index)),
    ...(total === null ? {} : { totalMarketsCount: total }),
  }),
});

describe("listing", () => {
  test("requests 25 rows per page and ends when page x limit reaches the total", async () => {
    const { sweep, paths } = setUp((_path, index) => page(index * 25, index === 2 ? 7 : 25, 57));
    const pages = await sweep();
    assert.equal(pages.flatMap((entry) => entry.markets).length, 57);
    assert.deepEqual(
      pages.map((entry) => entry.totalRows),
      [57, 57, 57],
    );
    assert.deepEqual(
      paths(),
      [1, 2, 3].map((number) => `/markets/active?page=${number}&limit=25&sortBy=newest`),
    );
  });

  test("if the venue sends no total, ends the listing after a short page", async () => {
    const { sweep } = setUp((_path, index) => page(index * 25, index === 1 ? 3 : 25, null));
    assert.equal((await sweep()).length, 2);
  });

  test("if a page before the total is empty, ends the listing and counts it as incomplete", async () => {
    const { sweep, drops } = setUp((_path, index) => page(index * 25, index === 1 ? 0 : 25, 1_000));
    const pages = await sweep();
    assert.deepEqual(
      pages.map(({ markets, incompleteReason }) => [markets.length, incompleteReason]),
      [
        [25, null],
        [0, "page_short"],
      ],
    );
    assert.deepEqual(drops, { page_short: 1 });
  });

  test("ends the listing after a repeated page and counts it as a loop", async () => {
    const { sweep, drops, http } = setUp(() => page(0, 25, 10_000));
    assert.deepEqual(
      (await sweep()).map(({ incompleteReason }) => incompleteReason),
      [null, "page_loop"],
    );
    assert.equal(http.requests.length, 2);
    assert.deepEqual(drops, { page_loop: 1 });
  });

  test("reads six pages within three seconds with at most two concurrent requests", async () => {
    const { sweep, clock, http } = setUp((_path, index) => ({ ...page(index * 25, 25, 150), afterMs: 200 }));
    const startedAt = clock.monotonic();
    assert.equal((await sweep()).length, 6);
    assert.ok(clock.monotonic() - startedAt <= 3_000, `${clock.monotonic() - startedAt} ms`);
    assert.ok(http.inFlightMax <= 2);
  });

  test("a long sweep sends at most three requests per second", async () => {
    const { sweep, http } = setUp((_path, index) => page(index * 25, 25, 25 * 30));
    await sweep();
    const times = http.requests.map(({ at }) => at);
    assert.ok((times.at(-1) ?? 0) >= ((30 - 6) / 3) * 1_000 - 100, `${times.at(-1)} ms`);
  });
});

describe("single markets", () => {
  const group = JSON.stringify((fixture("market/page-single-and-group") as { data: unknown[] }).data[1]);
  const single = JSON.stringify((fixture("market/page-single-and-group") as { data: unknown[] }).data[0]);
  const child = JSON.stringify(
    ((fixture("market/page-single-and-group") as { data: { markets?: unknown[] }[] }).data[1]?.markets ?? [])[1],
  );
  const responses: Readonly<Record<string, ScriptedResponse>> = {
    "/markets/f1-champion-2026-1784000000000": { body: group },
    "/markets/driver-b-1784000002000": { body: child },
    "/markets/rain-nyc-dec-1-1795000000000": { body: single },
    "/markets/active/slugs": { body: JSON.stringify(fixture("market/active-slugs")) },
  };
  const respond = (path: string): ScriptedResponse => responses[path] ?? { status: 404, body: "{}" };

  test("reads the children of a group in one request and omits unknown markets", async () => {
    const { venue, clock, paths } = setUp(respond);
    const groupSlug = "f1-champion-2026-1784000000000";
    const { markets, events } = await clock.until(
      venue.getMarkets(
        [
          { marketId: "driver-a-1784000001000", venueKeys: { groupSlug } },
          { marketId: "driver-b-1784000002000", venueKeys: { groupSlug } },
          { marketId: "rain-nyc-dec-1-1795000000000", venueKeys: {} },
          { marketId: "unknown-1", venueKeys: {} },
        ],
        signal,
      ),
    );
    assert.deepEqual(
      markets.map(({ listing }) => [listing.marketId, listing.eventId]),
      [
        ["driver-a-1784000001000", groupSlug],
        ["driver-b-1784000002000", groupSlug],
        ["rain-nyc-dec-1-1795000000000", null],
      ],
    );
    assert.deepEqual(
      events.map((event) => event.eventId),
      [groupSlug],
    );
    assert.deepEqual(paths(), [`/markets/${groupSlug}`, "/markets/rain-nyc-dec-1-1795000000000", "/markets/unknown-1"]);
  });

  test("if a child's group no longer exists, the child keeps its event and title from the listing", async () => {
    const { venue, clock } = setUp((path) =>
      path.includes("f1-champion") ? { status: 404, body: "{}" } : respond(path),
    );
    const venueKeys = { groupSlug: "f1-champion-2026-1784000000000", groupTitle: "F1 champion 2026" };
    const { markets } = await clock.until(
      venue.getMarkets([{ marketId: "driver-b-1784000002000", venueKeys }], signal),
    );
    assert.equal(markets[0]?.listing.eventId, "f1-champion-2026-1784000000000");
    assert.equal(markets[0]?.listing.title, "F1 champion 2026 — Driver B");
  });

  test("finds a child's group in the list of slugs", async () => {
    const { venue, clock } = setUp(respond);
    const found = await clock.until(venue.findMarket("driver-b-1784000002000", signal));
    assert.deepEqual(
      found?.markets.map(({ listing }) => [listing.marketId, listing.eventId]),
      [["driver-b-1784000002000", "f1-champion-2026-1784000000000"]],
    );
  });

  test("reads an announced child with its group, even if no listing has contained the group yet", async () => {
    const { venue, clock } = setUp(respond);
    const announced = [{ marketId: "driver-b-1784000002000", venueKeys: {} }];
    const { markets, events } = await clock.until(venue.getMarkets(announced, signal));
    const groupId = "f1-champion-2026-1784000000000";
    assert.deepEqual(
      [markets.map(({ listing }) => [listing.marketId, listing.eventId]), events.map(({ eventId }) => eventId)],
      [[["driver-b-1784000002000", groupId]], [groupId]],
    );
  });

  test("does not return a group as a market", async () => {
    const { venue, clock } = setUp(respond);
    assert.equal(await clock.until(venue.findMarket("f1-champion-2026-1784000000000", signal)), null);
  });

  test("one invalid response does not affect the other markets", async () => {
    const { venue, clock, drops } = setUp((path) =>
      path.endsWith("invalid") ? { body: '{"slug":1}' } : respond(path),
    );
    const { markets } = await clock.until(
      venue.getMarkets(
        [
          { marketId: "invalid", venueKeys: {} },
          { marketId: "rain-nyc-dec-1-1795000000000", venueKeys: {} },
        ],
        signal,
      ),
    );
    assert.equal(markets.length, 1);
    assert.deepEqual(drops, { bad_market_row: 1 });
  });
});

describe("trades", () => {
  const listing = {
    marketId: "m-1",
    status: "active",
    venueKeys: { slug: "m-1", kind: "clob" },
  } as unknown as MarketListing;
  const tradeRow = (number: number) => ({
    createdAt: new Date(NOW - number * 1000).toISOString(),
    price: 0.4,
    side: 0,
    matchedSize: "1000000",
    tokenId: "1",
    txHash: `0x${number}`,
  });
  const tradePage = (from: number, count: number) => ({
    body: JSON.stringify({ events: Array.from({ length: count }, (_, index) => tradeRow(from + index)) }),
  });

  test("returns a trade once if it shifts to the next page between two requests", async () => {
    const { venue, clock } = setUp((_path, index) => (index === 0 ? tradePage(0, 100) : tradePage(95, 20)));
    const trades = await clock.until(venue.listTrades(listing, 0, 1_000, signal));
    assert.equal(trades.length, 115);
    assert.ok(trades.every((trade, index) => index === 0 || trade.executedAt <= (trades[index - 1]?.executedAt ?? 0)));
  });

  test("stops reading trades at the requested time or number of trades", async () => {
    const { venue, clock, http } = setUp((_path, index) => tradePage(index * 100, 100));
    assert.equal((await clock.until(venue.listTrades(listing, NOW - 149_000, 1_000, signal))).length, 150);
    assert.equal(http.requests.length, 2);
    assert.equal((await clock.until(venue.listTrades(listing, 0, 10, signal))).length, 10);
    assert.equal(http.requests.length, 3);
  });

  test("reads at most 20 pages of trades", async () => {
    const { venue, clock, http } = setUp((_path, index) => tradePage(index * 100, 100));
    await clock.until(venue.listTrades(listing, 0, 1_000_000, signal));
    assert.equal(http.requests.length, 20);
  });
});

test("returns null as the book of an AMM market, a settled market and a 400 response", async () => {
  const { venue, clock, http } = setUp(() => ({ status: 400, body: "{}" }));
  const base = { marketId: "m-1", status: "active", venueKeys: { slug: "m-1", kind: "clob" } };
  const getBook = (changes: object) =>
    clock.until(venue.getBook({ ...base, ...changes } as unknown as MarketListing, signal));
  assert.equal(await getBook({ venueKeys: { slug: "m-1", kind: "amm" } }), null);
  assert.equal(await getBook({ status: "finalized" }), null);
  assert.equal(http.requests.length, 0);
  assert.equal(await getBook({}), null);
});
