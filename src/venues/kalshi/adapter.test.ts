import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { VenueError } from "../../domain/errors.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { answerHttp, countDrops, type Reply, readFixture } from "./fixtures/support.ts";
import { createKalshiVenue } from "./index.ts";
import type { MarketWire } from "./wire.ts";

const NOW = Date.UTC(2026, 10, 21, 3);
const never = new AbortController().signal;

const market = (readFixture("market-active") as { market: MarketWire }).market;
const row = (ticker: string, more: object = {}) => ({ ...market, ticker, ...more });

function setUp(
  answer: (url: URL, path: string) => Reply | undefined,
  key: { keyId: string; privateKeyPem: string } | null = null,
) {
  const clock = new FakeClock(NOW);
  const http = answerHttp(
    (url) => answer(url, url.pathname.replace("/trade-api/v2", "")),
    () => clock.now(),
  );
  const { drop, dropped } = countDrops();
  const sockets = {
    connect() {
      throw new Error("no socket expected");
    },
  };
  const random = { uniform: () => 0, bytes: (length: number) => new Uint8Array(length) };
  const restUrl = "https://venue.test/trade-api/v2";
  const venue = createKalshiVenue({
    ...{ id: "kalshi", playMoney: false, http, sockets, clock, random, log: quietLog, drop, drift: () => {} },
    ...{ restUrl, wsUrl: "wss://venue.test/trade-api/ws/v2", ...key },
  });
  return {
    clock,
    http,
    venue,
    dropped,
    paths: () => http.asked.map((url) => url.pathname.replace("/trade-api/v2", "")),
  };
}

/** Events and series as the venue tells them. */
function answerEvents(url: URL, path: string): Reply | undefined {
  if (path === "/events") {
    assert.equal(url.searchParams.get("tickers"), "KXRAINNYC-26DEC01");
    return { json: readFixture("events-page") };
  }
  if (path === "/series/KXRAINNYC") {
    return { json: { series: (readFixture("series-list") as { series: unknown[] }).series[0] } };
  }
  return undefined;
}

async function collect(pages: AsyncIterable<ListingPage>): Promise<ListingPage[]> {
  const found: ListingPage[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

const listing = {
  marketId: "KXRAINNYC-26DEC01-T1",
  status: "active",
  openAt: null,
  closeAt: null,
  venueKeys: { series: "KXRAINNYC" },
} as unknown as MarketListing;

test("the sweep reads open, paused and unopened markets until the empty cursor and tells an event once", async () => {
  const { clock, venue, http } = setUp((url, path) => {
    if (path !== "/markets") return answerEvents(url, path);
    assert.equal(url.searchParams.get("mve_filter"), "exclude");
    const status = url.searchParams.get("status");
    if (status !== "open") return { json: { markets: [], cursor: "" } };
    const isSecond = url.searchParams.get("cursor") === "next=";
    return { json: { markets: [row(isSecond ? "KX-B" : "KX-A")], cursor: isSecond ? "" : "next=" } };
  });
  const pages = await clock.until(collect(venue.listOpenMarkets(never)));
  assert.deepEqual(
    pages.flatMap((page) => page.markets.map(({ listing }) => listing.marketId)),
    ["KX-A", "KX-B"],
  );
  assert.deepEqual(
    pages.flatMap((page) => page.events.map(({ eventId }) => eventId)),
    ["KXRAINNYC-26DEC01"],
  );
  const statuses = http.asked
    .filter((url) => url.pathname.endsWith("/markets"))
    .map((url) => url.searchParams.get("status"));
  assert.deepEqual(statuses, ["open", "open", "paused", "unopened"]);
});

test("events and series are remembered between sweeps; later only what changed is asked for", async () => {
  const { clock, venue, http, paths } = setUp((url, path) => {
    if (path === "/markets")
      return { json: { markets: url.searchParams.get("status") === "open" ? [market] : [], cursor: "" } };
    if (url.searchParams.has("min_updated_ts"))
      return { json: path === "/series" ? { series: [] } : { events: [], cursor: "" } };
    return answerEvents(url, path);
  });
  await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(paths().filter((path) => path !== "/markets").length, 2);
  await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(paths().filter((path) => path !== "/markets").length, 2);
  await clock.advance(10 * 60_000);
  await clock.until(collect(venue.listOpenMarkets(never)));
  const later = http.asked.filter((url) => url.searchParams.has("min_updated_ts"));
  assert.deepEqual(
    later.map((url) => url.searchParams.get("min_updated_ts")),
    Array(2).fill(String(Math.floor((NOW - 60_000) / 1_000))),
  );
});

test("an event that the venue refuses costs its title only, and is not asked for again at once", async () => {
  const { clock, venue, dropped, paths } = setUp((url, path) => {
    if (path === "/markets")
      return { json: { markets: url.searchParams.get("status") === "open" ? [market] : [], cursor: "" } };
    return path === "/events" ? { status: 400, json: {} } : undefined;
  });
  const [page] = await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(page?.markets[0]?.listing.title, market.title);
  assert.deepEqual(dropped, { events_unavailable: 1 });
  const asked = paths().filter((path) => path.startsWith("/events")).length;
  await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(paths().filter((path) => path.startsWith("/events")).length, asked);
});

test("a cursor that comes back and a page without rows end the paging and are counted", async () => {
  const { clock, venue, dropped } = setUp((url, path) => {
    if (path !== "/markets") return answerEvents(url, path);
    if (url.searchParams.get("status") === "open") return { json: { markets: [market], cursor: "again" } };
    return { json: { markets: [], cursor: url.searchParams.get("status") === "paused" ? "more" : "" } };
  });
  const pages = await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(pages.length, 4);
  assert.deepEqual(dropped, { page_loop: 1, page_empty: 1 });
  assert.deepEqual(
    pages.map(({ incompleteReason }) => incompleteReason),
    [undefined, "page_loop", "page_empty", undefined],
  );
});

test("markets-page-with-garbage: bad rows are counted and the page is not thrown away", async () => {
  const { clock, venue, dropped } = setUp((url, path) => {
    if (path !== "/markets") return answerEvents(url, path);
    const isOpen = url.searchParams.get("status") === "open";
    return { json: isOpen ? readFixture("markets-page-with-garbage") : { markets: [], cursor: "" } };
  });
  const pages = await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(pages[0]?.markets.length, 3);
  assert.equal(dropped.bad_market, 6);
});

test("an answer in another shape is a VenueError, not an empty sweep", async () => {
  const { clock, venue } = setUp(() => ({ json: { items: [] } }));
  await assert.rejects(
    clock.until(collect(venue.listOpenMarkets(never))),
    (error) => error instanceof VenueError && error.failure === "bad_body",
  );
});

test("error-too-many-requests: a 429 without Retry-After is waited out and tried again", async () => {
  let refusals = 1;
  const { clock, venue } = setUp((url, path) => {
    if (refusals-- > 0) return { status: 429, json: readFixture("error-too-many-requests") };
    return path === "/markets" ? { json: { markets: [], cursor: "" } } : answerEvents(url, path);
  });
  const pages = await clock.until(collect(venue.listOpenMarkets(never)));
  assert.equal(pages.length, 3);
  assert.ok(clock.now() >= NOW + 1_000);
});

test("getMarkets asks in one batch and looks up in the historical tier what the live one has lost", async () => {
  const { clock, venue, http } = setUp((url, path) => {
    if (path === "/markets") return { json: { markets: [row("KX-LIVE")], cursor: "" } };
    if (path === "/historical/markets") {
      return {
        json: { markets: [row("KX-OLD", { status: "finalized", result: "no" }), row("KX-UNASKED")], cursor: "" },
      };
    }
    return answerEvents(url, path);
  });
  const wanted = ["KX-LIVE", "KX-OLD", "KX-NONE", "..", "with space"].map((marketId) => ({ marketId, venueKeys: {} }));
  const page = await clock.until(venue.getMarkets(wanted, never));
  assert.deepEqual(
    page.markets.map(({ listing }) => [listing.marketId, listing.status]),
    [
      ["KX-LIVE", "active"],
      ["KX-OLD", "finalized"],
    ],
  );
  const tickers = http.asked
    .filter((url) => url.pathname.endsWith("/markets"))
    .map((url) => url.searchParams.get("tickers"));
  assert.deepEqual(tickers, ["KX-LIVE,KX-OLD,KX-NONE", "KX-OLD,KX-NONE"]);
});

test("error-not-found: a market neither tier knows is null", async () => {
  const { clock, venue, paths } = setUp(() => undefined);
  assert.equal(await clock.until(venue.findMarket("KX-NONE", never)), null);
  assert.deepEqual(paths(), ["/markets/KX-NONE", "/historical/markets/KX-NONE"]);
});

test("an id cannot leave its place in the path", async () => {
  const { clock, venue, paths } = setUp(() => undefined);
  for (const id of ["..", ".", "a,b", "a b", "", "x".repeat(201)]) {
    assert.equal(await clock.until(venue.findMarket(id, never)), null);
  }
  assert.deepEqual(paths(), []);
  await clock.until(venue.findMarket("../series?x=1#y", never));
  assert.equal(paths()[0], "/markets/..%2Fseries%3Fx%3D1%23y");
});

test("orderbook-crossed: a crossed book is read once more and then shown as empty", async () => {
  const { clock, venue, dropped } = setUp(() => ({ json: readFixture("orderbook-crossed") }));
  const book = await clock.until(venue.getBook(listing, never));
  assert.deepEqual(book, { bids: [], asks: [], lastPrice: null, eventAt: null, receivedAt: NOW });
  assert.deepEqual(dropped, { crossed_book: 2 });
});

test("error-unauthorized: where books need a key the top of the book stands in, and the venue is not pestered", async () => {
  const { clock, venue, paths } = setUp((_url, path) =>
    path.endsWith("/orderbook") ? { status: 401, json: readFixture("error-unauthorized") } : { json: { market } },
  );
  for (let read = 0; read < 2; read++) {
    const book = await clock.until(venue.getBook(listing, never));
    assert.deepEqual(book?.bids, [{ price: 0.42, size: 120 }]);
    assert.deepEqual(book?.asks, [{ price: 0.45, size: 75.5 }]);
    assert.equal(book?.lastPrice, 0.43);
  }
  assert.equal(paths().filter((path) => path.endsWith("/orderbook")).length, 1);
});

test("a market that the live tier has lost has no book", async () => {
  const { clock, venue } = setUp(() => undefined);
  assert.equal(await clock.until(venue.getBook(listing, never)), null);
});

test("historical-cutoff: trades older than the live tier are fetched from the historical one", async () => {
  const { clock, venue, http } = setUp((_url, path) => {
    if (path === "/historical/cutoff") return { json: readFixture("historical-cutoff") };
    if (path === "/markets/trades") return { json: readFixture("trades-page") };
    const [trade] = (readFixture("trades-page") as { trades: object[] }).trades;
    const old = { ...trade, trade_id: "old", created_time: "2026-11-13T01:00:00Z" };
    return path === "/historical/trades" ? { json: { trades: [old], cursor: "" } } : undefined;
  });
  const since = Date.UTC(2026, 10, 13) + 500;
  const trades = await clock.until(venue.listTrades(listing, since, 100, never));
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["7f0c3f62-0d3e-4b57-a1b0-0b3c6d4f9a01", "t2", "old"],
  );
  // The venue counts in seconds.
  assert.equal(http.asked[0]?.searchParams.get("min_ts"), String(Math.floor(since / 1_000)));
  const recent = await clock.until(venue.listTrades(listing, NOW - 2 * 3_600_000, 1, never));
  assert.equal(recent.length, 1);
});

test("trades before the asked instant are left out though the venue counts in whole seconds", async () => {
  const { clock, venue } = setUp((_url, path) =>
    path === "/markets/trades" ? { json: readFixture("trades-page") } : { json: readFixture("historical-cutoff") },
  );
  const trades = await clock.until(venue.listTrades(listing, Date.UTC(2026, 10, 21, 1, 2, 3, 456), 100, never));
  assert.equal(trades.length, 1);
});

test("candles of a settled market come from the historical tier, and only whole periods inside the range", async () => {
  const { clock, venue, paths, http } = setUp((_url, path) =>
    path.startsWith("/historical/") ? { json: readFixture("candlesticks-historical") } : undefined,
  );
  const toMs = 1_795_230_000_000;
  const range = { fromMs: toMs - 3_600_000, toMs, intervalMs: 2 * 3_600_000 };
  const points = await clock.until(venue.getHistory(listing, range, never));
  assert.deepEqual(
    points.map(({ endAt }) => endAt),
    [toMs],
  );
  assert.deepEqual(paths(), [
    "/series/KXRAINNYC/markets/KXRAINNYC-26DEC01-T1/candlesticks",
    "/historical/markets/KXRAINNYC-26DEC01-T1/candlesticks",
  ]);
  assert.equal(http.asked[0]?.searchParams.get("period_interval"), "60");
});

test("candles of a market whose series is unknown are asked for in the form that needs none", async () => {
  const { clock, venue, paths } = setUp((_url, path) =>
    path === "/markets/candlesticks" ? { json: { markets: [readFixture("candlesticks-live")] } } : undefined,
  );
  const range = { fromMs: 1_795_220_000_000, toMs: 1_795_240_000_000, intervalMs: 3_600_000 };
  const points = await clock.until(venue.getHistory({ ...listing, venueKeys: {} }, range, never));
  assert.equal(points.length, 3);
  assert.deepEqual(paths(), ["/markets/candlesticks"]);
});

test("without a key there is no stream and requests are unsigned; with one every request is signed", async () => {
  const answer = () => ({ json: { market } });
  const keyless = setUp(answer);
  assert.equal(keyless.venue.openStream({ onMessage() {}, onUp() {}, onDown() {} }), null);
  await keyless.clock.until(keyless.venue.findMarket(market.ticker, never));
  assert.equal(keyless.http.requests[0]?.headers?.["KALSHI-ACCESS-KEY"], undefined);

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const keyed = setUp(answer, { keyId: "key-1", privateKeyPem });
  await keyed.clock.until(keyed.venue.findMarket(market.ticker, never));
  const headers = keyed.http.requests[0]?.headers ?? {};
  assert.equal(headers["KALSHI-ACCESS-KEY"], "key-1");
  assert.equal(headers["KALSHI-ACCESS-TIMESTAMP"], String(NOW));
  assert.match(headers["KALSHI-ACCESS-SIGNATURE"] ?? "", /^[A-Za-z0-9+/]+=*$/);
});

test("a private key that is not RSA in PEM stops the start without being quoted", () => {
  const secret = "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----";
  assert.throws(
    () => setUp(() => undefined, { keyId: "key-1", privateKeyPem: secret }),
    (error) => error instanceof Error && /RSA private key/.test(error.message) && !error.message.includes("secret"),
  );
});
