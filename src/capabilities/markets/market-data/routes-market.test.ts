import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors, openMarketApi } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { sampleCandle } from "../../../../test/support/storage-samples.ts";
import { AppError, VenueError } from "../../../domain/errors.ts";

const AT = new Date(SAMPLE_AT).toISOString();
const NOT_FOUND = { detail: "There is no such market on this venue", code: "market_not_found" };
const UNREACHABLE = { detail: "The venue cannot be reached at the moment", code: "venue_unavailable" };
const timeout = () => new VenueError("timeout", "inner-host:443 did not answer", { retryable: true });

test("200: returns a market with the slug and title of its event", async () => {
  const { board, get } = await openMarketApi();
  board.applyEvent(sampleEvent("KXFed", { title: "Fed", category: "Economics" }));
  board.apply(sampleMarket("KX-25", { listing: { eventId: "KXFed" } }), SAMPLE_AT);
  const reply = await get("/v1/markets/alpha/KX-25");
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), {
    platform: "alpha",
    market_id: "KX-25",
    title: "Question KX-25",
    yes_price: 0.41,
    updated_at: AT,
    status: "active",
    bid: 0.4,
    ask: 0.42,
    last_price: 0.41,
    category: "Economics",
    venue_category: "Economics",
    tick_size: 0.01,
    price_ranges: [{ from: 0, to: 1, step: 0.01 }],
    paused: false,
    event_slug: "alpha:kxfed",
    event_title: "Fed",
  });
});

test("200: the list and the single market show the settlement of a finalized market, with null for unknown values", async () => {
  const { board, get } = await openMarketApi();
  const settled = { status: "finalized", outcome: { kind: "partial", value: 0.25 }, resolvedAt: SAMPLE_AT } as const;
  board.apply(sampleMarket("settled", { listing: settled }), SAMPLE_AT);
  board.apply(sampleMarket("unknown", { listing: { status: "finalized" } }), SAMPLE_AT);
  const settlementOf = ({ outcome, settlement_value, resolved_at }: Record<string, unknown>) => [
    outcome,
    settlement_value,
    resolved_at,
  ];
  const list = (await get("/v1/markets?status=finalized")).json();
  for (const [id, expected] of [
    ["settled", ["partial", 0.25, AT]],
    ["unknown", [null, null, null]],
  ] as const) {
    assert.deepEqual(settlementOf((await get(`/v1/markets/alpha/${id}`)).json()), expected);
    assert.deepEqual(settlementOf((await get(`/v1/markets/alpha/${id}?expand=history`)).json()), expected);
    assert.deepEqual(settlementOf(list.find((market: { market_id: string }) => market.market_id === id)), expected);
  }
});

test("200: finds a market id with special characters by its percent-encoded form, decoded once", async () => {
  const { board, get } = await openMarketApi();
  for (const id of ["a/b", "c:d", "50%", "%41", "ü ?#&", "x".repeat(512)]) {
    board.apply(sampleMarket(id), SAMPLE_AT);
    const reply = await get(`/v1/markets/alpha/${encodeURIComponent(id)}`);
    assert.deepEqual([reply.statusCode, reply.json().market_id], [200, id]);
  }
});

test("200: fetches a market from its venue if it is not on the board", async () => {
  const api = await openMarketApi({
    fetchMarket: async (venue, marketId) => {
      api.board.apply(sampleMarket(marketId, { listing: { venue } }), SAMPLE_AT);
      return true;
    },
  });
  const reply = await api.get("/v1/markets/beta/new");
  assert.deepEqual([reply.statusCode, reply.json().platform, reply.json().market_id], [200, "beta", "new"]);
});

test("200: `expand=history` adds the 7-day history; an empty `expand` adds nothing", async () => {
  const { board, get } = await openMarketApi();
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const { history, ...market } = (await get("/v1/markets/alpha/m?expand=history")).json();
  assert.deepEqual(market, (await get("/v1/markets/alpha/m")).json());
  assert.deepEqual([history.period, history.points.length, history.market_id], ["7d", 1, "m"]);
  assert.equal("history" in (await get("/v1/markets/alpha/m?expand=")).json(), false);
});

test("200: returns the history for each period and number of points with the documented fields", async () => {
  const requests: unknown[] = [];
  const { board, get } = await openMarketApi({
    pastPrices: {
      async read(_market, period, maxPoints) {
        requests.push([period, maxPoints]);
        const points = [
          sampleCandle(SAMPLE_AT - 60_000, SAMPLE_AT, 0.4, {
            ask: 0.41,
            volumeUsd: 3,
            open: 0.35,
            high: 0.45,
            low: 0.3,
          }),
        ];
        return { period, intervalSeconds: 60, generatedAt: SAMPLE_AT, points };
      },
    },
  });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const reply = await get("/v1/markets/alpha/m/history");
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), {
    platform: "alpha",
    market_id: "m",
    period: "7d",
    interval_seconds: 60,
    generated_at: AT,
    points: [
      {
        timestamp: new Date(SAMPLE_AT - 60_000).toISOString(),
        yes_price: 0.4,
        bid: null,
        ask: 0.41,
        volume: 3,
        open: 0.35,
        high: 0.45,
        low: 0.3,
        close: 0.4,
      },
    ],
  });
  for (const query of ["period=48h&max_points=10", "period=30d&max_points=200"]) {
    assert.equal((await get(`/v1/markets/alpha/m/history?${query}`)).statusCode, 200);
  }
  assert.deepEqual(requests, [
    ["7d", 48],
    ["48h", 10],
    ["30d", 200],
  ]);
});

test("200: `expand=rules` adds the rules, null if the venue publishes none; they are absent otherwise", async () => {
  const { board, get } = await openMarketApi();
  board.apply(sampleMarket("m", { listing: { rules: "Pays 1 if it rains." } }), SAMPLE_AT);
  board.apply(sampleMarket("n"), SAMPLE_AT);
  const rulesOf = async (url: string) => (await get(`/v1/markets/alpha/${url}`)).json().rules;
  assert.equal(await rulesOf("m?expand=rules"), "Pays 1 if it rains.");
  assert.equal(await rulesOf("m?expand=rules,history"), "Pays 1 if it rains.");
  assert.equal(await rulesOf("n?expand=rules"), null);
  assert.equal(await rulesOf("m"), undefined);
});

test("200: `expand=analysis` adds the latest analysis, null if there is none", async () => {
  const { board, get } = await openMarketApi();
  for (const id of ["m", "n"]) board.apply(sampleMarket(id), SAMPLE_AT);
  const analysisOf = async (url: string) => (await get(`/v1/markets/alpha/${url}`)).json().analysis;
  assert.deepEqual(await analysisOf("m?expand=analysis"), { analysis_id: "plx-m" });
  assert.equal(await analysisOf("n?expand=analysis"), null);
  assert.equal(await analysisOf("m"), undefined);
});

test("200: a market shows close time, tick size, pause, its venue's category and the venue's ids", async () => {
  const { board, get } = await openMarketApi({
    detailsOf: ({ marketId }) => ({ bookType: "clob", ids: { contract_id: `0x${marketId}` } }),
  });
  const listing = {
    closeAt: SAMPLE_AT,
    priceRanges: [{ from: 0, to: 1, step: 0.001 }],
    paused: true,
    category: "Climate and Weather",
  };
  board.apply(sampleMarket("m", { listing }), SAMPLE_AT);
  const { close_time, tick_size, paused, category, venue_category, venue_ids } = (await get("/v1/markets")).json()[0];
  assert.deepEqual([close_time, tick_size, paused], [AT, 0.001, true]);
  assert.deepEqual([category, venue_category, venue_ids], ["Weather", "Climate and Weather", { contract_id: "0xm" }]);
});

test("404: an unknown market returns market_not_found for any id", async () => {
  const { get } = await openMarketApi();
  for (const id of ["m", "x".repeat(513), "%20", "..%2f..%2fetc"]) {
    for (const url of [`/v1/markets/alpha/${id}`, `/v1/markets/alpha/${id}/history`]) {
      const reply = await get(url);
      assert.deepEqual([reply.statusCode, reply.json()], [404, NOT_FOUND], url.slice(0, 60));
    }
  }
});

test("422: rejects each invalid parameter before the market is looked up", async () => {
  const { get } = await openMarketApi();
  const cases: Readonly<Record<string, string>> = {
    "/v1/markets/gamma/m": "literal_error at path.platform",
    "/v1/markets/delta/m": "literal_error at path.platform",
    "/v1/markets/delta/m/history": "literal_error at path.platform",
    "/v1/markets/alpha/m?expand=causal": "literal_error at query.expand",
    "/v1/markets/alpha/m?expand=history,nothing": "literal_error at query.expand",
    "/v1/markets/alpha/m/history?period=1y": "literal_error at query.period",
    "/v1/markets/alpha/m/history?max_points=9": "greater_than_equal at query.max_points",
    "/v1/markets/alpha/m/history?max_points=201": "less_than_equal at query.max_points",
    "/v1/markets/alpha/m/history?max_points=many": "int_parsing at query.max_points",
  };
  for (const [url, expected] of Object.entries(cases))
    assert.deepEqual(describeErrors(await get(url)), [expected], url);
});

test("502: if a history is not stored and the venue request fails, returns venue_unavailable", async () => {
  const { board, get } = await openMarketApi({ pastPrices: { read: () => Promise.reject(timeout()) } });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  for (const url of ["/v1/markets/alpha/m/history", "/v1/markets/alpha/m?expand=history"]) {
    assert.deepEqual([(await get(url)).statusCode, (await get(url)).json()], [502, UNREACHABLE]);
  }
  assert.equal((await get("/v1/markets/alpha/m")).statusCode, 200);
});

test("503: if the database is unavailable, a history returns store_unavailable with Retry-After", async () => {
  const { board, get } = await openMarketApi({
    pastPrices: { read: () => Promise.reject(new AppError("store_unavailable", "The store cannot be reached")) },
  });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const reply = await get("/v1/markets/alpha/m/history");
  assert.deepEqual(
    [reply.statusCode, reply.json().code, reply.headers["retry-after"]],
    [503, "store_unavailable", "2"],
  );
});
