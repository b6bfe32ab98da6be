import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { FakeSockets } from "../../../test/support/venues/fake-sockets.ts";
import { type ScriptedAnswer, ScriptedHttp } from "../../../test/support/venues/scripted-http.ts";
import { VenueError } from "../../domain/errors.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { createPolymarketVenue } from "./index.ts";
import { countDrops, fixture } from "./test-fixtures.ts";

const signal = new AbortController().signal;
const json = (value: unknown): ScriptedAnswer => ({ body: JSON.stringify(value) });

function open(answer: (url: URL, turn: number) => ScriptedAnswer | Error) {
  const clock = new FakeClock();
  const http = new ScriptedHttp(clock, (request, turn) => answer(new URL(request.url), turn));
  const { drops, drop } = countDrops();
  const random = { uniform: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
  const ports = {
    id: "polymarket",
    playMoney: false,
    http,
    sockets: new FakeSockets(),
    clock,
    random,
    log: quietLog,
    drop,
    drift: () => {},
  };
  const venue = createPolymarketVenue({
    ...ports,
    gammaUrl: "http://gamma.test/",
    clobUrl: "http://clob.test",
    dataUrl: "http://data.test",
    wsUrl: "ws://ws.test/ws/market",
  });
  const urls = () => http.requests.map(({ request }) => new URL(request.url));
  const sweep = async () => {
    const pages: ListingPage[] = [];
    for await (const page of venue.listOpenMarkets(signal)) pages.push(page);
    return pages;
  };
  return { clock, venue, drops, urls, sweep };
}

const page = Object(fixture("event/keyset-page"));
const lastPage = { events: page.events };
const rainRow = page.events[0].markets[0];

describe("polymarket: listing", () => {
  test("pages follow after_cursor and end where next_cursor is absent; settled rows of open events are left out", async () => {
    const bench = open((url) => json(url.searchParams.has("after_cursor") ? { events: [] } : page));
    const pages = await bench.clock.until(bench.sweep());
    assert.deepEqual(
      pages.flatMap((each) => each.markets.map(({ listing }) => listing.marketId)),
      ["900123", "900201", "900202", "900204", "900301"],
    );
    assert.deepEqual(
      pages[0]?.events.map((event) => event.eventId),
      ["55001", "55002", "55003"],
    );
    const [first, second] = bench.urls();
    assert.equal(first?.pathname, "/events/keyset");
    assert.equal(first?.searchParams.get("closed"), "false");
    assert.equal(second?.searchParams.get("after_cursor"), "eyJpIjo5fQ");
    assert.deepEqual([second?.searchParams.has("cursor"), second?.searchParams.has("offset")], [false, false]);
    assert.deepEqual(bench.drops, {});
  });

  test("a cursor that comes back ends the listing and is counted", async () => {
    const bench = open(() => json(page));
    assert.equal((await bench.clock.until(bench.sweep())).length, 2);
    assert.deepEqual(bench.drops, { page_loop: 1 });
  });

  test("a page too large for us is asked for again in smaller pieces", async () => {
    const tooLarge = new VenueError("bad_body", "too large", { retryable: false });
    const bench = open((_url, turn) => (turn === 0 ? tooLarge : json(lastPage)));
    assert.equal((await bench.clock.until(bench.sweep())).length, 1);
    assert.deepEqual(
      bench.urls().map((url) => url.searchParams.get("limit")),
      ["200", "50"],
    );
  });

  test("a blocked region fails the sweep once and is not retried", async () => {
    const bench = open(() => ({ status: 451, body: "unavailable" }));
    await assert.rejects(bench.clock.until(bench.sweep()), { failure: "client_error" });
    assert.equal(bench.urls().length, 1);
  });
});

describe("polymarket: markets by id", () => {
  const wanted = (...ids: string[]) => ids.map((marketId) => ({ marketId, venueKeys: {} }));
  const settled = fixture("market/closed-resolved-no");
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

  const answers = (url: URL): ScriptedAnswer => {
    if (url.host === "data.test") return json(resolutions);
    return json({ markets: url.searchParams.get("closed") === "true" ? [settled] : [rainRow] });
  };

  test("open ones are asked for first, the rest among the closed, and payouts decide the outcome", async () => {
    const bench = open(answers);
    const found = await bench.clock.until(bench.venue.getMarkets(wanted("900123", "900404", "not-an-id"), signal));
    assert.deepEqual(
      found.markets.map(({ listing }) => [listing.marketId, listing.status, listing.outcome]),
      [
        ["900123", "active", null],
        ["900404", "finalized", { kind: "yes" }],
      ],
    );
    const asked = bench
      .urls()
      .map((url) => [url.host, url.searchParams.get("closed"), url.searchParams.getAll("id").join()]);
    assert.deepEqual(asked, [
      ["gamma.test", "false", "900123,900404"],
      ["gamma.test", "true", "900404"],
      ["data.test", null, ""],
    ]);
  });

  test("where resolutions cannot be read, final prices decide", async () => {
    const bench = open((url) => (url.host === "data.test" ? { status: 404, body: "{}" } : answers(url)));
    const found = await bench.clock.until(bench.venue.getMarkets(wanted("900404"), signal));
    assert.deepEqual(found.markets[0]?.listing.outcome, { kind: "no" });
    assert.deepEqual(bench.drops, { resolutions_unavailable: 1 });
  });

  test("more than a hundred ids go in several requests, and none twice", async () => {
    const bench = open(() => json({ markets: [] }));
    const ids = Array.from({ length: 230 }, (_, index) => String(1_000 + index));
    await bench.clock.until(bench.venue.getMarkets(wanted(...ids, ...ids), signal));
    const open_ = bench.urls().filter((url) => url.searchParams.get("closed") === "false");
    assert.deepEqual(
      open_.map((url) => url.searchParams.getAll("id").length),
      [100, 100, 30],
    );
  });

  test("an answer about other markets than those asked for is not taken", async () => {
    const bench = open(() => json({ markets: [rainRow] }));
    assert.deepEqual((await bench.clock.until(bench.venue.getMarkets(wanted("1"), signal))).markets, []);
  });
});

describe("polymarket: tape, book and history", () => {
  const listing = async () => {
    const bench = open(() => json(lastPage));
    const [first] = await bench.clock.until(bench.sweep());
    const market = first?.markets[0]?.listing;
    assert.ok(market !== undefined);
    return market;
  };

  test("the newer tape is read taker by taker, following its cursor up to the wanted time", async () => {
    const rows = Object(fixture("trades/v2"));
    const bench = open((url) =>
      json(url.searchParams.has("cursor") ? rows : { ...rows, pagination: { has_more: true, next_cursor: "abc" } }),
    );
    const trades = await bench.clock.until(bench.venue.listTrades(await listing(), 0, 8, signal));
    assert.equal(trades.length, 8);
    const [first, second] = bench.urls();
    assert.deepEqual(
      [first?.pathname, first?.searchParams.get("taker_only"), first?.searchParams.get("limit")],
      ["/v2/trades", "true", "8"],
    );
    assert.deepEqual([second?.searchParams.get("cursor"), second?.searchParams.get("limit")], ["abc", "3"]);
    const late = await bench.clock.until(bench.venue.listTrades(await listing(), 1_795_229_985_000, 100, signal));
    assert.ok(late.length > 0 && late.every((trade) => trade.executedAt >= 1_795_229_985_000));
  });

  test("where the newer tape refuses, the older one is read, for ten minutes", async () => {
    const bench = open((url) =>
      url.pathname === "/v2/trades" ? { status: 401, body: "{}" } : json(fixture("trades/v1")),
    );
    const market = await listing();
    for (const wait of [0, 0, 10 * 60_000]) {
      await bench.clock.advance(wait);
      assert.equal((await bench.clock.until(bench.venue.listTrades(market, 0, 10, signal))).length, 1);
    }
    assert.deepEqual(
      bench.urls().map((url) => url.pathname),
      ["/v2/trades", "/trades", "/trades", "/v2/trades", "/trades"],
    );
  });

  test("a failing tape is a failure, not an empty one", async () => {
    const bench = open(() => ({ status: 500, body: "" }));
    await assert.rejects(bench.clock.until(bench.venue.listTrades(await listing(), 0, 10, signal)), {
      failure: "server_error",
    });
  });

  test("a missing book is null, one of another token is refused", async () => {
    const market = await listing();
    const missing = open(() => ({ status: 404, body: '{"error":"No orderbook exists"}' }));
    assert.equal(await missing.clock.until(missing.venue.getBook(market, signal)), null);
    const other = open(() => json({ ...Object(fixture("book/two-sided")), asset_id: "123" }));
    await assert.rejects(other.clock.until(other.venue.getBook(market, signal)), { failure: "bad_body" });
    const good = open(() => json(fixture("book/two-sided")));
    assert.equal((await good.clock.until(good.venue.getBook(market, signal)))?.bids[0]?.price, 0.43);
  });

  test("history asks for a token under the name market, in seconds and minutes, two weeks at a time", async () => {
    const bench = open(() => json({ history: [] }));
    const market = await listing();
    const toMs = Date.UTC(2026, 10, 21);
    await bench.clock.until(
      bench.venue.getHistory(market, { fromMs: toMs - 30 * 86_400_000, toMs, intervalMs: 3_600_000 }, signal),
    );
    const [first, ...rest] = bench.urls();
    assert.equal(rest.length, 2);
    assert.deepEqual(Object.fromEntries(first?.searchParams ?? []), {
      market: market.venueKeys.tokenYes,
      startTs: String(toMs / 1000 - 30 * 86_400),
      endTs: String(toMs / 1000 - 16 * 86_400),
      fidelity: "60",
    });
  });
});
