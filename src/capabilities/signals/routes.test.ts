import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { unmoved } from "../../../test/support/analyses/unmoved.ts";
import { createView } from "../../../test/support/engine/market-views.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../test/support/test-app.ts";
import { type BoardMarket, MarketBoard } from "../../board/index.ts";
import { AppError, VenueError } from "../../domain/errors.ts";
import { analyse, ENGINE_COEFFICIENTS } from "../../engine/index.ts";
import { roundNumbers } from "../../lib/round-numbers.ts";
import type { ShadowEntry } from "../../trading/index.ts";
import type { StoredAnalysis } from "../analyses/index.ts";
import type { TiedMarket } from "../dependence/index.ts";
import { disconnectOf, signalRoutes } from "./routes.ts";
import { createSignalsService, type SignalPorts } from "./service.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TITLE = "Will the Fed cut rates in March?";
const VENUES = { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] };
const KEY = { authorization: `Bearer ${VALID_KEY}` };

/** An analysis of the market "fed" whose estimate is far above its price of 0.41. */
function sampleAnalysis(probability: number, changes: Partial<StoredAnalysis> = {}): StoredAnalysis {
  const analysis = analyse(createView({ asOf: SAMPLE_AT }), ENGINE_COEFFICIENTS);
  assert.ok(analysis !== null);
  const recommendation = probability > 0.44 ? "BUY_YES" : probability < 0.38 ? "BUY_NO" : "NO_TRADE";
  return {
    ...{ analysisId: "plx-1", venue: "alpha", marketId: "fed", type: "light", analysedAt: SAMPLE_AT },
    result: {
      title: TITLE,
      analysis: { ...analysis, probability, standardError: 0.1, dailyMove: 0.3, recommendation },
      research: {
        ...{ view: null, isReused: false, missingReason: null, risks: [], sourceCount: 0, models: [] },
        ...{ ensemble: [], costUsd: 0 },
      },
      durationMs: 5,
    },
    ...changes,
  };
}

/** A market of beta at 0.40 to 0.42 that depends on the market "fed". */
function tieTo(title: string, dependence: TiedMarket["dependence"], correlation: number | null = null): TiedMarket {
  const board = new MarketBoard(() => SAMPLE_AT);
  const { market } = board.apply(sampleMarket("tied", { listing: { venue: "beta", title } }), SAMPLE_AT);
  return { market, dependence, correlation };
}

/** Opens the route with one market, "fed" on alpha, quoted at 0.40 and 0.42 with 1,000 contracts on each side. */
async function openApi(
  { tied = [], ...ports }: Partial<SignalPorts> & { readonly tied?: readonly TiedMarket[] } = {},
  stored: StoredAnalysis | null = sampleAnalysis(0.6),
) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const addMarket = (
    marketId: string,
    listing: SampleParts["listing"] = {},
    quote: SampleParts["quote"] = {},
    activity: SampleParts["activity"] = {},
  ): BoardMarket =>
    board.apply(
      sampleMarket(marketId, {
        listing: { takerFee: { kind: "none" }, closeAt: SAMPLE_AT + 20 * DAY_MS, title: TITLE, ...listing },
        quote,
        activity,
      }),
      SAMPLE_AT,
    ).market;
  addMarket("fed");
  const entries: ShadowEntry[] = [];
  const state = { stored, run: "running" as "running" | "complete" | "error", requests: 0, polls: 0 };
  const service = createSignalsService({
    board,
    clock,
    venues: VENUES.trading,
    pairsOf: () => [],
    getMarket: async () => {
      throw new AppError("market_not_found", "There is no such market on this venue");
    },
    analyses: {
      latest: async () => state.stored,
      move: (analysis) => unmoved(analysis, clock.now() - analysis.analysedAt > 3 * DAY_MS ? "expired" : "fresh"),
      async analyse() {
        state.requests += 1;
        return { analysisId: "plx-2", estimatedSeconds: 40 };
      },
      async getStatus() {
        state.polls += 1;
        const run = {
          ...{ analysisId: "plx-2", venue: "alpha", marketId: "fed", type: "light" as const, requestedAt: SAMPLE_AT },
          ...{ status: state.run, errorMessage: state.run === "error" ? "The analysis failed." : null },
        } as const;
        return { run, estimatedSeconds: 1 };
      },
    },
    readBook: async () => ({
      ...{ bids: [{ price: 0.4, size: 1_000 }], asks: [{ price: 0.42, size: 1_000 }] },
      ...{ lastPrice: null, eventAt: null, receivedAt: clock.now() },
    }),
    isPlayMoney: () => false,
    enterShadowTrade: async (entry) => entries.push(entry),
    ...ports,
  });
  signalRoutes(app, {
    ...{ service, venues: VENUES, findTiedMarkets: async () => tied },
    probabilityOf: ({ yesPrice }) => yesPrice,
  });
  const ask = (body: object = { platform: "alpha", market_id: "fed" }, query = "") =>
    app.inject({ method: "POST", url: `/v1/signals${query}`, headers: KEY, payload: body });
  /** Sends a request with `wait=true`. Resolves once the call polls the run. */
  const askAndWait = async () => {
    const earlier = state.polls;
    const reply = app.inject({
      ...{ method: "POST", url: "/v1/signals?wait=true", headers: KEY },
      payload: { market_id: "fed" },
    });
    while (state.polls === earlier) await nextIteration();
    return { reply };
  };
  return { app, clock, board, addMarket, service, state, entries, ask, askAndWait };
}

test("200: a usable analysis gives a signal, which is entered into the shadow book", async () => {
  const { ask, entries, state } = await openApi({ tied: [tieTo("Boston wins", "exclusive")] });
  const response = await ask();
  assert.equal(response.statusCode, 200);
  const { order, reason, edge, executable_edge, size_pct, size_usd, contracts, average_cost, expires_at, ...signal } =
    response.json();
  assert.deepEqual(signal, {
    ...{ platform: "alpha", market_id: "fed", title: TITLE, recommendation: "BUY_YES", target_price: 0.59 },
    ...{
      model_probability: 0.6,
      model_probability_at: new Date(SAMPLE_AT).toISOString(),
      yes_price: 0.41,
      confidence: state.stored?.result.analysis.confidence,
    },
    ...{
      risk_rating: "medium",
      time_horizon: "weeks",
      freshness: "fresh",
      hedge: 'Buy YES of "Boston wins" on beta at 42¢: at most one of the two resolves YES.',
      analysis_id: "plx-1",
    },
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
    ...{ contracts, average_price: 0.42, fee_usd: 0, cost_usd: contracts * 0.42, bankroll_usd: 1_000 },
  });
  assert.ok(Date.parse(expires_at) > SAMPLE_AT && Date.parse(expires_at) <= SAMPLE_AT + DAY_MS);
  const [entry] = entries;
  assert.deepEqual(roundNumbers(entry), {
    ...{ analysisId: "plx-1", venue: "alpha", marketId: "fed", title: TITLE, category: null, side: "yes" },
    ...{ contracts, price: 0.42, feeUsd: 0, probability: 0.6, marketPrice: 0.41, edge: executable_edge },
    ...{ sizePct: size_pct, at: SAMPLE_AT },
    isRequested: true,
  });
});

test("200: the size is for the caller's bankroll, and the trade of the shadow book is for $1,000", async () => {
  const { ask, entries } = await openApi();
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

test("200: a bankroll that is too small for an order gets no trade, and the shadow book has one", async () => {
  const { ask, entries } = await openApi();
  const { recommendation, reason, contracts } = (await ask({ market_id: "fed", bankroll_usd: 1 })).json();
  assert.deepEqual([recommendation, contracts, entries.length], ["NO_TRADE", 0, 1]);
  assert.match(reason, /smallest order of 1 contract, which costs \$0\.42/);
});

test("200: the causal decomposition is added on request", async () => {
  const { ask, state } = await openApi();
  const { causal } = (await ask(undefined, "?expand=causal")).json();
  assert.equal(causal.method, "log_odds");
  assert.equal(causal.factors.length, state.stored?.result.analysis.factors.length);
  assert.equal((await ask()).json().causal, undefined);
});

test("200: a signal without a trade has size 0, a reason and no order, and is not entered", async () => {
  const { ask, entries } = await openApi({}, sampleAnalysis(0.41));
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
  const { ask, addMarket, entries } = await openApi({
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

test("200: a question finds the market that answers it and names the next ones", async () => {
  const { ask, addMarket } = await openApi();
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

test("409: a question that fits several markets within 0.05 names them, and no analysis starts", async () => {
  const { ask, addMarket, state } = await openApi({}, null);
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

test("200: markets that are matched as identical ask one question, and the most traded one is used", async () => {
  const pair = { a: "alpha/fed", b: "beta/twin", source: "model", evidence: [] } as const;
  const pairs = [
    { ...pair, relation: "identical", confidence: 0.95, status: 200 },
    { ...pair, relation: "identical", confidence: 0.89, status: 409 },
    { ...pair, relation: "inverse", confidence: 0.95, status: 409 },
  ] as const;
  for (const { status, ...found } of pairs) {
    const { ask, addMarket } = await openApi({ pairsOf: () => [found] });
    addMarket("twin", { title: "Fed cuts rates in March", venue: "beta" }, {}, { volume24hUsd: 1e6 });
    const response = await ask({ market_query: "Fed cut rates March" });
    assert.equal(response.statusCode, status, found.relation);
    if (status === 200) assert.equal(response.json().market_id, "twin");
  }
});

test("200: an id without a platform is found if one venue has it, and as platform/market_id", async () => {
  const { ask } = await openApi();
  for (const body of [{ market_id: "fed" }, { market_id: "alpha/fed" }])
    assert.equal((await ask(body)).statusCode, 200);
});

test("404: no market has the id, or matches the question", async () => {
  const { ask } = await openApi();
  const bodies = [{ market_id: "x" }, { platform: "alpha", market_id: "x" }, { market_query: "zebra" }];
  for (const body of bodies) {
    const response = await ask(body);
    assert.deepEqual([response.statusCode, response.json().code], [404, "market_not_found"]);
  }
});

test("422: the request names no market, several markets, or something invalid", async () => {
  const { ask, addMarket } = await openApi();
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

test("202: without a usable analysis, the call starts one and returns no signal", async () => {
  const old = sampleAnalysis(0.6, { analysedAt: SAMPLE_AT - 4 * DAY_MS });
  for (const stored of [null, old]) {
    const { ask, state, entries } = await openApi({}, stored);
    const response = await ask();
    assert.equal(response.statusCode, 202);
    assert.deepEqual(response.json(), {
      ...{ analysis_id: "plx-2", status: "running", poll_url: "/v1/markets/alpha/fed/analyze/plx-2/status" },
      ...{ estimated_seconds: 40, error_message: null },
    });
    assert.deepEqual([state.requests, entries], [1, []]);
  }
});

test("422: a market that has closed needs no new analysis", async () => {
  const { ask, addMarket, state } = await openApi({}, null);
  const confirmed = { closeAt: SAMPLE_AT - HOUR_MS };
  for (const [listing, receivedAt] of [
    [{ status: "closed" }, SAMPLE_AT],
    // The market was last confirmed before its close.
    [confirmed, SAMPLE_AT - HOUR_MS - 1],
  ] as const) {
    addMarket("fed", listing, { receivedAt });
    const response = await ask();
    assert.equal(response.statusCode, 422);
    assert.match(response.json().detail[0].msg, /not open for orders/);
  }
  assert.equal(state.requests, 0);
  addMarket("fed", confirmed);
  assert.equal((await ask()).statusCode, 202);
});

test("200: a market that accepts orders after its published close gets a signal without a horizon", async () => {
  const { ask, addMarket } = await openApi();
  addMarket("fed", { closeAt: SAMPLE_AT - 2 * DAY_MS, expectedResolutionAt: SAMPLE_AT - 2 * DAY_MS });
  const signal = (await ask()).json();
  assert.deepEqual([signal.recommendation, signal.time_horizon], ["BUY_YES", null]);
  assert.ok(Date.parse(signal.expires_at) >= Date.parse(signal.generated_at) + 60_000);
});

test("202: with `force`, the call starts a new analysis even if there is a fresh one", async () => {
  const { ask, state } = await openApi();
  assert.equal((await ask({ market_id: "fed", force: true })).statusCode, 202);
  assert.equal(state.requests, 1);
});

test("200: a waiting call gets the signal of the analysis that it started", async () => {
  const { askAndWait, state, clock } = await openApi({}, null);
  const { reply } = await askAndWait();
  await clock.advance(1_000);
  state.stored = sampleAnalysis(0.6, { analysisId: "plx-2", analysedAt: clock.now() });
  state.run = "complete";
  await clock.advance(1_000);
  const response = await reply;
  assert.deepEqual([response.statusCode, response.json().analysis_id], [200, "plx-2"]);
});

test("200: the signal of a waiting call uses the market as it is after the analysis", async () => {
  const { askAndWait, addMarket, state, clock } = await openApi({}, null);
  const { reply } = await askAndWait();
  addMarket("fed", { status: "closed" });
  state.stored = sampleAnalysis(0.6, { analysisId: "plx-2", analysedAt: clock.now() });
  state.run = "complete";
  await clock.advance(1_000);
  const { recommendation, reason } = (await reply).json();
  assert.deepEqual([recommendation, reason], ["NO_TRADE", "The market is not open for orders."]);
});

test("200: a market of play money gets no trade, and no trade is entered", async () => {
  const { ask, entries } = await openApi({ isPlayMoney: () => true });
  const { recommendation, reason } = (await ask()).json();
  assert.deepEqual([recommendation, reason], ["NO_TRADE", "The market is not traded with money."]);
  assert.deepEqual(entries, []);
});

test("202: a waiting call ends after five minutes, and at once when the service stops", async () => {
  const { askAndWait, clock, service, state } = await openApi({}, null);
  const first = await askAndWait();
  await clock.advance(300_500);
  assert.equal((await first.reply).statusCode, 202);
  assert.equal(state.polls, 1_201, "the run is polled four times a second");
  const second = await askAndWait();
  service.stop();
  assert.equal((await second.reply).statusCode, 202);
});

test("a waiting call whose caller has disconnected does not poll the run again", async () => {
  const { app, clock, state } = await openApi({}, null);
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const disconnected = Promise.withResolvers<void>();
  app.server.on("connection", (socket: Socket) => socket.on("close", () => disconnected.resolve()));
  const caller = new AbortController();
  const reply = fetch(`${url}/v1/signals?wait=true`, {
    ...{ method: "POST", headers: { ...KEY, "content-type": "application/json" }, signal: caller.signal },
    body: JSON.stringify({ market_id: "fed" }),
  });
  while (state.polls === 0) await nextIteration();
  caller.abort();
  await assert.rejects(reply);
  await disconnected.promise;
  await nextIteration();
  await clock.advance(10_000);
  assert.ok(state.polls <= 2, `${state.polls} polls`);
});

test("the signal is aborted if the caller disconnected before the handler ran", () => {
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  assert.equal(disconnectOf({ raw }).aborted, false);
  raw.destroy();
  assert.equal(disconnectOf({ raw }).aborted, true);
});

test("503: the analysis that a waiting call needs has failed", async () => {
  const { ask, state } = await openApi({}, null);
  state.run = "error";
  const response = await ask({ market_id: "fed" }, "?wait=true");
  assert.equal(response.statusCode, 503);
  assert.deepEqual(response.json(), { detail: "The analysis failed.", code: "analysis_failed" });
});

test("502 and 503: the venue's book or the store is not available, and nothing is entered", async () => {
  const failures: [Partial<SignalPorts>, number, string][] = [
    [
      {
        readBook: async () => {
          throw new VenueError("timeout", "no answer", { retryable: true });
        },
      },
      502,
      "venue_unavailable",
    ],
    [
      {
        enterShadowTrade: async () => {
          throw new AppError("store_unavailable", "The store is not available");
        },
      },
      503,
      "store_unavailable",
    ],
  ];
  for (const [ports, status, code] of failures) {
    const response = await (await openApi(ports)).ask();
    assert.deepEqual([response.statusCode, response.json().code], [status, code]);
  }
});

test("a completed analysis is entered without a request if it recommends a trade", async () => {
  const { service, board, entries } = await openApi();
  const market = board.find("alpha", "fed");
  assert.ok(market !== null);
  await service.record(market, sampleAnalysis(0.3, { analysisId: "plx-9" }));
  await service.record(market, sampleAnalysis(0.41));
  assert.deepEqual(
    entries.map(({ analysisId, side, price, isRequested }) => [analysisId, side, price, isRequested]),
    [["plx-9", "no", 0.6, false]],
  );
});
