import assert from "node:assert/strict";
import { test } from "node:test";
import { adapterHarness, marketIdsOf } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { ScriptedResponse } from "../../../test/support/venues/scripted-http.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { createManifoldVenue } from "./index.ts";

const fixture = fixtureReader(import.meta.url);
const NOW = 1_795_230_000_000;
const PAGE_ROWS = 1_000;
const { signal } = new AbortController();

function setUp(respond: (url: URL, requestIndex: number) => ScriptedResponse) {
  const urls = { restUrl: "https://venue.example/v0/", wsUrl: "wss://venue.example/ws" };
  return adapterHarness((ports) => createManifoldVenue({ ...ports, ...urls }), respond, NOW);
}

const contract = (id: string, createdTime: number) => ({
  id,
  question: "Q?",
  outcomeType: "BINARY",
  isResolved: false,
  createdTime,
  probability: 0.5,
});
const body = (value: unknown): ScriptedResponse => ({ body: JSON.stringify(value) });
const listing = (marketId: string) => ({ marketId, venueKeys: {} }) as unknown as MarketListing;

/** Serves pages of the rows, which are sorted newest first. */
function servePages(rows: readonly { readonly createdTime: number }[]) {
  return (url: URL): ScriptedResponse => {
    if (url.searchParams.get("contractType") !== "BINARY") return body([]);
    const before = Number(url.searchParams.get("beforeTime") ?? Number.POSITIVE_INFINITY);
    return body(rows.filter(({ createdTime }) => createdTime < before).slice(0, PAGE_ROWS));
  };
}

test("listOpenMarkets requests open contracts by type, 1,000 per page, with the answers' probabilities", async () => {
  const { urls, sweep } = setUp(() => ({ body: JSON.stringify(fixture("search/binary-open")) }));
  await sweep();
  assert.deepEqual(
    urls().map((url) => `${url.pathname}${url.search}`),
    ["BINARY", "DEPENDENT_MULTIPLE_CHOICE", "INDEPENDENT_MULTIPLE_CHOICE", "NUMBER", "MULTI_NUMERIC", "DATE"].map(
      (type) => `/v0/search-markets?filter=open&sort=newest&contractType=${type}&includeLiteAnswers=true&limit=1000`,
    ),
  );
});

test("lists contracts created in the same millisecond exactly once, even across a page boundary", async () => {
  const rows = Array.from({ length: 2_500 }, (_, at) => contract(`c${at}`, NOW - 5 * Math.floor(at / 7)));
  const { sweep, drops } = setUp(servePages(rows));
  const ids = marketIdsOf(await sweep());
  assert.equal(ids.length, 2_500);
  assert.equal(new Set(ids).size, 2_500);
  assert.deepEqual(drops, {});
});

test("a repeated page ends the listing and is counted as a loop", async () => {
  const rows = Array.from({ length: PAGE_ROWS }, (_, at) => contract(`c${at}`, NOW - at));
  const { sweep, drops, urls } = setUp((url) => body(url.searchParams.get("contractType") === "BINARY" ? rows : []));
  const pages = await sweep();
  assert.equal(marketIdsOf(pages).length, PAGE_ROWS);
  const reasons = pages.flatMap(({ incompleteReason }) => incompleteReason ?? []);
  assert.deepEqual([drops, reasons], [{ page_loop: 1 }, ["page_loop"]]);
  const binaryRequests = urls().filter((url) => url.searchParams.get("contractType") === "BINARY");
  assert.ok(binaryRequests.length <= 4);
});

test("requests an empty page a second time, because a failed search returns an empty list", async () => {
  const { sweep, urls } = setUp((url, requestIndex) =>
    body(requestIndex === 0 || url.searchParams.get("contractType") !== "BINARY" ? [] : [contract("late", NOW)]),
  );
  assert.deepEqual(marketIdsOf(await sweep()), ["late"]);
  assert.equal(urls().length, 2 * 6);
});

test("lists changes by the time of the last update, page by page, until an earlier update", async () => {
  const updated = (id: string, lastUpdatedTime: number) => ({ ...contract(id, NOW - 1_000_000), lastUpdatedTime });
  const rows = Array.from({ length: 1_100 }, (_, index) => updated(`c${index}`, NOW - index * 1_000));
  const { clock, venue, urls, drops } = setUp((url) => {
    const { contractType, offset, limit } = Object.fromEntries(url.searchParams);
    return body(contractType === "BINARY" ? rows.slice(Number(offset), Number(offset) + Number(limit)) : []);
  });
  const list = async (sinceMs: number) => {
    const pages: ListingPage[] = [];
    for await (const page of venue.listChangedMarkets?.(sinceMs, signal) ?? []) pages.push(page);
    return pages;
  };
  const pages = await clock.until(list(NOW - 70_000));
  assert.deepEqual(
    marketIdsOf(pages),
    rows.slice(0, 100).map(({ id }) => id),
  );
  const [first, second, ...others] = urls().map(({ search }) => search);
  assert.equal(first, "?filter=open&sort=last-updated&contractType=BINARY&includeLiteAnswers=true&limit=50&offset=0");
  assert.match(second ?? "", /contractType=BINARY.*offset=50$/);
  assert.equal(others.length, 5);
  assert.deepEqual(drops, {});

  const bounded = await clock.until(list(0));
  assert.equal(marketIdsOf(bounded).length, 1_000);
  assert.deepEqual(
    bounded.flatMap(({ incompleteReason }) => incompleteReason ?? []),
    ["page_limit"],
  );
});

test("getMarkets requests each contract once and omits unknown markets", async () => {
  const { clock, venue, urls } = setUp((url) =>
    url.pathname.endsWith("cupFinal7Xq")
      ? { body: JSON.stringify(fixture("market/multiple-sum-to-one")) }
      : { status: 404, body: JSON.stringify(fixture("market/not-found")) },
  );
  const ids = ["cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2", "cupFinal7Xq:unknown", "unknown", "not an id"];
  const page = await clock.until(venue.getMarkets(ids.map(listing), signal));
  assert.deepEqual(
    page.markets.map((market) => market.listing.marketId),
    ["cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2"],
  );
  assert.equal(page.events.length, 1);
  assert.deepEqual(
    urls().map(({ pathname }) => pathname),
    ["/v0/market/cupFinal7Xq", "/v0/market/unknown"],
  );
});

test("rejects a multiple-choice id without an answer and a binary id with an answer", async () => {
  const { clock, venue } = setUp((url) => ({
    body: JSON.stringify(
      fixture(url.pathname.endsWith("cupFinal7Xq") ? "market/multiple-sum-to-one" : "market/binary-full"),
    ),
  }));
  assert.equal(await clock.until(venue.findMarket("cupFinal7Xq", signal)), null);
  assert.equal(await clock.until(venue.findMarket("rainNYC12a:ansRed1", signal)), null);
  assert.notEqual(await clock.until(venue.findMarket("rainNYC12a", signal)), null);
});

test("ignores a response with a different contract than the requested contract", async () => {
  const { clock, venue } = setUp(() => ({ body: JSON.stringify(fixture("market/binary-full")) }));
  assert.equal(await clock.until(venue.findMarket("somethingElse", signal)), null);
});

test("if a read of a contract found resolved answers, listings omit those answers", async () => {
  const rows = [
    {
      ...(fixture("market/independent-partly-settled") as object),
      answers: [
        { id: "ansA", text: "Phone", probability: 1 },
        { id: "ansB", text: "Car", probability: 0.3 },
        { id: "ansC", text: "Boat", probability: 0.25 },
        { id: "ansD", text: "Plane", probability: 0.6 },
      ],
    },
  ];
  const { clock, venue, sweep } = setUp((url) => {
    if (url.pathname.includes("/market/"))
      return { body: JSON.stringify(fixture("market/independent-partly-settled")) };
    return body(url.searchParams.get("contractType") === "INDEPENDENT_MULTIPLE_CHOICE" ? rows : []);
  });
  const childrenOf = (pages: Awaited<ReturnType<typeof sweep>>) =>
    pages.flatMap(({ events }) => events.map(({ children }) => children));
  const before = await sweep();
  assert.deepEqual(marketIdsOf(before), ["datesXyz12:ansB", "datesXyz12:ansC", "datesXyz12:ansD"]);
  assert.deepEqual(childrenOf(before), [{ total: 4, read: 3, leftOut: { closed: 1 } }]);
  await clock.until(venue.findMarket("datesXyz12:ansC", signal));
  const after = await sweep();
  assert.deepEqual(marketIdsOf(after), ["datesXyz12:ansB"]);
  assert.deepEqual(childrenOf(after), [{ total: 4, read: 1, leftOut: { closed: 3 } }]);
});

/** Serves one page of contracts of a type, and single contracts by id. */
function serveContracts(type: string, rows: readonly object[], findContract: (id: string) => ScriptedResponse) {
  return (url: URL): ScriptedResponse => {
    const [, id] = /\/market\/([^/]+)$/.exec(url.pathname) ?? [];
    if (id !== undefined) return findContract(id);
    return body(url.searchParams.get("contractType") === type ? rows : []);
  };
}

test("reads contracts with numeric answers once to find out whether the answers are mutually exclusive", async () => {
  const { sweep, urls } = setUp(
    serveContracts("MULTI_NUMERIC", fixture("search/number-buckets") as object[], () =>
      body(fixture("market/number-buckets")),
    ),
  );
  for (let count = 0; count < 2; count++) {
    const pages = await sweep();
    assert.deepEqual(marketIdsOf(pages), ["snowDepth8:cm0to9", "snowDepth8:cm10to19", "snowDepth8:cm20up"]);
    assert.deepEqual(
      pages.flatMap(({ events }) => events).map(({ mutuallyExclusive }) => mutuallyExclusive),
      [true],
    );
  }
  assert.equal(urls().filter(({ pathname }) => pathname.endsWith("/market/snowDepth8")).length, 1);
});

test("a sweep reads at most 100 contracts per page and lists the others as not mutually exclusive", async () => {
  const [row] = fixture("search/number-buckets") as object[];
  const rows = Array.from({ length: 130 }, (_, at) => ({ ...row, id: `snow${at}` }));
  const { sweep } = setUp(
    serveContracts("MULTI_NUMERIC", rows, (id) => body({ ...(fixture("market/number-buckets") as object), id })),
  );
  const countExclusive = async () =>
    (await sweep()).flatMap(({ events }) => events).filter(({ mutuallyExclusive }) => mutuallyExclusive).length;
  assert.deepEqual([await countExclusive(), await countExclusive()], [100, 130]);
});

test("a sweep lists a contract with date answers even if reading the contract fails", async () => {
  const rows = fixture("search/date-thresholds") as object[];
  for (const response of [{ status: 404, body: "{}" }, body([]), { status: 400, body: "{}" }]) {
    const { sweep } = setUp(serveContracts("DATE", rows, () => response));
    assert.deepEqual(marketIdsOf(await sweep()), ["bridgeOpen4:byJune", "bridgeOpen4:byDec"]);
  }
});

test("a read of the changes also finds out whether the answers are mutually exclusive", async () => {
  const rows = fixture("search/number-buckets") as object[];
  const { clock, venue } = setUp(serveContracts("MULTI_NUMERIC", rows, () => body(fixture("market/number-buckets"))));
  const isExclusive: boolean[] = [];
  const list = async () => {
    for await (const { events } of venue.listChangedMarkets?.(NOW, signal) ?? [])
      isExclusive.push(...events.map(({ mutuallyExclusive }) => mutuallyExclusive));
  };
  await clock.until(list());
  assert.deepEqual(isExclusive, [true]);
});

test("after a contract could not be read, later sweeps do not request the contract again", async () => {
  const [row] = fixture("search/date-thresholds") as object[];
  const rows = Array.from({ length: 130 }, (_, at) => ({ ...row, id: `bridge${at}` }));
  const { sweep, urls } = setUp(serveContracts("DATE", rows, () => ({ status: 404, body: "{}" })));
  for (let count = 0; count < 3; count++) await sweep();
  const readIds = urls().flatMap(({ pathname }) => /\/market\/(.+)$/.exec(pathname)?.[1] ?? []);
  assert.deepEqual(readIds.toSorted(), rows.map(({ id }) => id).toSorted());
});

test("a contract that pays several answers is read with the payouts from `/prob`, all others without", async () => {
  const responses: Record<string, unknown> = {
    "/v0/market/cupFinal7Xq": fixture("market/multiple-resolved-choose-multiple"),
    "/v0/market/cupFinal7Xq/prob": fixture("market/multiple-resolved-choose-multiple-prob"),
    "/v0/market/datesXyz12": { ...(fixture("market/independent-partly-settled") as object), resolution: "MKT" },
    "/v0/market/rainNYC12a": fixture("market/binary-resolved-mkt"),
  };
  const { clock, venue, urls, drops } = setUp(({ pathname }) => body(responses[pathname]));
  const ids = ["cupFinal7Xq:ansRed1", "cupFinal7Xq:ansOther3", "datesXyz12:ansA", "rainNYC12a"];
  const page = await clock.until(venue.getMarkets(ids.map(listing), signal));
  const outcomes = new Map(page.markets.map((market) => [market.listing.marketId, market.listing.outcome]));
  assert.deepEqual(outcomes.get("cupFinal7Xq:ansRed1"), { kind: "partial", value: 0.75 });
  assert.deepEqual(outcomes.get("cupFinal7Xq:ansOther3"), { kind: "no" });
  assert.deepEqual(
    urls()
      .map(({ pathname }) => pathname)
      .sort(),
    Object.keys(responses).sort(),
  );
  assert.deepEqual(drops, {});
});

test("a contract that pays several answers has unknown outcomes if the venue returns no payouts", async () => {
  for (const response of [
    { status: 404, body: "{}" },
    body([]),
    body({ prob: 0.4 }),
    body({ answerProbs: { ansRed1: "1" } }),
  ]) {
    const { clock, venue, drops } = setUp(({ pathname }) =>
      pathname.endsWith("/prob") ? response : body(fixture("market/multiple-resolved-choose-multiple")),
    );
    const page = await clock.until(venue.findMarket("cupFinal7Xq:ansRed1", signal));
    assert.equal(page?.markets[0]?.listing.outcome, null);
    assert.deepEqual(drops, { unknown_resolution: 3 });
  }
});

test("reads several pages of trades without gaps or duplicates back to the requested time", async () => {
  const bets = Array.from({ length: 2_300 }, (_, at) => ({
    id: `bet${at}`,
    contractId: "rainNYC12a",
    createdTime: NOW - 10 * Math.floor(at / 3),
    amount: 5,
    shares: 10,
    outcome: "YES",
    probAfter: 0.5,
  }));
  const { clock, venue, urls } = setUp((url) => {
    const before = Number(url.searchParams.get("beforeTime") ?? Number.POSITIVE_INFINITY);
    const after = Number(url.searchParams.get("afterTime"));
    return body(bets.filter(({ createdTime }) => createdTime < before && createdTime > after).slice(0, PAGE_ROWS));
  });
  const since = NOW - 7_000;
  const trades = await clock.until(venue.listTrades(listing("rainNYC12a"), since, 10_000, signal));
  const expected = bets.filter(({ createdTime }) => createdTime >= since);
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    expected.map(({ id }) => id),
  );
  const [first] = urls();
  assert.equal(first?.search, `?contractId=rainNYC12a&afterTime=${since - 1}&limit=1000&filterRedemptions=true`);
});

test("trades of an answer are requested by answer id and exclude bets on other answers", async () => {
  const bet = { contractId: "cup", createdTime: NOW, amount: 5, shares: 10, outcome: "YES", probAfter: 0.5 };
  const { clock, venue, urls } = setUp(() =>
    body([
      { ...bet, id: "own", answerId: "red" },
      { ...bet, id: "other", answerId: "blue" },
    ]),
  );
  const trades = await clock.until(venue.listTrades(listing("cup:red"), NOW - 1_000, 10, signal));
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["own"],
  );
  assert.equal(urls()[0]?.searchParams.get("answerId"), "red");
});

test("getHistory sends one request for the points of the range", async () => {
  const { clock, venue, urls } = setUp(() => ({ body: JSON.stringify(fixture("history/bet-points")) }));
  const range = { fromMs: NOW - 10_800_000, toMs: NOW, intervalMs: 1_800_000 };
  const points = await clock.until(venue.getHistory(listing("rainNYC12a"), range, signal));
  assert.equal(
    `${urls()[0]?.pathname}${urls()[0]?.search}`,
    `/v0/bet-points?contractId=rainNYC12a&afterTime=${range.fromMs - 1}&beforeTime=${NOW}&limit=50000&filterRedemptions=true`,
  );
  assert.ok(points.length >= 4);
  for (const point of points) {
    assert.ok(point.startAt >= range.fromMs && point.endAt <= NOW && point.startAt % range.intervalMs === 0);
    assert.equal(point.volumeUsd, null);
  }
});

test("the history of an answer includes the rows with zero shares for price moves caused by other answers", async () => {
  const row = { createdTime: NOW - 5_400_000, answerId: "red", probBefore: 0.4, probAfter: 0.42 };
  const { clock, venue, urls } = setUp(() => body([row]));
  const range = { fromMs: NOW - 10_800_000, toMs: NOW, intervalMs: 1_800_000 };
  const points = await clock.until(venue.getHistory(listing("cup:red"), range, signal));
  assert.equal(
    urls()[0]?.search,
    `?contractId=cup&answerId=red&afterTime=${range.fromMs - 1}&beforeTime=${NOW}&limit=50000&includeZeroShareRedemptions=true`,
  );
  assert.deepEqual([points[0]?.yesPrice, points.at(-1)?.yesPrice], [0.4, 0.42]);
});

test("a history without a price change has the price after the last change before the range", async () => {
  const bet = { id: "b", contractId: "cup", answerId: "red", amount: 0, shares: 0, outcome: "YES", isRedemption: true };
  const unchanged = { ...bet, createdTime: NOW - 9_000_000, probBefore: 0.3, probAfter: 0.3, shares: -5 };
  const moved = { ...bet, createdTime: NOW - 9_100_000, probBefore: 0.3, probAfter: 0.37 };
  const range = { fromMs: NOW - 7_200_000, toMs: NOW, intervalMs: 1_800_000 };
  const read = async (preceding: readonly object[]) => {
    const { clock, venue, urls } = setUp(({ pathname }) =>
      body(pathname.endsWith("/bet-points") ? [{ ...unchanged, createdTime: NOW - 1_000 }] : preceding),
    );
    const points = await clock.until(venue.getHistory(listing("cup:red"), range, signal));
    return { prices: new Set(points.map(({ yesPrice }) => yesPrice)), search: urls()[1]?.search };
  };
  assert.deepEqual(await read([unchanged, moved]), {
    prices: new Set([0.37]),
    search: `?contractId=cup&answerId=red&beforeTime=${range.fromMs}&limit=100&includeZeroShareRedemptions=true`,
  });
  assert.deepEqual((await read([unchanged])).prices, new Set([0.3]));
  assert.deepEqual((await read([])).prices, new Set());
});

test("sends at most 500 requests per minute, the venue's limit", async () => {
  const ids = Array.from({ length: 900 }, (_, at) => listing(`c${at}`));
  const sentAt: number[] = [];
  const { clock, venue } = setUp(() => {
    sentAt.push(clock.monotonic());
    return { status: 404, body: "{}" };
  });
  await clock.until(venue.getMarkets(ids, signal));
  assert.equal(sentAt.length, 900);
  for (const [first, at] of sentAt.entries()) {
    assert.ok(sentAt.slice(first).filter((other) => other < at + 60_000).length <= 500);
  }
});
