import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { FakeSockets } from "../../../test/support/venues/fake-sockets.ts";
import { type ScriptedAnswer, ScriptedHttp } from "../../../test/support/venues/scripted-http.ts";
import type { MarketListing } from "../../domain/market.ts";
import { createManifoldVenue } from "./index.ts";

const NOW = 1_795_230_000_000;
const PAGE_ROWS = 1_000;
const open = () => new AbortController().signal;
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8");

function setUp(answer: (url: URL, turn: number) => ScriptedAnswer) {
  const clock = new FakeClock(NOW);
  const http = new ScriptedHttp(clock, ({ url }, turn) => answer(new URL(url), turn));
  const drops: string[] = [];
  const cuts: string[] = [];
  const adapter = createManifoldVenue({
    id: "manifold",
    playMoney: true,
    http,
    sockets: new FakeSockets(),
    clock,
    random: { uniform: () => 0.5, bytes: (length) => new Uint8Array(length) },
    log: quietLog,
    drop: (reason) => drops.push(reason),
    drift: () => {},
    restUrl: "https://venue.example/v0/",
    wsUrl: "wss://venue.example/ws",
  });
  const asked = () => http.requests.map(({ request }) => new URL(request.url));
  const list = () =>
    clock.until(
      (async () => {
        const ids: string[] = [];
        for await (const page of adapter.listOpenMarkets(open())) {
          if (page.incompleteReason !== undefined) cuts.push(page.incompleteReason);
          ids.push(...page.markets.map((market) => market.listing.marketId));
        }
        return ids;
      })(),
    );
  return { clock, adapter, drops, cuts, asked, list };
}

const contract = (id: string, createdTime: number) => ({
  id,
  question: "Q?",
  outcomeType: "BINARY",
  isResolved: false,
  createdTime,
  probability: 0.5,
});
const body = (value: unknown): ScriptedAnswer => ({ body: JSON.stringify(value) });
const listing = (marketId: string) => ({ marketId, venueKeys: {} }) as unknown as MarketListing;

/** Rows newest first, as the venue would page them. */
function pager(rows: readonly { readonly createdTime: number }[]) {
  return (url: URL): ScriptedAnswer => {
    if (url.searchParams.get("contractType") !== "BINARY") return body([]);
    const before = Number(url.searchParams.get("beforeTime") ?? Number.POSITIVE_INFINITY);
    return body(rows.filter(({ createdTime }) => createdTime < before).slice(0, PAGE_ROWS));
  };
}

test("a listing asks for open contracts by type, a thousand at a time, with the answers' probabilities", async () => {
  const { asked, list } = setUp(() => body(JSON.parse(fixture("search/binary-open"))));
  await list();
  assert.deepEqual(
    asked().map((url) => `${url.pathname}${url.search}`),
    ["BINARY", "DEPENDENT_MULTIPLE_CHOICE", "INDEPENDENT_MULTIPLE_CHOICE"].map(
      (type) => `/v0/search-markets?filter=open&sort=newest&contractType=${type}&includeLiteAnswers=true&limit=1000`,
    ),
  );
});

test("contracts created in the same millisecond on the edge of a page are neither lost nor told twice", async () => {
  const rows = Array.from({ length: 2_500 }, (_, at) => contract(`c${at}`, NOW - 5 * Math.floor(at / 7)));
  const { list, drops } = setUp(pager(rows));
  const ids = await list();
  assert.equal(ids.length, 2_500);
  assert.equal(new Set(ids).size, 2_500);
  assert.deepEqual(drops, []);
});

test("a venue that gives the same page for ever ends the listing, counted as a loop", async () => {
  const rows = Array.from({ length: PAGE_ROWS }, (_, at) => contract(`c${at}`, NOW - at));
  const { list, drops, cuts, asked } = setUp((url) =>
    body(url.searchParams.get("contractType") === "BINARY" ? rows : []),
  );
  assert.equal((await list()).length, PAGE_ROWS);
  assert.deepEqual([drops, cuts], [["page_loop"], ["page_loop"]]);
  assert.ok(asked().length <= 6);
});

test("an empty page is asked for once more, because a search that failed looks the same", async () => {
  const { list, asked } = setUp((url, turn) =>
    body(turn === 0 || url.searchParams.get("contractType") !== "BINARY" ? [] : [contract("late", NOW)]),
  );
  assert.deepEqual(await list(), ["late"]);
  assert.equal(asked().length, 6);
});

test("single markets are read once per contract, and those the venue does not know are left out", async () => {
  const { clock, adapter, asked } = setUp((url) =>
    url.pathname.endsWith("cupFinal7Xq")
      ? { body: fixture("market/multiple-sum-to-one") }
      : { status: 404, body: fixture("market/not-found") },
  );
  const ids = ["cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2", "cupFinal7Xq:gone", "gone", "not an id"];
  const page = await clock.until(adapter.getMarkets(ids.map(listing), open()));
  assert.deepEqual(
    page.markets.map((market) => market.listing.marketId),
    ["cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2"],
  );
  assert.equal(page.events.length, 1);
  assert.deepEqual(
    asked().map(({ pathname }) => pathname),
    ["/v0/market/cupFinal7Xq", "/v0/market/gone"],
  );
});

test("an id without its answer, or with one too many, is no market", async () => {
  const { clock, adapter } = setUp((url) => ({
    body: fixture(url.pathname.endsWith("cupFinal7Xq") ? "market/multiple-sum-to-one" : "market/binary-full"),
  }));
  assert.equal(await clock.until(adapter.findMarket("cupFinal7Xq", open())), null);
  assert.equal(await clock.until(adapter.findMarket("rainNYC12a:ansRed1", open())), null);
  assert.notEqual(await clock.until(adapter.findMarket("rainNYC12a", open())), null);
});

test("another contract than the one asked for is no answer", async () => {
  const { clock, adapter } = setUp(() => ({ body: fixture("market/binary-full") }));
  assert.equal(await clock.until(adapter.findMarket("somethingElse", open())), null);
});

test("answers found resolved in a full read are left out of later lists", async () => {
  const rows = [
    {
      ...JSON.parse(fixture("market/independent-partly-settled")),
      answers: [
        { id: "ansA", text: "Phone", probability: 1 },
        { id: "ansB", text: "Car", probability: 0.3 },
        { id: "ansC", text: "Boat", probability: 0.25 },
        { id: "ansD", text: "Plane", probability: 0.6 },
      ],
    },
  ];
  const { clock, adapter, list } = setUp((url) => {
    if (url.pathname.includes("/market/")) return { body: fixture("market/independent-partly-settled") };
    return body(url.searchParams.get("contractType") === "INDEPENDENT_MULTIPLE_CHOICE" ? rows : []);
  });
  assert.deepEqual(await list(), ["datesXyz12:ansB", "datesXyz12:ansC", "datesXyz12:ansD"]);
  await clock.until(adapter.findMarket("datesXyz12:ansC", open()));
  assert.deepEqual(await list(), ["datesXyz12:ansB"]);
});

test("a tape of more than one page is read on by time, without gaps or doubles, down to the time asked for", async () => {
  const bets = Array.from({ length: 2_300 }, (_, at) => ({
    id: `bet${at}`,
    contractId: "rainNYC12a",
    createdTime: NOW - 10 * Math.floor(at / 3),
    amount: 5,
    shares: 10,
    outcome: "YES",
    probAfter: 0.5,
  }));
  const { clock, adapter, asked } = setUp((url) => {
    const before = Number(url.searchParams.get("beforeTime") ?? Number.POSITIVE_INFINITY);
    const after = Number(url.searchParams.get("afterTime"));
    return body(bets.filter(({ createdTime }) => createdTime < before && createdTime > after).slice(0, PAGE_ROWS));
  });
  const since = NOW - 7_000;
  const trades = await clock.until(adapter.listTrades(listing("rainNYC12a"), since, 10_000, open()));
  const expected = bets.filter(({ createdTime }) => createdTime >= since);
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    expected.map(({ id }) => id),
  );
  const [first] = asked();
  assert.equal(first?.search, `?contractId=rainNYC12a&afterTime=${since - 1}&limit=1000&filterRedemptions=true`);
});

test("a tape of one answer asks for it and takes no other's bets", async () => {
  const bet = { contractId: "cup", createdTime: NOW, amount: 5, shares: 10, outcome: "YES", probAfter: 0.5 };
  const { clock, adapter, asked } = setUp(() =>
    body([
      { ...bet, id: "own", answerId: "red" },
      { ...bet, id: "other", answerId: "blue" },
    ]),
  );
  const trades = await clock.until(adapter.listTrades(listing("cup:red"), NOW - 1_000, 10, open()));
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["own"],
  );
  assert.equal(asked()[0]?.searchParams.get("answerId"), "red");
});

test("history asks for the points of the range at once", async () => {
  const { clock, adapter, asked } = setUp(() => ({ body: fixture("history/bet-points") }));
  const range = { fromMs: NOW - 10_800_000, toMs: NOW, intervalMs: 1_800_000 };
  const points = await clock.until(adapter.getHistory(listing("rainNYC12a"), range, open()));
  assert.equal(
    `${asked()[0]?.pathname}${asked()[0]?.search}`,
    `/v0/bet-points?contractId=rainNYC12a&afterTime=${range.fromMs - 1}&beforeTime=${NOW}&limit=50000&filterRedemptions=true`,
  );
  assert.ok(points.length >= 4);
  for (const point of points) {
    assert.ok(point.startAt >= range.fromMs && point.endAt <= NOW && point.startAt % range.intervalMs === 0);
    assert.equal(point.volumeUsd, null);
  }
});

test("no minute ever sees more than the 500 requests that the venue allows", async () => {
  const ids = Array.from({ length: 900 }, (_, at) => listing(`c${at}`));
  const sent: number[] = [];
  const counting = setUp(() => {
    sent.push(counting.clock.monotonic());
    return { status: 404, body: "{}" };
  });
  await counting.clock.until(counting.adapter.getMarkets(ids, open()));
  assert.equal(sent.length, 900);
  for (const [first, at] of sent.entries()) {
    assert.ok(sent.slice(first).filter((other) => other < at + 60_000).length <= 500);
  }
});
