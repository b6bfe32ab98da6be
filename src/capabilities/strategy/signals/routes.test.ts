import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT } from "../../../../test/support/markets/market-samples.ts";
import { FED_TITLE, openSignalApi, relatedTo, sampleAnalysis } from "../../../../test/support/trading/signal-api.ts";
import { AppError, VenueError } from "../../../domain/errors.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { roundNumbers } from "../../../lib/round-numbers.ts";

test("200: a usable analysis gives a signal, which is entered into the shadow book", async () => {
  const { ask, entries, state } = await openSignalApi({ related: [relatedTo("Boston wins", "exclusive")] });
  const response = await ask();
  assert.equal(response.statusCode, 200);
  const { order, reason, edge, executable_edge, size_pct, size_usd, contracts, average_cost, expires_at, ...signal } =
    response.json();
  assert.deepEqual(signal, {
    platform: "alpha",
    market_id: "fed",
    title: FED_TITLE,
    recommendation: "BUY_YES",
    target_price: 0.59,
    model_probability: 0.6,
    model_probability_at: new Date(SAMPLE_AT).toISOString(),
    yes_price: 0.41,
    confidence: state.stored?.result.analysis.confidence,
    risk_rating: "medium",
    time_horizon: "weeks",
    freshness: "fresh",
    hedge: 'Buy YES of "Boston wins" on beta at 42¢: at most one of the two resolves YES.',
    analysis_id: "plx-1",
    capped_by: null,
    generated_at: new Date(SAMPLE_AT).toISOString(),
  });
  assert.match(reason, /^YES wins with probability 60% and costs 42¢/);
  assert.ok(Math.abs(edge - 0.19) < 1e-9 && Math.abs(executable_edge - 0.18) < 1e-9);
  // f* = 0.18 / 0.58; the variance of p is (0.1 * 0.24)^2.
  const expected = 0.25 * (0.0324 / (0.0324 + 0.024 ** 2)) * (0.18 / 0.58);
  assert.ok(Math.abs(size_pct - expected) < 1e-9);
  assert.equal(contracts, Math.floor((expected * 1_000) / 0.42));
  assert.deepEqual([size_usd, average_cost], [contracts * 0.42, 0.42]);
  assert.deepEqual(order, {
    contracts,
    average_price: 0.42,
    fee_usd: 0,
    cost_usd: contracts * 0.42,
    bankroll_usd: 1_000,
  });
  assert.ok(Date.parse(expires_at) > SAMPLE_AT && Date.parse(expires_at) <= SAMPLE_AT + DAY_MS);
  const [entry] = entries;
  assert.deepEqual(roundNumbers(entry), {
    analysisId: "plx-1",
    venue: "alpha",
    marketId: "fed",
    title: FED_TITLE,
    category: null,
    side: "yes",
    contracts,
    price: 0.42,
    feeUsd: 0,
    probability: 0.6,
    marketPrice: 0.41,
    edge: executable_edge,
    sizePct: size_pct,
    at: SAMPLE_AT,
    isRequested: true,
  });
});

test("200: the size is for the caller's bankroll, and the trade of the shadow book is for $1,000", async () => {
  const { ask, entries } = await openSignalApi();
  const usual = (await ask()).json();
  const market = { platform: "alpha", market_id: "fed" };
  const large = (await ask({ ...market, bankroll_usd: 5_000 })).json();
  assert.deepEqual([large.size_pct, large.order.bankroll_usd, large.capped_by], [usual.size_pct, 5_000, null]);
  assert.ok(Math.abs(large.size_usd - 5 * usual.size_usd) < 5 * 0.42);
  const small = (await ask({ ...market, max_position_pct: 0.01, kelly_fraction: 1 })).json();
  assert.deepEqual([small.size_pct, small.capped_by, small.contracts], [0.01, "max_position", 23]);
  // 1,000 contracts are offered at 0.42.
  const huge = (await ask({ ...market, bankroll_usd: 1e6 })).json();
  assert.deepEqual([huge.size_usd, huge.contracts, huge.capped_by], [420, 1_000, "depth"]);
  assert.deepEqual(new Set(entries.map(({ contracts }) => contracts)), new Set([usual.contracts]));
});

test("200: a bankroll below the smallest order gets no trade, but the trade is entered into the shadow book", async () => {
  const { ask, entries } = await openSignalApi();
  const { recommendation, reason, contracts } = (await ask({ market_id: "fed", bankroll_usd: 1 })).json();
  assert.deepEqual([recommendation, contracts, entries.length], ["NO_TRADE", 0, 1]);
  assert.match(reason, /smallest order of 1 contract, which costs \$0\.42/);
});

test("200: the causal decomposition is added on request", async () => {
  const { ask, state } = await openSignalApi();
  const { causal } = (await ask(undefined, "?expand=causal")).json();
  assert.equal(causal.method, "log_odds");
  assert.equal(causal.factors.length, state.stored?.result.analysis.factors.length);
  assert.equal((await ask()).json().causal, undefined);
});

test("200: a signal without a trade has size 0, a reason and no order, and is not entered", async () => {
  const { ask, entries } = await openSignalApi({}, sampleAnalysis(0.41));
  const signal = (await ask()).json();
  assert.deepEqual(
    [signal.recommendation, signal.size_pct, signal.order, signal.executable_edge, signal.hedge],
    ["NO_TRADE", 0, null, null, null],
  );
  assert.match(signal.reason, /No side has an edge/);
  assert.equal(signal.target_price, 0.4);
  assert.deepEqual(entries, []);
});

test("200: a market that is not open gets no trade, and its book is not requested", async () => {
  const { ask, addMarket, entries } = await openSignalApi({
    readBook: async () => assert.fail("the book of a closed market was requested"),
  });
  addMarket("fed", { status: "closed", closeAt: SAMPLE_AT - HOUR_MS });
  const signal = (await ask()).json();
  assert.deepEqual([signal.recommendation, signal.size_pct], ["NO_TRADE", 0]);
  assert.ok(Date.parse(signal.expires_at) >= SAMPLE_AT + 60_000);
  addMarket("fed", { paused: true });
  assert.equal((await ask()).json().reason, "The market is not open for orders.");
  assert.deepEqual(entries, []);
});

test("200: a question finds the market that answers it, and lists the next best matches as alternatives", async () => {
  const { ask, addMarket } = await openSignalApi();
  addMarket("fed-june", { title: "Will the Fed cut rates in June?", venue: "beta" });
  const { match, market_id } = (await ask({ market_query: "Fed cut rates March" })).json();
  assert.deepEqual([market_id, match.similarity], ["fed", 1]);
  assert.deepEqual(
    match.alternatives.map(({ platform, market_id: id }: { platform: string; market_id: string }) => [platform, id]),
    [["beta", "fed-june"]],
  );
  assert.ok(match.alternatives[0].similarity < 0.5);
  const limited = (await ask({ market_query: "Fed cut rates June", platform: "beta" })).json();
  assert.deepEqual([limited.platform, limited.market_id, limited.match.alternatives], ["beta", "fed-june", []]);
  assert.equal((await ask({ market_query: "Fed cut rates March", platform: "beta" })).statusCode, 404);
});

test("409: if several markets' scores are within 0.05 of the best, the response lists them and no analysis starts", async () => {
  const { ask, addMarket, state } = await openSignalApi({}, null);
  addMarket("fed-june", { title: "Will the Fed cut rates in June?", venue: "beta" });
  const response = await ask({ market_query: "Fed cuts rates" });
  assert.equal(response.statusCode, 409);
  const { code, detail, candidates } = response.json();
  assert.equal(code, "ambiguous_query");
  assert.match(detail, /match "Fed cuts rates"/);
  assert.deepEqual(
    candidates.map(({ platform, market_id }: { platform: string; market_id: string }) => `${platform}/${market_id}`),
    ["alpha/fed", "beta/fed-june"],
  );
  assert.deepEqual(Object.keys(candidates[0]), ["platform", "market_id", "title", "score"]);
  assert.equal(state.requests, 0);
  for (let month = 1; month <= 12; month++) addMarket(`fed-${month}`, { title: `Fed cuts rates in ${2030 + month}?` });
  assert.equal((await ask({ market_query: "Fed cuts rates" })).json().candidates.length, 10);
});

test("200: markets that are matched as identical count as one question, and the most traded market is used", async () => {
  const pair = { a: "alpha/fed", b: "beta/twin", source: "model", evidence: [] } as const;
  const pairs = [
    { ...pair, relation: "identical", confidence: 0.95, status: 200 },
    { ...pair, relation: "identical", confidence: 0.89, status: 409 },
    { ...pair, relation: "inverse", confidence: 0.95, status: 409 },
  ] as const;
  for (const { status, ...found } of pairs) {
    const { ask, addMarket } = await openSignalApi({ pairsOf: () => [found] });
    addMarket("twin", { title: "Fed cuts rates in March", venue: "beta" }, {}, { volume24hUsd: 1e6 });
    const response = await ask({ market_query: "Fed cut rates March" });
    assert.equal(response.statusCode, status, found.relation);
    if (status === 200) assert.equal(response.json().market_id, "twin");
  }
});

test("200: a market is found by platform/market_id, and by its id alone if exactly one venue has it", async () => {
  const { ask } = await openSignalApi();
  for (const body of [{ market_id: "fed" }, { market_id: "alpha/fed" }])
    assert.equal((await ask(body)).statusCode, 200);
});

test("404: no market has the id, or matches the question", async () => {
  const { ask } = await openSignalApi();
  const bodies = [{ market_id: "x" }, { platform: "alpha", market_id: "x" }, { market_query: "zebra" }];
  for (const body of bodies) {
    const response = await ask(body);
    assert.deepEqual([response.statusCode, response.json().code], [404, "market_not_found"]);
  }
});

test("422: rejects a request that names no market or several markets, or that has an invalid field", async () => {
  const { ask, addMarket } = await openSignalApi();
  addMarket("fed", { venue: "beta" });
  const errorsOf = async (body: object, query = "") => {
    const response = await ask(body, query);
    assert.equal(response.statusCode, 422);
    return describeErrors(response);
  };
  assert.deepEqual(await errorsOf({}), ["value_error at body.market_id"]);
  assert.deepEqual(await errorsOf({ market_query: "  " }), ["value_error at body.market_id"]);
  assert.deepEqual(await errorsOf({ market_id: "fed" }), ["value_error at body.platform"]);
  assert.deepEqual(await errorsOf({ market_id: "beta/fed", platform: "alpha" }), ["value_error at body.market_id"]);
  assert.deepEqual(await errorsOf({ market_id: "fed", platform: "gamma" }), ["literal_error at body.platform"]);
  assert.deepEqual(await errorsOf({ market_query: "x".repeat(501) }), ["string_too_long at body.market_query"]);
  assert.deepEqual(await errorsOf({ market_id: "fed", force: "maybe" }), ["bool_parsing at body.force"]);
  assert.deepEqual(await errorsOf({ market_id: "fed" }, "?expand=all"), ["literal_error at query.expand"]);
  const bounds = [
    { bankroll_usd: 0 },
    { bankroll_usd: 1e9 + 1 },
    { max_position_pct: 0.009 },
    { max_position_pct: 0.51 },
    { kelly_fraction: -0.1 },
    { kelly_fraction: 1.1 },
  ];
  for (const bound of bounds) {
    const [field] = Object.keys(bound);
    assert.match((await errorsOf({ market_id: "fed", ...bound })).join(), new RegExp(`^\\w+ at body\\.${field}$`));
  }
});

test("200: a market that accepts orders after its published close gets a signal without a horizon", async () => {
  const { ask, addMarket } = await openSignalApi();
  addMarket("fed", { closeAt: SAMPLE_AT - 2 * DAY_MS, expectedResolutionAt: SAMPLE_AT - 2 * DAY_MS });
  const signal = (await ask()).json();
  assert.deepEqual([signal.recommendation, signal.time_horizon], ["BUY_YES", null]);
  assert.ok(Date.parse(signal.expires_at) >= Date.parse(signal.generated_at) + 60_000);
});

test("200: a market of play money gets no trade, and no trade is entered", async () => {
  const { ask, entries } = await openSignalApi({ isPlayMoney: () => true });
  const { recommendation, reason } = (await ask()).json();
  assert.deepEqual([recommendation, reason], ["NO_TRADE", "The market is not traded with money."]);
  assert.deepEqual(entries, []);
});

test("502 and 503: there is no signal without the venue's book, or if its trade cannot be stored", async () => {
  const timeout = new VenueError("timeout", "no answer", { retryable: true });
  const { ask } = await openSignalApi({ readBook: () => Promise.reject(timeout) });
  assert.equal((await ask()).json().code, "venue_unavailable");
  const isDown = new AppError("store_unavailable", "The store is not available");
  const api = await openSignalApi({ enterShadowTrade: () => Promise.reject(isDown) });
  assert.equal((await api.ask()).json().code, "store_unavailable");
});

test("a completed analysis is entered without a request if it recommends a trade", async () => {
  const { service, board, entries } = await openSignalApi();
  const market = board.find("alpha", "fed");
  assert.ok(market !== null);
  await service.record(market, sampleAnalysis(0.3, { analysisId: "plx-9" }));
  await service.record(market, sampleAnalysis(0.41));
  assert.deepEqual(
    entries.map(({ analysisId, side, price, isRequested }) => [analysisId, side, price, isRequested]),
    [["plx-9", "no", 0.6, false]],
  );
});
