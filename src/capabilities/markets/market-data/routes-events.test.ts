import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors, type MarketApi, openMarketApi } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../../test/support/markets/market-samples.ts";

const SAMPLE_TIME = new Date(SAMPLE_AT).toISOString();

const FED_SUMMARY = {
  slug: "alpha:fed",
  title: "Fed decision",
  platform: "alpha",
  market_count: 2,
  total_volume_24h: 100,
  updated_at: SAMPLE_TIME,
  category: "Economics",
  venue_category: "Economics",
  featured: true,
};

/** Two events of `alpha`, one of `beta` and one of the reference venue `gamma`. */
async function openApiWithEvents(): Promise<MarketApi> {
  const api = await openMarketApi();
  const { board } = api;
  board.applyEvent(
    sampleEvent("FED", { title: "Fed decision", category: "Economics", featured: true, mutuallyExclusive: true }),
  );
  board.applyEvent(sampleEvent("CPI", { title: "Inflation", category: "Economics" }));
  board.applyEvent(sampleEvent("CUP", { venue: "beta", title: "Fed Cup", category: "Sports" }));
  board.applyEvent(sampleEvent("REF", { venue: "gamma", title: "Fed reference" }));
  const addMarket = (marketId: string, eventId: string, volume24hUsd: number, priceDayAgo: number, venue = "alpha") => {
    const parts = { listing: { eventId, venue }, activity: { volume24hUsd } };
    board.annotate(board.apply(sampleMarket(marketId, parts), SAMPLE_AT).market, { priceDayAgo });
  };
  addMarket("cut", "FED", 60, 0.41);
  addMarket("hold", "FED", 40, 0.41);
  addMarket("above", "CPI", 50, 0.11);
  addMarket("final", "CUP", 10, 0.41, "beta");
  addMarket("reference", "REF", 900, 0.41, "gamma");
  return api;
}

const slugsOf = (reply: { json(): unknown }) => (reply.json() as { slug: string }[]).map(({ slug }) => slug);

test("200: lists events by volume with the documented fields", async () => {
  const { get } = await openApiWithEvents();
  const reply = await get("/v1/events");
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(slugsOf(reply), ["alpha:fed", "alpha:cpi", "beta:cup"]);
  assert.deepEqual(reply.json()[0], FED_SUMMARY);
});

test("200: filters events by venue, category and featured flag, and ignores empty filters", async () => {
  const { get } = await openApiWithEvents();
  const slugs = async (query: string) => slugsOf(await get(`/v1/events?${query}`));
  assert.deepEqual(await slugs("source=beta"), ["beta:cup"]);
  assert.deepEqual(await slugs("platform=beta&source=beta"), ["beta:cup"]);
  assert.deepEqual(await slugs("category=economics"), ["alpha:fed", "alpha:cpi"]);
  assert.deepEqual(await slugs("featured=true"), ["alpha:fed"]);
  assert.deepEqual(await slugs("featured=0&limit=1"), ["alpha:fed"]);
  assert.deepEqual((await slugs("source=&platform=&category=&limit=100")).length, 3);
});

test("200: sorts trending events by volume times price change factor", async () => {
  const { get } = await openApiWithEvents();
  // cpi: 50 * (1 + 20 * 0.3) = 350; fed: 100; cup: 10.
  assert.deepEqual(slugsOf(await get("/v1/events/trending")), ["alpha:cpi", "alpha:fed", "beta:cup"]);
  assert.deepEqual(slugsOf(await get("/v1/events/trending?limit=1")), ["alpha:cpi"]);
  assert.equal((await get("/v1/events/trending?limit=50")).statusCode, 200);
});

test("200: searches the titles of events and markets, and returns an empty array if nothing matches", async () => {
  const { get } = await openApiWithEvents();
  const slugs = async (q: string) => slugsOf(await get(`/v1/events/search?q=${encodeURIComponent(q)}`));
  assert.deepEqual(await slugs("FED"), ["alpha:fed", "beta:cup"]);
  assert.deepEqual(await slugs("question above"), ["alpha:cpi"]);
  assert.deepEqual(await slugs("unmatched"), []);
  assert.deepEqual(await slugs("?!"), []);
  assert.equal((await get(`/v1/events/search?q=${"a".repeat(500)}&limit=50`)).statusCode, 200);
});

test("200: returns an event, with its markets only if requested", async () => {
  const { get } = await openApiWithEvents();
  const event = (await get("/v1/events/alpha:fed")).json();
  assert.deepEqual(event, {
    ...FED_SUMMARY,
    description: null,
    top_yes_price: 0.41,
    mutually_exclusive: true,
    children: null,
    status: "open",
    end_date: null,
    also_on: [],
  });
  const { markets, ...eventWithoutMarkets } = (await get("/v1/events/alpha%3Afed?expand=markets")).json();
  assert.deepEqual(eventWithoutMarkets, event);
  assert.deepEqual(markets[0], {
    market_id: "cut",
    title: "Question cut",
    yes_price: 0.41,
    volume_24h: 60,
    url: null,
    open_interest: null,
    spread: 0.02,
  });
});

test("200: lists the markets of an event as Market objects", async () => {
  const { get } = await openApiWithEvents();
  const reply = await get("/v1/events/alpha:fed/markets");
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), [
    (await get("/v1/markets/alpha/cut")).json(),
    (await get("/v1/markets/alpha/hold")).json(),
  ]);
});

test("200: returns the sentiment of all active markets", async () => {
  const { get } = await openApiWithEvents();
  const reply = await get("/v1/sentiment");
  assert.equal(reply.statusCode, 200);
  const aboveMarket = (await get("/v1/markets/alpha/above")).json();
  assert.deepEqual(reply.json(), {
    fear_greed_index: 100,
    market_regime: "risk_on",
    volume_trend: null,
    spread_trend: null,
    active_market_count: 4,
    dominant_category: null,
    top_movers: [aboveMarket],
    generated_at: SAMPLE_TIME,
  });
});

test("404: an unknown event, an event of a reference venue and a malformed slug return event_not_found", async () => {
  const { get } = await openApiWithEvents();
  for (const slug of ["alpha:none", "gamma:ref", "delta:fed", "fed", "x".repeat(600)]) {
    for (const url of [`/v1/events/${slug}`, `/v1/events/${slug}/markets`]) {
      const reply = await get(url);
      assert.deepEqual(
        [reply.statusCode, reply.json()],
        [404, { detail: "There is no such event", code: "event_not_found" }],
      );
    }
  }
});

test("422: rejects each invalid parameter with its specific error", async () => {
  const { get } = await openApiWithEvents();
  const cases: Readonly<Record<string, string>> = {
    "/v1/events?limit=0": "greater_than_equal at query.limit",
    "/v1/events?limit=101": "less_than_equal at query.limit",
    "/v1/events?source=gamma": "string_pattern_mismatch at query.source",
    "/v1/events?platform=delta": "string_pattern_mismatch at query.platform",
    "/v1/events?platform=alphabeta": "string_pattern_mismatch at query.platform",
    [`/v1/events?platform=${"a".repeat(21)}`]: "string_too_long at query.platform",
    [`/v1/events?category=${"a".repeat(51)}`]: "string_too_long at query.category",
    "/v1/events?source=alpha&platform=beta": "value_error at query.platform",
    "/v1/events?featured=maybe": "bool_parsing at query.featured",
    [`/v1/events?category=${"c".repeat(51)}`]: "string_too_long at query.category",
    "/v1/events/trending?limit=0": "greater_than_equal at query.limit",
    "/v1/events/trending?limit=51": "less_than_equal at query.limit",
    "/v1/events/search": "missing at query.q",
    "/v1/events/search?q=": "string_too_short at query.q",
    [`/v1/events/search?q=${"a".repeat(501)}`]: "string_too_long at query.q",
    "/v1/events/search?q=a&limit=51": "less_than_equal at query.limit",
    "/v1/events/alpha:fed?expand=history": "literal_error at query.expand",
  };
  for (const [url, expected] of Object.entries(cases))
    assert.deepEqual(describeErrors(await get(url)), [expected], url.slice(0, 60));
});

test("200: before the history is loaded, the sentiment has null for every figure that needs it", async () => {
  const trend = { volumeUsd: 9, volumeBeforeUsd: 1, spread: 9, spreadBefore: 1 };
  const { board, get } = await openMarketApi({ readTrend: async () => trend });
  for (const id of ["a", "b", "c"]) board.apply(sampleMarket(id, { activity: { volume24hUsd: 5 } }), SAMPLE_AT);
  const [first] = board.markets();
  if (first !== undefined) board.annotate(first, { priceDayAgo: 0.11 });
  assert.deepEqual((await get("/v1/sentiment")).json(), {
    fear_greed_index: null,
    market_regime: null,
    volume_trend: null,
    spread_trend: null,
    active_market_count: 3,
    dominant_category: null,
    top_movers: [],
    generated_at: SAMPLE_TIME,
  });
});

/** Returns the URL in the Link header, or null if there is no header. */
const nextUrlOf = (reply: { headers: Readonly<Record<string, unknown>> }): string | null =>
  /^<([^>]+)>; rel="next"$/.exec(String(reply.headers.link ?? ""))?.[1] ?? null;

test("200: following the Link headers returns every event once, also after an event was added", async () => {
  const { board, get } = await openApiWithEvents();
  const received: string[] = [];
  let url: string | null = "/v1/events?limit=1";
  while (url !== null) {
    const reply = await get(url);
    received.push(...slugsOf(reply));
    url = nextUrlOf(reply);
    board.applyEvent(sampleEvent("TOP", { title: "Largest" }));
    board.apply(sampleMarket("top", { listing: { eventId: "TOP" }, activity: { volume24hUsd: 1e6 } }), SAMPLE_AT);
  }
  assert.deepEqual(received, ["alpha:fed", "alpha:cpi", "beta:cup"]);
  assert.equal(nextUrlOf(await get("/v1/events?limit=4")), null);
  assert.notEqual(nextUrlOf(await get("/v1/events?limit=3")), null);
});

test("200: filters events by volume, number of markets and status", async () => {
  const { board, get } = await openApiWithEvents();
  const add = (id: string, status: "closed" | "finalized") => {
    board.applyEvent(sampleEvent(id, { title: id }));
    board.apply(sampleMarket(`${id}-m`, { listing: { eventId: id, status } }), SAMPLE_AT);
  };
  add("SHUT", "closed");
  add("PAID", "finalized");
  const list = async (query: string) => slugsOf(await get(`/v1/events?${query}`));
  assert.deepEqual(await list("min_volume=50"), ["alpha:fed", "alpha:cpi"]);
  assert.deepEqual(await list("min_volume=0"), ["alpha:fed", "alpha:cpi", "beta:cup"]);
  assert.deepEqual(await list("min_markets=2"), ["alpha:fed"]);
  assert.deepEqual(await list("status=open"), ["alpha:fed", "alpha:cpi", "beta:cup"]);
  assert.deepEqual(await list("status=closed"), ["alpha:shut"]);
  assert.deepEqual(await list("status=settled"), ["alpha:paid"]);
  assert.deepEqual(await list("status=all"), ["alpha:fed", "alpha:cpi", "beta:cup", "alpha:paid", "alpha:shut"]);
  assert.deepEqual(await list("status=all&min_volume=0.01"), ["alpha:fed", "alpha:cpi", "beta:cup"]);
  board.apply(sampleMarket("SHUT-m", { listing: { eventId: "SHUT", status: "active" } }), SAMPLE_AT);
  assert.deepEqual(await list("status=closed"), []);
});

test("200: trending and search list open events only", async () => {
  const { board, get } = await openApiWithEvents();
  board.applyEvent(sampleEvent("OLD", { title: "Fed old" }));
  board.apply(sampleMarket("old", { listing: { eventId: "OLD", status: "finalized" } }), SAMPLE_AT);
  assert.equal(slugsOf(await get("/v1/events/trending")).includes("alpha:old"), false);
  assert.equal(slugsOf(await get("/v1/events/search?q=old")).includes("alpha:old"), false);
});

test("422: rejects invalid event filters, and a cursor of other filters", async () => {
  const { get } = await openApiWithEvents();
  for (const [query, expected] of [
    ["min_volume=-1", "greater_than_equal at query.min_volume"],
    ["min_volume=much", "float_parsing at query.min_volume"],
    ["min_markets=0", "greater_than_equal at query.min_markets"],
    ["min_markets=10001", "less_than_equal at query.min_markets"],
    ["status=active", "literal_error at query.status"],
    ["cursor=x", "value_error at query.cursor"],
  ] as const)
    assert.deepEqual(describeErrors(await get(`/v1/events?${query}`)), [expected], query);
  const cursor = new URL(`${nextUrlOf(await get("/v1/events?limit=1"))}`, "http://a").searchParams.get("cursor");
  assert.equal((await get(`/v1/events?cursor=${cursor}`)).statusCode, 200);
  const otherFilters = [
    "status=all",
    "min_volume=0",
    "min_markets=1",
    "source=alpha",
    "category=economics",
    "featured=1",
  ];
  for (const filter of otherFilters)
    assert.deepEqual(
      describeErrors(await get(`/v1/events?${filter}&cursor=${cursor}`)),
      ["value_error at query.cursor"],
      filter,
    );
});
