import assert from "node:assert/strict";
import { test } from "node:test";
import { type MarketApi, openMarketApi, refusals } from "../../../test/support/market-api.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/market-samples.ts";

async function withMarkets(count: number): Promise<MarketApi> {
  const api = await openMarketApi();
  for (let number = 0; number < count; number++) {
    const activity = { volume24hUsd: number % 3 === 0 ? null : number % 5 };
    api.board.apply(sampleMarket(`m${number}`, { activity }), SAMPLE_AT);
  }
  return api;
}

const idsOf = (reply: { json(): unknown }) =>
  (reply.json() as { market_id: string }[]).map((market) => market.market_id);

/** Where the Link header leads, or null. */
function nextOf(reply: { headers: Readonly<Record<string, unknown>> }): string | null {
  const { link } = reply.headers;
  if (link === undefined) return null;
  const match = /^<([^>]+)>; rel="next"$/.exec(String(link));
  if (match === null) throw new Error(`malformed Link header: ${link}`);
  return match[1] ?? null;
}

test("200: markets come as a bare array in the specification's words", async () => {
  const { app, get } = await withMarkets(1);
  const reply = await get("/v1/markets");
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  const updated_at = new Date(SAMPLE_AT).toISOString();
  const quote = { yes_price: 0.41, bid: 0.4, ask: 0.42, last_price: 0.41 };
  assert.deepEqual(reply.json(), [
    { platform: "alpha", market_id: "m0", title: "Question m0", ...quote, updated_at, status: "active" },
  ]);
  await app.close();
});

test("200: an empty board is an empty array without a next page", async () => {
  const { app, get } = await withMarkets(0);
  const reply = await get("/v1/markets");
  assert.deepEqual([reply.statusCode, reply.body, reply.headers.link], [200, "[]", undefined]);
  await app.close();
});

test("200: the Link header leads through every market once and then ends", async () => {
  const { app, get } = await withMarkets(23);
  const whole = idsOf(await get("/v1/markets?limit=100"));
  assert.equal(whole.length, 23);
  const seen: string[] = [];
  let url: string | null = "/v1/markets?limit=5&sort=volume_24h&category=";
  for (let page = 0; url !== null && page < 10; page++) {
    const reply = await get(url);
    assert.equal(reply.statusCode, 200);
    seen.push(...idsOf(reply));
    url = nextOf(reply);
  }
  assert.equal(url, null);
  assert.deepEqual(seen, whole);
  await app.close();
});

test("200: a market listed while a caller pages shifts nothing", async () => {
  const { app, board, get } = await withMarkets(10);
  const whole = idsOf(await get("/v1/markets"));
  const first = await get("/v1/markets?limit=4");
  board.apply(sampleMarket("newcomer", { activity: { volume24hUsd: 1e9 } }), SAMPLE_AT);
  const rest = await get(`${nextOf(first)}`);
  assert.deepEqual([...idsOf(first), ...idsOf(rest)], whole.slice(0, 8));
  await app.close();
});

test("200: the next page is relative, or at the public address, and never at the Host that a caller claims", async () => {
  for (const [publicUrl, begin] of [
    [null, "/v1/markets?"],
    ["https://api.example.org", "https://api.example.org/v1/markets?"],
  ] as const) {
    const { app, board, get } = await openMarketApi({ publicUrl });
    for (const id of ["a", "b"]) board.apply(sampleMarket(id), SAMPLE_AT);
    const reply = await get("/v1/markets?limit=1", { host: "evil.example" });
    assert.ok(nextOf(reply)?.startsWith(begin), String(reply.headers.link));
    await app.close();
  }
});

test("200: filters narrow the list, empty ones count as not sent", async () => {
  const { app, board, get } = await withMarkets(2);
  board.apply(sampleMarket("b", { listing: { venue: "beta", category: "Sports", title: "Núñez scores" } }), SAMPLE_AT);
  board.apply(sampleMarket("over", { listing: { status: "finalized" } }), SAMPLE_AT);
  const ids = async (query: string) => idsOf(await get(`/v1/markets?${query}`)).sort();
  assert.deepEqual(await ids("source=beta"), ["b"]);
  assert.deepEqual(await ids("platform=beta"), ["b"]);
  assert.deepEqual(await ids("category=SPORTS"), ["b"]);
  assert.deepEqual(await ids("query=nunez%20sco"), ["b"]);
  assert.deepEqual(await ids("status=finalized"), ["over"]);
  assert.deepEqual(await ids("status=all"), ["b", "m0", "m1", "over"]);
  assert.deepEqual(await ids("source=&platform=&query=&category=&cursor="), ["b", "m0", "m1"]);
  await app.close();
});

test("200: limits and lengths are good at their bounds", async () => {
  const { app, get } = await withMarkets(3);
  for (const query of ["limit=1", "limit=100", `query=${"a".repeat(500)}`, `category=${"c".repeat(50)}`]) {
    assert.equal((await get(`/v1/markets?${query}`)).statusCode, 200, query);
  }
  await app.close();
});

test("200: thirty markets by default", async () => {
  const { app, get } = await withMarkets(31);
  assert.equal(idsOf(await get("/v1/markets")).length, 30);
  await app.close();
});

test("200: a parameter that nobody reads is named, with the nearest known one", async () => {
  const { app, get } = await withMarkets(1);
  const reply = await get("/v1/markets?limt=3&risk_limit=5");
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["x-ignored-parameters"], "limt; did you mean limit, risk_limit");
  assert.equal((await get("/v1/markets?limit=3")).headers["x-ignored-parameters"], undefined);
  await app.close();
});

test("304: the same list is not sent twice, a changed one is", async () => {
  const { app, board, get } = await withMarkets(3);
  const first = await get("/v1/markets");
  const tag = { "if-none-match": String(first.headers.etag) };
  const second = await get("/v1/markets", tag);
  assert.deepEqual([second.statusCode, second.body], [304, ""]);
  board.applyQuote("alpha", "m1", { bid: 0.41 }, SAMPLE_AT);
  assert.equal((await get("/v1/markets", tag)).statusCode, 200);
  await app.close();
});

test("401: nobody lists markets without a key", async () => {
  const { app } = await withMarkets(1);
  for (const headers of [{}, { authorization: "Bearer wrong" }]) {
    const reply = await app.inject({ url: "/v1/markets?limit=0", headers });
    assert.equal(reply.statusCode, 401);
    assert.deepEqual(reply.json(), { detail: "Invalid or expired API key", code: "unauthorized" });
  }
  await app.close();
});

test("422: each bad parameter is refused in its own words", async () => {
  const { app, get } = await withMarkets(3);
  const cases: Readonly<Record<string, string>> = {
    "limit=0": "greater_than_equal at query.limit",
    "limit=101": "less_than_equal at query.limit",
    "limit=x": "int_parsing at query.limit",
    "limit=1.5": "int_parsing at query.limit",
    "limit=": "int_parsing at query.limit",
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
    assert.deepEqual(refusals(await get(`/v1/markets?${query}`)), [expected], query.slice(0, 40));
  }
  const several = refusals(await get("/v1/markets?limit=0&sort=x&source=y"));
  assert.deepEqual(several.sort(), [
    "greater_than_equal at query.limit",
    "literal_error at query.sort",
    "literal_error at query.source",
  ]);
  await app.close();
});

test("200: a cursor is good for the same listing asked for in other words", async () => {
  const { app, board, get } = await withMarkets(0);
  for (const id of ["a", "b", "c"]) board.apply(sampleMarket(id, { listing: { category: "Sports" } }), SAMPLE_AT);
  const first = await get("/v1/markets?platform=alpha&category=Sports&limit=2");
  const cursor = new URL(`http://x${nextOf(first)}`).searchParams.get("cursor");
  const whole = idsOf(await get("/v1/markets?source=alpha&category=sports"));
  assert.ok(whole.length > 2);
  const rest = await get(`/v1/markets?source=alpha&platform=alpha&category=SPORTS&cursor=${cursor}`);
  assert.deepEqual([...idsOf(first), ...idsOf(rest)], whole);
  await app.close();
});

test("422: a cursor is good only for the listing that it came from; another page size is the same listing", async () => {
  const { app, get } = await withMarkets(10);
  const cursor = new URL(`http://x${nextOf(await get("/v1/markets?limit=3"))}`).searchParams.get("cursor");
  assert.equal((await get(`/v1/markets?limit=5&cursor=${cursor}`)).statusCode, 200);
  for (const other of ["sort=liquidity", "status=all", "source=alpha", "category=Sports", "query=question"]) {
    assert.deepEqual(
      refusals(await get(`/v1/markets?${other}&cursor=${cursor}`)),
      ["value_error at query.cursor"],
      other,
    );
  }
  await app.close();
});
