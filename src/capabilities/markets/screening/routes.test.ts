import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { MarketBoard } from "../../../board/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { screeningRoutes } from "./routes.ts";
import { createScreeningService } from "./service.ts";

/** Opens the route with the venues alpha, beta and the reference venue gamma, and a market "m" on alpha. */
async function openScreeningApi() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const service = createScreeningService({
    board,
    clock,
    findLastHour: () => ({ yesPriceBefore: 0.4, volumeUsd: 5_000 }),
    estimateOf: ({ listing }) =>
      listing.marketId === "m"
        ? { at: SAMPLE_AT, probability: 0.5, edge: 0.09, confidence: 0.9, recommendation: "BUY_YES" }
        : null,
  });
  screeningRoutes(app, service, { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] });
  board.apply(
    sampleMarket("m", {
      listing: { category: "Sports", expectedResolutionAt: SAMPLE_AT + 24 * HOUR_MS },
      activity: { volume24hUsd: 24_000, liquidityUsd: 999 },
    }),
    SAMPLE_AT,
  );
  const post = (payload: unknown, headers = { authorization: `Bearer ${VALID_KEY}` }) =>
    app.inject({ method: "POST", url: "/v1/screen", headers, payload: payload as object });
  return { app, board, post };
}

test("200: returns each market with the documented fields", async () => {
  const { post } = await openScreeningApi();
  const response = await post({});
  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), [
    {
      platform: "alpha",
      market_id: "m",
      title: "Question m",
      yes_price: 0.41,
      volume_24h: 24_000,
      score: 0.6511,
      category: "Sports",
      trend: null,
      volume_spike: true,
      hours_to_resolution: 24,
      bid_ask_spread: 0.02,
      price_velocity_1h: 0.01,
      cached_edge: 0.09,
      model_probability: 0.5,
      model_probability_at: new Date(SAMPLE_AT).toISOString(),
      cached_confidence: 0.9,
      cached_recommendation: "BUY_YES",
      action: "analyze",
      updated_at: new Date(SAMPLE_AT).toISOString(),
    },
  ]);
});

test("200: accepts every filter, and null as no filter, and returns an empty list if nothing matches", async () => {
  const { post } = await openScreeningApi();
  const filters = {
    market_ids: ["alpha/m"],
    platform: "alpha",
    category: "sports",
    query: "question",
    min_volume_24h: 24_000,
    min_liquidity: 999,
    max_spread: 0.02,
    min_score: 0.65,
    limit: 200,
    min_hours_to_resolution: 24,
    max_hours_to_resolution: 24,
  };
  assert.equal((await post(filters)).json().length, 1);
  const none = Object.fromEntries(Object.keys(filters).map((name) => [name, name === "limit" ? 1 : null]));
  assert.equal((await post(none)).json().length, 1);
  assert.equal((await post({ platform: "", category: "", query: "", market_ids: [] })).json().length, 1);
  assert.deepEqual((await post({ platform: "beta" })).json(), []);
});

test("200: accepts ids with their platform and ids of the given platform, and leaves unknown ids out", async () => {
  const { board, post } = await openScreeningApi();
  board.apply(sampleMarket("a/b", { listing: { venue: "beta" } }), SAMPLE_AT);
  const ids = async (body: object) => (await post(body)).json().map((item: { market_id: string }) => item.market_id);
  assert.deepEqual(await ids({ market_ids: ["alpha/m", "beta/a/b", "alpha/none"] }), ["m", "a/b"]);
  assert.deepEqual(await ids({ market_ids: ["a/b", "alpha/m"], platform: "beta" }), ["a/b"]);
});

test("200: at most 50 markets are returned by default; an unknown field is ignored and named in a header", async () => {
  const { board, post } = await openScreeningApi();
  for (let number = 0; number < 60; number++) board.apply(sampleMarket(`m${number}`), SAMPLE_AT);
  const response = await post({ max_spraed: 0.5 });
  assert.equal(response.json().length, 50);
  assert.equal(response.headers["x-ignored-parameters"], "max_spraed; did you mean max_spread");
});

test("422: rejects each value outside its limits or of the wrong type", async () => {
  const { post } = await openScreeningApi();
  const cases: readonly (readonly [object, ...string[]])[] = [
    [{ market_ids: "alpha/m" }, "list_type at body.market_ids"],
    [{ market_ids: [1] }, "string_type at body.market_ids.0"],
    [{ market_ids: [""] }, "string_too_short at body.market_ids.0"],
    [{ market_ids: ["x".repeat(601)] }, "string_too_long at body.market_ids.0"],
    [{ market_ids: Array(501).fill("alpha/m") }, "too_long at body.market_ids"],
    [{ market_ids: ["alpha/m", "m"] }, "value_error at body.market_ids.1"],
    [{ market_ids: ["gamma/m", "m"] }, "value_error at body.market_ids.0", "value_error at body.market_ids.1"],
    [{ platform: "gamma" }, "literal_error at body.platform"],
    [{ platform: 5 }, "literal_error at body.platform"],
    [{ category: "x".repeat(51) }, "string_too_long at body.category"],
    [{ query: "x".repeat(501) }, "string_too_long at body.query"],
    [{ min_volume_24h: -1 }, "greater_than_equal at body.min_volume_24h"],
    [{ min_volume_24h: "5" }, "float_type at body.min_volume_24h"],
    [{ min_liquidity: -0.01 }, "greater_than_equal at body.min_liquidity"],
    [{ max_spread: 1.01 }, "less_than_equal at body.max_spread"],
    [{ min_hours_to_resolution: -1 }, "greater_than_equal at body.min_hours_to_resolution"],
    [{ max_hours_to_resolution: 1e7 }, "less_than_equal at body.max_hours_to_resolution"],
    [{ min_score: 1.1 }, "less_than_equal at body.min_score"],
    [{ min_score: -0.1 }, "greater_than_equal at body.min_score"],
    [{ limit: 0 }, "greater_than_equal at body.limit"],
    [{ limit: 201 }, "less_than_equal at body.limit"],
    [{ limit: 1.5 }, "int_from_float at body.limit"],
    [[], "model_attributes_type at body"],
  ];
  for (const [body, ...expected] of cases)
    assert.deepEqual(describeErrors(await post(body)), expected, JSON.stringify(body).slice(0, 60));
});
