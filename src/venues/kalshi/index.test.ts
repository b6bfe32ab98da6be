import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { adapterHarness, marketIdsOf } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { MarketListing } from "../../domain/market.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { createKalshiVenue } from "./index.ts";
import type { MarketWire } from "./wire.ts";

const NOW = Date.UTC(2026, 10, 21, 3);
const { signal } = new AbortController();
const readFixture = fixtureReader(import.meta.url);

const market = (readFixture("market/active") as { market: MarketWire }).market;
const row = (ticker: string, fields: object = {}) => ({ ...market, ticker, ...fields });

interface Reply {
  readonly status?: number;
  readonly json: unknown;
}

/** @param respond returns undefined for a 404 */
function setUp(
  respond: (url: URL, path: string) => Reply | undefined,
  key: { keyId: string; privateKeyPem: string } | null = null,
) {
  const pathOf = (url: URL) => url.pathname.replace("/trade-api/v2", "");
  const harness = adapterHarness(
    (ports) =>
      createKalshiVenue({
        ...ports,
        restUrl: "https://venue.test/trade-api/v2",
        wsUrl: "wss://venue.test/trade-api/ws/v2",
        ...key,
      }),
    (url) => {
      const { status, json } = respond(url, pathOf(url)) ?? { status: 404, json: readFixture("error/not-found") };
      return { status, body: JSON.stringify(json) };
    },
    NOW,
  );
  return { ...harness, paths: () => harness.urls().map(pathOf) };
}

/** Responses to requests for events and series. */
function eventReply(url: URL, path: string): Reply | undefined {
  if (path === "/events") {
    assert.equal(url.searchParams.get("tickers"), "KXRAINNYC-26DEC01");
    return { json: readFixture("event/page") };
  }
  if (path === "/series/KXRAINNYC") {
    return { json: { series: (readFixture("event/series-list") as { series: unknown[] }).series[0] } };
  }
  return undefined;
}

const listing = {
  marketId: "KXRAINNYC-26DEC01-T1",
  status: "active",
  openAt: null,
  closeAt: null,
  venueKeys: { series: "KXRAINNYC" },
} as unknown as MarketListing;

test("a sweep lists open, paused and unopened markets until the empty cursor, and each event once", async () => {
  const { urls, sweep } = setUp((url, path) => {
    if (path !== "/markets") return eventReply(url, path);
    assert.equal(url.searchParams.get("mve_filter"), "exclude");
    const status = url.searchParams.get("status");
    if (status !== "open") return { json: { markets: [], cursor: "" } };
    const isSecond = url.searchParams.get("cursor") === "next=";
    return { json: { markets: [row(isSecond ? "KX-B" : "KX-A")], cursor: isSecond ? "" : "next=" } };
  });
  const pages = await sweep();
  assert.deepEqual(marketIdsOf(pages), ["KX-A", "KX-B"]);
  assert.deepEqual(
    pages.flatMap((page) => page.events.map(({ eventId }) => eventId)),
    ["KXRAINNYC-26DEC01"],
  );
  const statuses = urls()
    .filter((url) => url.pathname.endsWith("/markets"))
    .map((url) => url.searchParams.get("status"));
  assert.deepEqual(statuses, ["open", "open", "paused", "unopened"]);
});

test("requests events and series in the first sweep, and only their changes in a refresh", async () => {
  const { clock, urls, paths, sweep } = setUp((url, path) => {
    if (path === "/markets")
      return { json: { markets: url.searchParams.get("status") === "open" ? [market] : [], cursor: "" } };
    if (url.searchParams.has("min_updated_ts"))
      return { json: path === "/series" ? { series: [] } : { events: [], cursor: "" } };
    return eventReply(url, path);
  });
  await sweep();
  assert.equal(paths().filter((path) => path !== "/markets").length, 2);
  await sweep();
  assert.equal(paths().filter((path) => path !== "/markets").length, 2);
  await clock.advance(10 * 60_000);
  await sweep();
  const later = urls().filter((url) => url.searchParams.has("min_updated_ts"));
  assert.deepEqual(
    later.map((url) => url.searchParams.get("min_updated_ts")),
    Array(2).fill(String(Math.floor((NOW - 60_000) / 1_000))),
  );
});

test("if the venue refuses an event, lists its market without it and does not request the event again immediately", async () => {
  const { drops, paths, sweep } = setUp((url, path) => {
    if (path === "/markets")
      return { json: { markets: url.searchParams.get("status") === "open" ? [market] : [], cursor: "" } };
    return path === "/events" ? { status: 400, json: {} } : undefined;
  });
  const [page] = await sweep();
  assert.equal(page?.markets[0]?.listing.title, market.title);
  assert.deepEqual(drops, { events_unavailable: 1 });
  const eventRequests = paths().filter((path) => path.startsWith("/events")).length;
  await sweep();
  assert.equal(paths().filter((path) => path.startsWith("/events")).length, eventRequests);
});

test("lists changes by `min_updated_ts` in whole seconds, without a status filter, and refreshes the events", async () => {
  const { clock, urls, venue } = setUp((url, path) => {
    if (path !== "/markets") return path === "/events" || path === "/series" ? { json: {} } : eventReply(url, path);
    const cursor = url.searchParams.get("cursor");
    return { json: { markets: [row(cursor === null ? "A" : "B")], cursor: cursor === null ? "next" : "" } };
  });
  const list = async () => {
    const pages: string[] = [];
    for await (const { markets } of venue.listChangedMarkets?.(NOW - 30_500, signal) ?? [])
      pages.push(markets.map(({ listing }) => listing.marketId).join());
    return pages;
  };
  assert.deepEqual(await clock.until(list()), ["A", "B"]);
  const [first] = urls().filter(({ pathname }) => pathname.endsWith("/markets"));
  assert.deepEqual(Object.fromEntries(first?.searchParams ?? []), {
    min_updated_ts: String(NOW / 1_000 - 31),
    mve_filter: "exclude",
    limit: "1000",
  });
  const eventRefreshes = () =>
    urls().filter(({ searchParams, pathname }) => pathname.endsWith("/events") && searchParams.has("min_updated_ts"));
  assert.deepEqual(eventRefreshes(), []);
  await clock.advance(6 * 60_000);
  await clock.until(list());
  assert.equal(eventRefreshes().length, 1);
});

test("ends and counts a sweep that repeats a cursor or returns an empty page", async () => {
  const { drops, sweep } = setUp((url, path) => {
    if (path !== "/markets") return eventReply(url, path);
    if (url.searchParams.get("status") === "open") return { json: { markets: [market], cursor: "again" } };
    return { json: { markets: [], cursor: url.searchParams.get("status") === "paused" ? "more" : "" } };
  });
  const pages = await sweep();
  assert.equal(pages.length, 4);
  assert.deepEqual(drops, { page_loop: 1, page_empty: 1 });
  assert.deepEqual(
    pages.map(({ incompleteReason }) => incompleteReason),
    [null, "page_loop", "page_empty", null],
  );
});

test("counts the invalid rows of a page and keeps the valid ones", async () => {
  const { drops, sweep } = setUp((url, path) => {
    if (path !== "/markets") return eventReply(url, path);
    const isOpen = url.searchParams.get("status") === "open";
    return { json: isOpen ? readFixture("market/page-with-garbage") : { markets: [], cursor: "" } };
  });
  const pages = await sweep();
  assert.deepEqual(
    pages[0]?.markets.map(({ listing }) => [listing.marketId, listing.status]),
    [
      ["KXRAINNYC-26DEC01-T1", "active"],
      ["KXRAINNYC-26DEC01-T2", "active"],
      // This market has an undocumented status, so it is not listed as tradable.
      ["KXBAD-1", "closed"],
    ],
  );
  assert.deepEqual(drops, { bad_market: 6, combo_market: 1 });
});

test("getMarkets reads all markets in one request and the missing ones from the historical tier", async () => {
  const { clock, venue, urls } = setUp((url, path) => {
    if (path === "/markets") return { json: { markets: [row("KX-LIVE")], cursor: "" } };
    if (path === "/historical/markets") {
      return {
        json: { markets: [row("KX-OLD", { status: "finalized", result: "no" }), row("KX-UNREQUESTED")], cursor: "" },
      };
    }
    return eventReply(url, path);
  });
  const listings = ["KX-LIVE", "KX-OLD", "KX-NONE", "..", "with space"].map((marketId) => ({
    marketId,
    venueKeys: {},
  }));
  const page = await clock.until(venue.getMarkets(listings, signal));
  assert.deepEqual(
    page.markets.map(({ listing }) => [listing.marketId, listing.status]),
    [
      ["KX-LIVE", "active"],
      ["KX-OLD", "finalized"],
    ],
  );
  const tickers = urls()
    .filter((url) => url.pathname.endsWith("/markets"))
    .map((url) => url.searchParams.get("tickers"));
  assert.deepEqual(tickers, ["KX-LIVE,KX-OLD,KX-NONE", "KX-OLD,KX-NONE"]);
});

test("findMarket returns null for a market that is in neither tier", async () => {
  const { clock, venue, paths } = setUp(() => undefined);
  assert.equal(await clock.until(venue.findMarket("KX-NONE", signal)), null);
  assert.deepEqual(paths(), ["/markets/KX-NONE", "/historical/markets/KX-NONE"]);
});

test("reads a crossed book twice and returns an empty book if it is still crossed", async () => {
  const { clock, venue, drops } = setUp(() => ({ json: readFixture("book/crossed") }));
  const book = await clock.until(venue.getBook(listing, signal));
  assert.deepEqual(book, { bids: [], asks: [], lastPrice: null, eventAt: null, receivedAt: NOW });
  assert.deepEqual(drops, { crossed_book: 2 });
});

test("if books require a key, returns the top of book and does not request the book again", async () => {
  const { clock, venue, paths } = setUp((_url, path) =>
    path.endsWith("/orderbook") ? { status: 401, json: readFixture("error/unauthorized") } : { json: { market } },
  );
  for (let read = 0; read < 2; read++) {
    const book = await clock.until(venue.getBook(listing, signal));
    assert.deepEqual(book?.bids, [{ price: 0.42, size: 120 }]);
    assert.deepEqual(book?.asks, [{ price: 0.45, size: 75.5 }]);
    assert.equal(book?.lastPrice, 0.43);
  }
  assert.equal(paths().filter((path) => path.endsWith("/orderbook")).length, 1);
});

test("returns an empty book, not null, if the venue returns a book without levels", async () => {
  const { clock, venue, drops } = setUp(() => ({ json: { orderbook_fp: { yes_dollars: [], no_dollars: [] } } }));
  const book = await clock.until(venue.getBook(listing, signal));
  assert.deepEqual(book, { bids: [], asks: [], lastPrice: null, eventAt: null, receivedAt: NOW });
  assert.deepEqual(drops, {});
});

test("returns null for the book of a settled market without a request, and if the venue responds with 404", async () => {
  const { clock, venue, paths } = setUp(() => undefined);
  assert.equal(await clock.until(venue.getBook({ ...listing, status: "finalized" }, signal)), null);
  assert.deepEqual(paths(), []);
  assert.equal(await clock.until(venue.getBook(listing, signal)), null);
});

test("reads trades before the cutoff from the historical tier", async () => {
  const { clock, venue, urls } = setUp((_url, path) => {
    if (path === "/historical/cutoff") return { json: readFixture("trades/historical-cutoff") };
    if (path === "/markets/trades") return { json: readFixture("trades/page") };
    const [trade] = (readFixture("trades/page") as { trades: object[] }).trades;
    const old = { ...trade, trade_id: "old", created_time: "2026-11-13T01:00:00Z" };
    return path === "/historical/trades" ? { json: { trades: [old], cursor: "" } } : undefined;
  });
  const sinceMs = Date.UTC(2026, 10, 13) + 500;
  const trades = await clock.until(venue.listTrades(listing, sinceMs, 100, signal));
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["7f0c3f62-0d3e-4b57-a1b0-0b3c6d4f9a01", "t2", "old"],
  );
  // The venue filters by whole seconds.
  assert.equal(urls()[0]?.searchParams.get("min_ts"), String(Math.floor(sinceMs / 1_000)));
  const recent = await clock.until(venue.listTrades(listing, NOW - 2 * HOUR_MS, 1, signal));
  assert.equal(recent.length, 1);
});

test("omits trades before the requested millisecond although the venue filters by whole seconds", async () => {
  const { clock, venue } = setUp((_url, path) =>
    path === "/markets/trades"
      ? { json: readFixture("trades/page") }
      : { json: readFixture("trades/historical-cutoff") },
  );
  const trades = await clock.until(venue.listTrades(listing, Date.UTC(2026, 10, 21, 1, 2, 3, 456), 100, signal));
  assert.equal(trades.length, 1);
});

test("reads candlesticks of a settled market from the historical tier and omits periods outside the range", async () => {
  const { clock, venue, paths, urls } = setUp((_url, path) =>
    path.startsWith("/historical/") ? { json: readFixture("history/candlesticks-historical") } : undefined,
  );
  const toMs = 1_795_230_000_000;
  const range = { fromMs: toMs - HOUR_MS, toMs, intervalMs: 2 * HOUR_MS };
  const points = await clock.until(venue.getHistory(listing, range, signal));
  assert.deepEqual(
    points.map(({ endAt }) => endAt),
    [toMs],
  );
  assert.deepEqual(paths(), [
    "/series/KXRAINNYC/markets/KXRAINNYC-26DEC01-T1/candlesticks",
    "/historical/markets/KXRAINNYC-26DEC01-T1/candlesticks",
  ]);
  assert.equal(urls()[0]?.searchParams.get("period_interval"), "60");
});

test("if the series is unknown, requests candlesticks with the event's or the market's ticker in its place", async () => {
  const { clock, venue, paths } = setUp(() => ({ json: readFixture("history/candlesticks-live") }));
  const range = { fromMs: 1_795_220_000_000, toMs: 1_795_240_000_000, intervalMs: HOUR_MS };
  for (const eventId of ["KXRAINNYC-26DEC01", null]) {
    const points = await clock.until(venue.getHistory({ ...listing, eventId, venueKeys: {} }, range, signal));
    assert.equal(points.length, 3);
  }
  assert.deepEqual(paths(), [
    "/series/KXRAINNYC-26DEC01/markets/KXRAINNYC-26DEC01-T1/candlesticks",
    "/series/KXRAINNYC-26DEC01-T1/markets/KXRAINNYC-26DEC01-T1/candlesticks",
  ]);
});

test("without a key, opens no stream and signs no request; with a key, signs every request", async () => {
  const respond = () => ({ json: { market } });
  const keyless = setUp(respond);
  assert.equal(keyless.venue.openStream({ onMessage() {}, onUp() {}, onDown() {} }), null);
  await keyless.clock.until(keyless.venue.findMarket(market.ticker, signal));
  assert.equal(keyless.http.requests[0]?.request.headers?.["KALSHI-ACCESS-KEY"], undefined);

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const keyed = setUp(respond, { keyId: "key-1", privateKeyPem });
  await keyed.clock.until(keyed.venue.findMarket(market.ticker, signal));
  const headers = keyed.http.requests[0]?.request.headers ?? {};
  assert.equal(headers["KALSHI-ACCESS-KEY"], "key-1");
  assert.equal(headers["KALSHI-ACCESS-TIMESTAMP"], String(NOW));
  assert.match(headers["KALSHI-ACCESS-SIGNATURE"] ?? "", /^[A-Za-z0-9+/]+=*$/);
});

test("with a key, at most 1,000 markets are followed on the stream; without a key, none", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const keyed = setUp(() => undefined, { keyId: "key-1", privateKeyPem });
  assert.equal(keyed.venue.profile.streamMarketsMax, 1_000);
  assert.equal(setUp(() => undefined).venue.profile.streamMarketsMax, 0);
});

test("rejects a private key that is not an RSA key in PEM, without the key in the error message", () => {
  const secret = "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----";
  assert.throws(
    () => setUp(() => undefined, { keyId: "key-1", privateKeyPem: secret }),
    (error) => error instanceof Error && /RSA private key/.test(error.message) && !error.message.includes("secret"),
  );
});
