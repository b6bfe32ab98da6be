import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { adapterHarness, fakeVenuePorts, marketIdsOf } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { ScriptedResponse } from "../../../test/support/venues/scripted-http.ts";
import { VenueError } from "../../domain/errors.ts";
import { DAY_MS, HOUR_MS } from "../../lib/durations.ts";
import type { ListingPage, VenueAdapter } from "../../ports/venue.ts";
import { createPolymarketVenue } from "./index.ts";

const { signal } = new AbortController();
const readFixture = fixtureReader(import.meta.url);
const json = (value: unknown): ScriptedResponse => ({ body: JSON.stringify(value) });

const URLS = {
  gammaUrl: "http://gamma.test/",
  clobUrl: "http://clob.test",
  dataUrl: "http://data.test",
  wsUrl: "ws://ws.test/ws/market",
};

function setUp(respond: (url: URL, attempt: number) => ScriptedResponse | Error) {
  return adapterHarness((ports) => createPolymarketVenue({ ...ports, ...URLS }), respond);
}

async function collectPages(venue: VenueAdapter): Promise<ListingPage[]> {
  const pages: ListingPage[] = [];
  for await (const page of venue.listOpenMarkets(signal)) pages.push(page);
  return pages;
}

const eventsPage = Object(readFixture("event/keyset-page"));
const lastPage = { events: eventsPage.events };
const rainRow = eventsPage.events[0].markets[0];

describe("polymarket: listing", () => {
  test("follows after_cursor until next_cursor is absent and omits closed markets of open events", async () => {
    const harness = setUp((url) => json(url.searchParams.has("after_cursor") ? { events: [] } : eventsPage));
    const pages = await harness.sweep();
    assert.deepEqual(marketIdsOf(pages), ["900123", "900201", "900202", "900204", "900301"]);
    assert.deepEqual(
      pages[0]?.events.map((event) => event.eventId),
      ["55001", "55002", "55003"],
    );
    const [first, second] = harness.urls();
    assert.equal(first?.pathname, "/events/keyset");
    assert.equal(first?.searchParams.get("closed"), "false");
    assert.equal(second?.searchParams.get("after_cursor"), "eyJpIjo5fQ");
    assert.deepEqual([second?.searchParams.has("cursor"), second?.searchParams.has("offset")], [false, false]);
    assert.deepEqual(harness.drops, {});
  });

  test("ends and counts a sweep that repeats a cursor", async () => {
    const harness = setUp(() => json(eventsPage));
    assert.equal((await harness.sweep()).length, 2);
    assert.deepEqual(harness.drops, { page_loop: 1 });
  });

  const limits = (urls: readonly URL[]) => urls.map((url) => url.searchParams.get("limit"));
  /** A page with one event. The cursor is the number of the next page. */
  const pageOf = (url: URL, pages: number) => {
    const number = Number(url.searchParams.get("after_cursor") ?? 0);
    const event = { ...eventsPage.events[0], id: String(70_000 + number), markets: [] };
    return { events: [event], ...(number + 1 < pages ? { next_cursor: String(number + 1) } : {}) };
  };

  test("requests fewer events if a page is too large, and tries 100 again after 20 pages", async () => {
    const tooLarge = new VenueError("bad_body", "too large", { retryable: false });
    const harness = setUp((url, attempt) => (attempt === 0 ? tooLarge : json(pageOf(url, 22))));
    assert.equal((await harness.sweep()).length, 22);
    assert.deepEqual(limits(harness.urls()), ["100", ...Array(20).fill("50"), "100", "100"]);
    assert.deepEqual(harness.drops, { attempt_bad_body: 1 });
  });

  test("completes a sweep whose pages all take 25 seconds", async () => {
    const harness = setUp((url) => ({ ...json(pageOf(url, 40)), afterMs: 25_000 }));
    const pages = await harness.clock.until(collectPages(harness.venue), HOUR_MS);
    assert.equal(pages.length, 40);
    assert.ok(pages.every(({ incompleteReason }) => incompleteReason === null));
    const sizes = limits(harness.urls());
    assert.deepEqual(sizes.slice(0, 5), ["100", "100", "100", "50", "50"]);
    assert.equal(sizes.at(-1), "100");
    assert.deepEqual(harness.drops, { attempt_timeout: 3 });
  });

  test("continues with smaller pages if the response time grows with the page", async () => {
    const harness = setUp((url) => {
      const limit = Number(url.searchParams.get("limit"));
      return { ...json(pageOf(url, 200)), afterMs: limit > 25 ? 200_000 : limit * 1_000 };
    });
    const sweep = () => harness.clock.until(collectPages(harness.venue), 24 * HOUR_MS);
    await assert.rejects(sweep(), { failure: "timeout" });
    assert.equal((await sweep()).length, 200);
    const sizes = limits(harness.urls());
    assert.deepEqual([sizes[0], sizes[3], sizes[6]], ["100", "50", "25"]);
    // 50 is tried after 20 pages, then after 40 pages and so on. Each try takes three attempts.
    assert.equal(sizes.filter((size) => size === "50").length, 3 + 3 * 3);
  });

  test("ends a sweep of a venue that does not respond, with at most six attempts per page", async () => {
    const harness = setUp(() => ({ afterMs: 24 * HOUR_MS }));
    await assert.rejects(harness.clock.until(collectPages(harness.venue), HOUR_MS), { failure: "timeout" });
    assert.equal(harness.urls().length, 6);
  });

  test("does not retry a sweep from a blocked region", async () => {
    const harness = setUp(() => ({ status: 451, body: "unavailable" }));
    await assert.rejects(harness.sweep(), { failure: "client_error" });
    assert.equal(harness.urls().length, 1);
  });
});

describe("polymarket: markets by id", () => {
  const listings = (...ids: string[]) => ids.map((marketId) => ({ marketId, venueKeys: {} }));
  const settled = readFixture("market/closed-resolved-no");
  const resolutions = {
    data: [
      {
        condition_id: Object(settled).conditionId,
        status: "resolved",
        payouts: [1_000_000, 0],
        resolved_at: 1_795_229_990,
      },
    ],
  };

  const respond = (url: URL): ScriptedResponse => {
    if (url.host === "data.test") return json(resolutions);
    return json({ markets: url.searchParams.get("closed") === "true" ? [settled] : [rainRow] });
  };

  test("requests the ids as open markets, the missing ids as closed markets, and reads outcomes from payouts", async () => {
    const harness = setUp(respond);
    const page = await harness.clock.until(harness.venue.getMarkets(listings("900123", "900404", "not-an-id"), signal));
    assert.deepEqual(
      page.markets.map(({ listing }) => [listing.marketId, listing.status, listing.outcome]),
      [
        ["900123", "active", null],
        ["900404", "finalized", { kind: "yes" }],
      ],
    );
    const requests = harness
      .urls()
      .map((url) => [url.host, url.searchParams.get("closed"), url.searchParams.getAll("id").join()]);
    assert.deepEqual(requests, [
      ["gamma.test", "false", "900123,900404"],
      ["gamma.test", "true", "900404"],
      ["data.test", null, ""],
    ]);
  });

  test("derives the outcome from final prices if resolutions are unavailable", async () => {
    const harness = setUp((url) => (url.host === "data.test" ? { status: 404, body: "{}" } : respond(url)));
    const page = await harness.clock.until(harness.venue.getMarkets(listings("900404"), signal));
    assert.deepEqual(page.markets[0]?.listing.outcome, { kind: "no" });
    assert.deepEqual(harness.drops, { resolutions_unavailable: 1 });
  });

  test("settles a market by the stream's winning token while REST still shows it open, for 15 minutes", async () => {
    const { ports, clock, sockets } = fakeVenuePorts(Date.UTC(2026, 10, 21, 3), (url) =>
      json(url.pathname === "/events/keyset" ? lastPage : { markets: [rainRow] }),
    );
    const venue = createPolymarketVenue({ ...ports, ...URLS });
    const read = async () => {
      const page = await clock.until(venue.getMarkets(listings("900123"), signal));
      return page.markets.map(({ listing: { status, outcome, resolvedAt } }) => ({ status, outcome, resolvedAt }))[0];
    };
    const open = { status: "active", outcome: null, resolvedAt: null };
    assert.deepEqual(await read(), open);
    const [listing] = (await clock.until(venue.getMarkets(listings("900123"), signal))).markets;
    assert.ok(listing !== undefined);
    const { tokenYes, tokenNo } = listing.listing.venueKeys;
    venue.openStream({ onMessage() {}, onUp() {}, onDown() {} })?.follow([listing.listing]);
    sockets.last.accept();
    const receive = (winner: string) =>
      sockets.last.receive(
        JSON.stringify({
          event_type: "market_resolved",
          id: "900123",
          assets_ids: [tokenYes, tokenNo],
          winning_asset_id: winner,
          timestamp: "1795230000000",
        }),
      );
    receive("");
    assert.deepEqual(await read(), open);
    receive(tokenNo ?? "");
    const settledAsNo = { status: "finalized", outcome: { kind: "no" }, resolvedAt: 1795230000000 };
    assert.deepEqual(await read(), settledAsNo);
    const [page] = await clock.until(collectPages(venue));
    assert.equal(page?.markets.find((market) => market.listing.marketId === "900123")?.listing.status, "finalized");
    await clock.advance(16 * 60_000);
    assert.deepEqual(await read(), open);
  });

  test("joins condition ids with commas, pads ids of 31 bytes, and counts what is missing from the responses", async () => {
    const short = `0x${"1e".repeat(31)}`;
    const conditionIds = [
      ...Array.from({ length: 21 }, (_, index) => `0x${(index + 16).toString(16).repeat(32)}`),
      short,
    ];
    const rows = conditionIds.map((conditionId, index) => ({
      ...Object(settled),
      id: String(2_000 + index),
      conditionId,
      umaResolutionStatus: "disputed",
    }));
    const harness = setUp((url) => {
      if (url.host !== "data.test") return json({ markets: url.searchParams.get("closed") === "true" ? rows : [] });
      const ids = url.searchParams.getAll("condition");
      assert.equal(ids.length, 1, "a repeated parameter");
      const known = (ids[0] ?? "").split(",").slice(1);
      return json({
        data: known.map((condition_id) => ({ condition_id, status: "resolved", payouts: ["0", "1000000"] })),
      });
    });
    const ids = rows.map(({ id }) => String(id));
    const page = await harness.clock.until(harness.venue.getMarkets(listings(...ids, "9999"), signal));
    const requests = harness.urls().flatMap((url) => url.searchParams.get("condition")?.split(",") ?? []);
    assert.deepEqual(requests, [...conditionIds.slice(0, 21), `${short}00`]);
    const byId = new Map(page.markets.map(({ listing }) => [listing.venueKeys.conditionId, listing]));
    assert.deepEqual(byId.get(short)?.outcome, { kind: "no" });
    assert.equal(byId.get(conditionIds[0])?.status, "determined", "the venue did not return it");
    // The first condition of both requests, and the market 9999.
    assert.deepEqual(harness.drops, { missing: 3 });
  });

  test("splits more than 100 ids into several requests, without duplicates", async () => {
    const harness = setUp(() => json({ markets: [] }));
    const ids = Array.from({ length: 230 }, (_, index) => String(1_000 + index));
    await harness.clock.until(harness.venue.getMarkets(listings(...ids, ...ids), signal));
    const openRequests = harness.urls().filter((url) => url.searchParams.get("closed") === "false");
    assert.deepEqual(
      openRequests.map((url) => url.searchParams.getAll("id").length),
      [100, 100, 30],
    );
  });

  test("ignores markets in the response that were not requested", async () => {
    const harness = setUp(() => json({ markets: [rainRow] }));
    assert.deepEqual((await harness.clock.until(harness.venue.getMarkets(listings("1"), signal))).markets, []);
  });
});

describe("polymarket: trades, book and history", () => {
  const listing = async () => {
    const harness = setUp(() => json(lastPage));
    const [first] = await harness.sweep();
    const market = first?.markets[0]?.listing;
    assert.ok(market !== undefined);
    return market;
  };

  test("reads v2 trades of takers, page by page back to the requested time", async () => {
    const rows = Object(readFixture("trades/v2"));
    const harness = setUp((url) =>
      json(url.searchParams.has("cursor") ? rows : { ...rows, pagination: { has_more: true, next_cursor: "abc" } }),
    );
    const trades = await harness.clock.until(harness.venue.listTrades(await listing(), 0, 8, signal));
    // The ten rows belong to four transactions and sides.
    assert.deepEqual(
      trades.map(({ size }) => size),
      [102, 20, 51, 51],
    );
    const [first, second] = harness.urls();
    assert.deepEqual(
      [first?.pathname, first?.searchParams.get("taker_only"), first?.searchParams.get("limit")],
      ["/v2/trades", "true", "8"],
    );
    assert.deepEqual([second?.searchParams.get("cursor"), second?.searchParams.get("limit")], ["abc", "3"]);
    const recent = await harness.clock.until(harness.venue.listTrades(await listing(), 1_795_229_985_000, 100, signal));
    assert.ok(recent.length > 0 && recent.every((trade) => trade.executedAt >= 1_795_229_985_000));
  });

  test("reads the trades since a time with a short first page, and all trades with full pages", async () => {
    const rows = Object(readFixture("trades/v2"));
    const market = await listing();
    const limitsSince = async (sinceMs: number) => {
      const harness = setUp((url) =>
        json(url.searchParams.has("cursor") ? rows : { ...rows, pagination: { has_more: true, next_cursor: "abc" } }),
      );
      await harness.clock.until(harness.venue.listTrades(market, sinceMs, 1_000, signal));
      return harness.urls().map((url) => url.searchParams.get("limit"));
    };
    assert.deepEqual(await limitsSince(1_000), ["50", "995"]);
    assert.deepEqual(await limitsSince(0), ["1000", "995"]);
  });

  test("reads v1 trades for ten minutes after v2 refuses a request", async () => {
    const harness = setUp((url) =>
      url.pathname === "/v2/trades" ? { status: 401, body: "{}" } : json(readFixture("trades/v1")),
    );
    const market = await listing();
    for (const waitMs of [0, 0, 10 * 60_000]) {
      await harness.clock.advance(waitMs);
      assert.equal((await harness.clock.until(harness.venue.listTrades(market, 0, 10, signal))).length, 1);
    }
    assert.deepEqual(
      harness.urls().map((url) => url.pathname),
      ["/v2/trades", "/trades", "/trades", "/v2/trades", "/trades"],
    );
  });

  test("rejects if the trades request fails", async () => {
    const harness = setUp(() => ({ status: 500, body: "" }));
    await assert.rejects(harness.clock.until(harness.venue.listTrades(await listing(), 0, 10, signal)), {
      failure: "server_error",
    });
  });

  test("returns null for a missing book and rejects a book of another token", async () => {
    const market = await listing();
    const missing = setUp(() => ({ status: 404, body: '{"error":"No orderbook exists"}' }));
    assert.equal(await missing.clock.until(missing.venue.getBook(market, signal)), null);
    const other = setUp(() => json({ ...Object(readFixture("book/two-sided")), asset_id: "123" }));
    await assert.rejects(other.clock.until(other.venue.getBook(market, signal)), { failure: "bad_body" });
    const valid = setUp(() => json(readFixture("book/two-sided")));
    assert.equal((await valid.clock.until(valid.venue.getBook(market, signal)))?.bids[0]?.price, 0.43);
  });

  test("keeps the first point of a range that does not begin at a whole minute", async () => {
    const fromMs = Date.UTC(2026, 10, 21) + 4_000;
    const samples = [0, 74, 119].map((seconds) => ({ t: fromMs / 1000 + seconds, p: 0.4 }));
    const harness = setUp(() => json({ history: samples }));
    const range = { fromMs: fromMs - 60_000, toMs: fromMs + 180_000, intervalMs: 60_000 };
    const points = await harness.clock.until(harness.venue.getHistory(await listing(), range, signal));
    assert.deepEqual(
      points.map(({ startAt, endAt }) => [startAt - range.fromMs, endAt - range.fromMs]),
      [
        [0, 56_000],
        [56_000, 116_000],
        [116_000, 176_000],
      ],
    );
  });

  test("requests history by token, with times in seconds and the interval in minutes, two weeks per request", async () => {
    const harness = setUp(() => json({ history: [] }));
    const market = await listing();
    const toMs = Date.UTC(2026, 10, 21);
    await harness.clock.until(
      harness.venue.getHistory(market, { fromMs: toMs - 30 * DAY_MS, toMs, intervalMs: HOUR_MS }, signal),
    );
    const [first, ...rest] = harness.urls();
    assert.equal(rest.length, 2);
    assert.deepEqual(Object.fromEntries(first?.searchParams ?? []), {
      market: market.venueKeys.tokenYes,
      startTs: String(toMs / 1000 - 30 * 86_400),
      endTs: String(toMs / 1000 - 16 * 86_400 + 30),
      fidelity: "60",
    });
  });
});
