import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors, type MarketApi, openMarketApi } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { DAY_MS } from "../../../lib/durations.ts";

async function openApiWithMarkets(count: number): Promise<MarketApi> {
  const api = await openMarketApi();
  for (let number = 0; number < count; number++) {
    const activity = { volume24hUsd: number % 3 === 0 ? null : number % 5 };
    api.board.apply(sampleMarket(`m${number}`, { activity }), SAMPLE_AT);
  }
  return api;
}

const idsOf = (reply: { json(): unknown }) =>
  (reply.json() as { market_id: string }[]).map((market) => market.market_id);

/** Returns the URL in the Link header, or null if there is no header. */
function nextUrlOf(reply: { headers: Readonly<Record<string, unknown>> }): string | null {
  const { link } = reply.headers;
  if (link === undefined) return null;
  const match = /^<([^>]+)>; rel="next"$/.exec(String(link));
  if (match === null) throw new Error(`Malformed Link header: ${link}`);
  return match[1] ?? null;
}

test("200: following the Link headers returns every market once; the last page has no Link header", async () => {
  const { get } = await openApiWithMarkets(23);
  const allIds = idsOf(await get("/v1/markets?limit=100"));
  assert.equal(allIds.length, 23);
  const receivedIds: string[] = [];
  let url: string | null = "/v1/markets?limit=5&sort=volume_24h&category=";
  for (let page = 0; url !== null && page < 10; page++) {
    const reply = await get(url);
    assert.equal(reply.statusCode, 200);
    receivedIds.push(...idsOf(reply));
    url = nextUrlOf(reply);
  }
  assert.equal(url, null);
  assert.deepEqual(receivedIds, allIds);
});

test("200: a market added between page requests does not shift the next pages", async () => {
  const { board, get } = await openApiWithMarkets(10);
  const allIds = idsOf(await get("/v1/markets"));
  const firstReply = await get("/v1/markets?limit=4");
  board.apply(sampleMarket("new", { activity: { volume24hUsd: 1e9 } }), SAMPLE_AT);
  const nextReply = await get(`${nextUrlOf(firstReply)}`);
  assert.deepEqual([...idsOf(firstReply), ...idsOf(nextReply)], allIds.slice(0, 8));
});

test("200: the URL of the next page is relative or starts with the public URL; the Host header is ignored", async () => {
  for (const [publicUrl, prefix] of [
    [null, "/v1/markets?"],
    ["https://api.example.org", "https://api.example.org/v1/markets?"],
  ] as const) {
    const { board, get } = await openMarketApi({ publicUrl });
    for (const id of ["a", "b"]) board.apply(sampleMarket(id), SAMPLE_AT);
    const reply = await get("/v1/markets?limit=1", { host: "evil.example" });
    assert.ok(nextUrlOf(reply)?.startsWith(prefix), String(reply.headers.link));
  }
});

test("200: filters markets and ignores empty filters", async () => {
  const { board, get } = await openApiWithMarkets(2);
  board.apply(sampleMarket("b", { listing: { venue: "beta", category: "Sports", title: "Núñez scores" } }), SAMPLE_AT);
  board.apply(sampleMarket("over", { listing: { status: "finalized" } }), SAMPLE_AT);
  board.apply(sampleMarket("pending", { listing: { status: "pending" } }), SAMPLE_AT);
  board.apply(sampleMarket("reference", { listing: { venue: "gamma" } }), SAMPLE_AT);
  const ids = async (query: string) => idsOf(await get(`/v1/markets?${query}`)).sort();
  assert.deepEqual(await ids("source=beta"), ["b"]);
  assert.deepEqual(await ids("platform=beta&source=beta"), ["b"]);
  assert.deepEqual(await ids("category=SPORTS"), ["b"]);
  assert.deepEqual(await ids("query=nunez%20sco"), ["b"]);
  assert.deepEqual(await ids("status=finalized"), ["over"]);
  assert.deepEqual(await ids("status=all"), ["b", "m0", "m1", "over"]);
  assert.deepEqual(await ids("source=&platform=&query=&category=&cursor="), ["b", "m0", "m1"]);
});

test("200: accepts parameters at their bounds", async () => {
  const { get } = await openApiWithMarkets(3);
  for (const query of ["limit=1", "limit=100", `query=${"a".repeat(500)}`, `category=${"c".repeat(50)}`]) {
    assert.equal((await get(`/v1/markets?${query}`)).statusCode, 200, query);
  }
});

test("200: returns 30 markets by default", async () => {
  const { get } = await openApiWithMarkets(31);
  assert.equal(idsOf(await get("/v1/markets")).length, 30);
});

test("200: an unknown parameter is reported in a header with the closest known one", async () => {
  const { get } = await openApiWithMarkets(1);
  const reply = await get("/v1/markets?limt=3&risk_limit=5");
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["x-ignored-parameters"], "limt; did you mean limit, risk_limit");
  assert.equal((await get("/v1/markets?limit=3")).headers["x-ignored-parameters"], undefined);
});

test("422: rejects each invalid parameter with its specific error", async () => {
  const { get } = await openApiWithMarkets(3);
  const cases: Readonly<Record<string, string>> = {
    "limit=0": "greater_than_equal at query.limit",
    "limit=101": "less_than_equal at query.limit",
    "limit=x": "int_parsing at query.limit",
    "limit=1.5": "int_parsing at query.limit",
    "limit=": "int_parsing at query.limit",
    "order=up": "literal_error at query.order",
    "sort=price": "literal_error at query.sort",
    "status=pending": "literal_error at query.status",
    "source=gamma": "literal_error at query.source",
    "source=unknown": "literal_error at query.source",
    "platform=ALPHA": "literal_error at query.platform",
    "source=alpha&platform=beta": "value_error at query.platform",
    [`query=${"a".repeat(501)}`]: "string_too_long at query.query",
    [`category=${"c".repeat(51)}`]: "string_too_long at query.category",
    "cursor=rubbish": "value_error at query.cursor",
    [`cursor=${"A".repeat(2_049)}`]: "string_too_long at query.cursor",
  };
  for (const [query, expected] of Object.entries(cases)) {
    assert.deepEqual(describeErrors(await get(`/v1/markets?${query}`)), [expected], query.slice(0, 40));
  }
  const severalErrors = describeErrors(await get("/v1/markets?limit=0&sort=x&source=y"));
  assert.deepEqual(severalErrors.sort(), [
    "greater_than_equal at query.limit",
    "literal_error at query.sort",
    "literal_error at query.source",
  ]);
});

test("200: accepts a cursor for an equivalent query", async () => {
  const { board, get } = await openApiWithMarkets(0);
  for (const id of ["a", "b", "c"]) board.apply(sampleMarket(id, { listing: { category: "Sports" } }), SAMPLE_AT);
  const firstReply = await get("/v1/markets?platform=alpha&category=Sports&limit=2");
  const cursor = new URL(`http://x${nextUrlOf(firstReply)}`).searchParams.get("cursor");
  const allIds = idsOf(await get("/v1/markets?source=alpha&category=sports"));
  assert.ok(allIds.length > 2);
  const nextReply = await get(`/v1/markets?source=alpha&platform=alpha&category=SPORTS&cursor=${cursor}`);
  assert.deepEqual([...idsOf(firstReply), ...idsOf(nextReply)], allIds);
});

test("422: rejects a cursor if the filters, the sort or the order differ; 200 if only the page size differs", async () => {
  const { get } = await openApiWithMarkets(10);
  const cursor = new URL(`http://x${nextUrlOf(await get("/v1/markets?limit=3"))}`).searchParams.get("cursor");
  assert.equal((await get(`/v1/markets?limit=5&cursor=${cursor}`)).statusCode, 200);
  for (const other of [
    "sort=liquidity",
    "status=all",
    "source=alpha",
    "category=Sports",
    "query=question",
    "order=asc",
  ]) {
    assert.deepEqual(
      describeErrors(await get(`/v1/markets?${other}&cursor=${cursor}`)),
      ["value_error at query.cursor"],
      other,
    );
  }
});

test("200: `order` reverses a sort, and unknown values are last in both orders", async () => {
  const dated = await openMarketApi();
  for (const day of [1, 2, 3]) {
    const listing = { expectedResolutionAt: SAMPLE_AT + day * DAY_MS };
    dated.board.apply(sampleMarket(`day${day}`, { listing }), SAMPLE_AT);
  }
  const byDate = async (order: string) => idsOf(await dated.get(`/v1/markets?sort=resolution_date${order}`));
  for (const order of ["", "&order=asc"]) assert.deepEqual(await byDate(order), ["day1", "day2", "day3"]);
  assert.deepEqual(await byDate("&order=desc"), ["day3", "day2", "day1"]);
  const { get } = await openApiWithMarkets(23);
  const volumes = (await get("/v1/markets?limit=100&order=asc"))
    .json()
    .map((market: { volume_24h?: number }) => market.volume_24h);
  const known = volumes.filter((volume: number | undefined) => volume !== undefined);
  assert.deepEqual(
    known,
    known.toSorted((a: number, b: number) => a - b),
  );
  assert.deepEqual(volumes.slice(0, known.length), known);
});

test("200: the category filter accepts our categories and the venue's own, in any case", async () => {
  const { board, get } = await openMarketApi();
  board.apply(sampleMarket("rain", { listing: { category: "Climate and Weather" } }), SAMPLE_AT);
  board.apply(sampleMarket("snow", { listing: { category: "Weather" } }), SAMPLE_AT);
  board.apply(sampleMarket("unknown", { listing: { category: "Exotics" } }), SAMPLE_AT);
  board.apply(sampleMarket("none"), SAMPLE_AT);
  const list = async (category: string) =>
    idsOf(await get(`/v1/markets?category=${encodeURIComponent(category)}`)).sort();
  assert.deepEqual(await list("wEATHER"), ["rain", "snow"]);
  assert.deepEqual(await list("climate and weather"), ["rain"]);
  assert.deepEqual(await list("other"), ["unknown"]);
  assert.deepEqual(await list("exotics"), ["unknown"]);
  assert.deepEqual(await list("sports"), []);
});

test("200: the categories have the number and volume of their active markets, largest volume first", async () => {
  const { board, get } = await openMarketApi();
  assert.deepEqual((await get("/v1/categories")).json(), []);
  const add = (id: string, category: string | null, volume24hUsd: number | null, listing: object = {}) =>
    board.apply(sampleMarket(id, { listing: { category, ...listing }, activity: { volume24hUsd } }), SAMPLE_AT);
  add("a", "Climate and Weather", 25.25);
  add("b", "Weather", null);
  add("c", "Sports", 20);
  add("d", "Exotics", null);
  add("e", null, 7);
  add("f", "Sports", 1, { venue: "gamma" });
  add("g", "Sports", 1, { status: "closed" });
  const reply = await get("/v1/categories");
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), [
    { category: "Weather", market_count: 2, volume_24h: 25.25 },
    { category: "Sports", market_count: 1, volume_24h: 20 },
    { category: "Other", market_count: 1, volume_24h: null },
  ]);
});
