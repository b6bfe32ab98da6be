import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { type ScriptedAnswer, ScriptedHttp } from "../../../test/support/venues/scripted-http.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { createLimitlessVenue } from "./index.ts";

const NOW = Date.UTC(2026, 10, 21, 4);
const signal = new AbortController().signal;

function fixtureText(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8");
}

function fixture(name: string): unknown {
  return JSON.parse(fixtureText(name));
}

/** The adapter over scripted answers; time passes as the adapter waits. */
function start(answer: (path: string, turn: number) => ScriptedAnswer) {
  const clock = new FakeClock(NOW);
  const http = new ScriptedHttp(clock, (request, turn) => {
    const url = new URL(request.url);
    return answer(`${url.pathname}${url.search}`, turn);
  });
  const dropped: Record<string, number> = {};
  const venue = createLimitlessVenue({
    id: "limitless",
    playMoney: false,
    http,
    sockets: { connect: () => assert.fail("no plain sockets") },
    socketIo: { connect: () => assert.fail("no stream was opened") },
    clock,
    random: { uniform: () => 0.5, bytes: (length) => new Uint8Array(length) },
    log: quietLog,
    drift: () => {},
    drop(reason, count = 1) {
      dropped[reason] = (dropped[reason] ?? 0) + count;
    },
    restUrl: "https://api.limitless.test/",
    wsUrl: "wss://ws.limitless.test",
  });
  const paths = () => http.requests.map(({ request }) => request.url.replace("https://api.limitless.test", ""));
  const sweep = () =>
    clock.until(
      (async () => {
        const pages: ListingPage[] = [];
        for await (const page of venue.listOpenMarkets(signal)) pages.push(page);
        return pages;
      })(),
    );
  return { venue, clock, http, dropped, paths, sweep };
}

const row = (number: number) => ({ ...(fixture("market-one-sided") as object), slug: `market-${number}` });
const page = (from: number, count: number, total: number | null) => ({
  body: JSON.stringify({
    data: Array.from({ length: count }, (_, index) => row(from + index)),
    ...(total === null ? {} : { totalMarketsCount: total }),
  }),
});

describe("listing", () => {
  test("never asks for more than 25 rows and ends where page times limit reaches the total", async () => {
    const { sweep, paths } = start((_path, turn) => page(turn * 25, turn === 2 ? 7 : 25, 57));
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

  test("ends on a short page where the venue does not tell a total", async () => {
    const { sweep } = start((_path, turn) => page(turn * 25, turn === 1 ? 3 : 25, null));
    assert.equal((await sweep()).length, 2);
  });

  test("ends on an empty page though the total promises more, counted and told as cut short", async () => {
    const { sweep, dropped } = start((_path, turn) => page(turn * 25, turn === 1 ? 0 : 25, 1_000));
    const pages = await sweep();
    assert.deepEqual(
      pages.map(({ markets, incompleteReason }) => [markets.length, incompleteReason]),
      [
        [25, undefined],
        [0, "page_short"],
      ],
    );
    assert.deepEqual(dropped, { page_short: 1 });
  });

  test("a venue that answers every page with the same rows is left after the second and counted", async () => {
    const { sweep, dropped, http } = start(() => page(0, 25, 10_000));
    assert.deepEqual(
      (await sweep()).map(({ incompleteReason }) => incompleteReason),
      [undefined, "page_loop"],
    );
    assert.equal(http.requests.length, 2);
    assert.deepEqual(dropped, { page_loop: 1 });
  });

  test("six pages come within three seconds of the venue's limits, and never more than two at once", async () => {
    const { sweep, clock, http } = start((_path, turn) => ({ ...page(turn * 25, 25, 150), afterMs: 200 }));
    const startedAt = clock.monotonic();
    assert.equal((await sweep()).length, 6);
    assert.ok(clock.monotonic() - startedAt <= 3_000, `${clock.monotonic() - startedAt} ms`);
    assert.ok(http.inFlightMax <= 2);
  });

  test("a long sweep keeps to three requests a second", async () => {
    const { sweep, http } = start((_path, turn) => page(turn * 25, 25, 25 * 30));
    await sweep();
    const times = http.requests.map(({ at }) => at);
    assert.ok((times.at(-1) ?? 0) >= ((30 - 6) / 3) * 1_000 - 100, `${times.at(-1)} ms`);
  });
});

describe("single markets", () => {
  const group = JSON.stringify((fixture("active-page-single-and-group") as { data: unknown[] }).data[1]);
  const single = JSON.stringify((fixture("active-page-single-and-group") as { data: unknown[] }).data[0]);
  const child = JSON.stringify(
    ((fixture("active-page-single-and-group") as { data: { markets?: unknown[] }[] }).data[1]?.markets ?? [])[1],
  );
  const answers: Readonly<Record<string, ScriptedAnswer>> = {
    "/markets/f1-champion-2026-1784000000000": { body: group },
    "/markets/driver-b-1784000002000": { body: child },
    "/markets/rain-nyc-dec-1-1795000000000": { body: single },
    "/markets/active/slugs": { body: fixtureText("active-slugs") },
  };
  const answer = (path: string): ScriptedAnswer => answers[path] ?? { status: 404, body: "{}" };

  test("children are read with their group in one request, unknown markets are left out", async () => {
    const { venue, clock, paths } = start(answer);
    const groupSlug = "f1-champion-2026-1784000000000";
    const { markets, events } = await clock.until(
      venue.getMarkets(
        [
          { marketId: "driver-a-1784000001000", venueKeys: { groupSlug } },
          { marketId: "driver-b-1784000002000", venueKeys: { groupSlug } },
          { marketId: "rain-nyc-dec-1-1795000000000", venueKeys: {} },
          { marketId: "gone-1", venueKeys: {} },
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
    assert.deepEqual(paths(), [`/markets/${groupSlug}`, "/markets/rain-nyc-dec-1-1795000000000", "/markets/gone-1"]);
  });

  test("a child whose group is gone keeps the event and title it was listed with", async () => {
    const { venue, clock } = start((path) =>
      path.includes("f1-champion") ? { status: 404, body: "{}" } : answer(path),
    );
    const venueKeys = { groupSlug: "f1-champion-2026-1784000000000", groupTitle: "F1 champion 2026" };
    const { markets } = await clock.until(
      venue.getMarkets([{ marketId: "driver-b-1784000002000", venueKeys }], signal),
    );
    assert.equal(markets[0]?.listing.eventId, "f1-champion-2026-1784000000000");
    assert.equal(markets[0]?.listing.title, "F1 champion 2026 — Driver B");
  });

  test("a child found by its id alone is told with the group that the list of slugs names", async () => {
    const { venue, clock } = start(answer);
    const found = await clock.until(venue.findMarket("driver-b-1784000002000", signal));
    assert.deepEqual(
      found?.markets.map(({ listing }) => [listing.marketId, listing.eventId]),
      [["driver-b-1784000002000", "f1-champion-2026-1784000000000"]],
    );
  });

  test("a group is no market", async () => {
    const { venue, clock } = start(answer);
    assert.equal(await clock.until(venue.findMarket("f1-champion-2026-1784000000000", signal)), null);
  });

  test("one broken answer does not hide the other markets", async () => {
    const { venue, clock, dropped } = start((path) =>
      path.endsWith("broken") ? { body: '{"slug":1}' } : answer(path),
    );
    const { markets } = await clock.until(
      venue.getMarkets(
        [
          { marketId: "broken", venueKeys: {} },
          { marketId: "rain-nyc-dec-1-1795000000000", venueKeys: {} },
        ],
        signal,
      ),
    );
    assert.equal(markets.length, 1);
    assert.deepEqual(dropped, { bad_market_row: 1 });
  });
});

describe("trades", () => {
  const listing = {
    marketId: "m-1",
    status: "active",
    venueKeys: { slug: "m-1", kind: "clob" },
  } as unknown as MarketListing;
  const tapeRow = (number: number) => ({
    createdAt: new Date(NOW - number * 1000).toISOString(),
    price: 0.4,
    side: 0,
    matchedSize: "1000000",
    tokenId: "1",
    txHash: `0x${number}`,
  });
  const tapePage = (from: number, count: number) => ({
    body: JSON.stringify({ events: Array.from({ length: count }, (_, index) => tapeRow(from + index)) }),
  });

  test("rows that new trades pushed to the next page count once", async () => {
    const { venue, clock } = start((_path, turn) => (turn === 0 ? tapePage(0, 100) : tapePage(95, 20)));
    const trades = await clock.until(venue.listTrades(listing, 0, 1_000, signal));
    assert.equal(trades.length, 115);
    assert.ok(trades.every((trade, index) => index === 0 || trade.executedAt <= (trades[index - 1]?.executedAt ?? 0)));
  });

  test("reading stops at the time or the number asked for", async () => {
    const { venue, clock, http } = start((_path, turn) => tapePage(turn * 100, 100));
    assert.equal((await clock.until(venue.listTrades(listing, NOW - 149_000, 1_000, signal))).length, 150);
    assert.equal(http.requests.length, 2);
    assert.equal((await clock.until(venue.listTrades(listing, 0, 10, signal))).length, 10);
    assert.equal(http.requests.length, 3);
  });

  test("a tape without end is read for a bounded number of pages", async () => {
    const { venue, clock, http } = start((_path, turn) => tapePage(turn * 100, 100));
    await clock.until(venue.listTrades(listing, 0, 1_000_000, signal));
    assert.equal(http.requests.length, 20);
  });
});

test("the book of a market that has none, because it is an AMM, resolved or refused with 400, is null", async () => {
  const { venue, clock, http } = start(() => ({ status: 400, body: "{}" }));
  const base = { marketId: "m-1", status: "active", venueKeys: { slug: "m-1", kind: "clob" } };
  const read = (over: object) => clock.until(venue.getBook({ ...base, ...over } as unknown as MarketListing, signal));
  assert.equal(await read({ venueKeys: { slug: "m-1", kind: "amm" } }), null);
  assert.equal(await read({ status: "finalized" }), null);
  assert.equal(http.requests.length, 0);
  assert.equal(await read({}), null);
});
