import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { createView } from "../../../../test/support/engine/market-views.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import { analyse, ENGINE_COEFFICIENTS } from "../../../engine/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { MarketPair } from "../../../matching/index.ts";
import { decideSignal, findTradeCandidate, type PortfolioTask, type SignalInput } from "../../../trading/index.ts";
import type { StoredAnalysis } from "../../analysis/analyses/index.ts";
import { createRelatedMarkets } from "../../markets/relations/index.ts";
import type { PreparedSignal } from "../signals/index.ts";
import { runTask } from "./compute.ts";
import { portfolioSignalRoutes } from "./routes.ts";
import { createPortfolioSignalsService, type PortfolioSignalDependencies } from "./service.ts";

const TITLE = "Will the Fed cut rates in March?";
const VENUES = { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] };
const KEY = { authorization: `Bearer ${VALID_KEY}` };

const pair = (a: string, b: string, relation: MarketPair["relation"]): MarketPair => ({
  a,
  b,
  relation,
  confidence: 0.95,
  source: "model",
  evidence: [],
});

/** Opens the route with the market "fed" on alpha: estimated at 0.6, offered at 0.42. Related markets are not traded enough. */
async function openApi(
  {
    prepare,
    ...ports
  }: Partial<PortfolioSignalDependencies> & Partial<Pick<PortfolioSignalDependencies["signals"], "prepare">> = {},
  pairs: readonly MarketPair[] = [],
  estimate = 0.6,
) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const addMarket = (marketId: string, parts: SampleParts = {}): BoardMarket =>
    board.apply(
      sampleMarket(marketId, { ...parts, listing: { title: TITLE, takerFee: { kind: "none" }, ...parts.listing } }),
      SAMPLE_AT,
    ).market;
  const market = addMarket("fed", { listing: { closeAt: SAMPLE_AT + 20 * DAY_MS } });
  const analysis = analyse(createView({ asOf: SAMPLE_AT }), ENGINE_COEFFICIENTS);
  assert.ok(analysis !== null);
  const input: SignalInput = {
    now: SAMPLE_AT,
    analysis: { ...analysis, probability: estimate, standardError: 0.1, dailyMove: 0.3 },
    market: {
      kind: "money",
      isOpen: true,
      closeAt: SAMPLE_AT + 20 * DAY_MS,
      resolutionAt: null,
      priceRanges: [{ from: 0, to: 1, step: 0.01 }],
      takerFee: { kind: "none" },
      minOrderContracts: null,
      contractStep: null,
    },
    yesPrice: 0.41,
    book: { at: SAMPLE_AT, bids: [{ price: 0.4, size: 10_000 }], asks: [{ price: 0.42, size: 10_000 }] },
  };
  const prepared = { market, stored: { analysisId: "plx-1" } as StoredAnalysis, now: SAMPLE_AT } as PreparedSignal;
  const pairsOf: PortfolioSignalDependencies["pairsOf"] = (venue, marketId) =>
    pairs.filter(({ a, b }) => [a, b].includes(`${venue}/${marketId}`));
  const correlatePairs: PortfolioSignalDependencies["correlatePairs"] = async () => [];
  const tasks: PortfolioTask[] = [];
  const service = createPortfolioSignalsService({
    board,
    pairsOf,
    correlatePairs,
    signals: {
      prepare: prepare ?? (async () => ({ kind: "ready", prepared })),
      decide: (_prepared, sizing) => decideSignal(input, sizing),
      candidateOf() {
        const candidate = findTradeCandidate(input);
        return typeof candidate === "string" ? null : candidate;
      },
    },
    relatedMarkets: createRelatedMarkets({ board, pairsOf, correlatePairs, venues: VENUES.trading, clock }),
    getMarket: async () => {
      throw new AppError("market_not_found", "There is no such market on this venue");
    },
    probabilityOf: () => null,
    trackedBooksOf: async () => [],
    clock,
    workers: {
      async run(task) {
        // The input and the result of a worker thread must be clonable.
        tasks.push(structuredClone(task));
        return runTask(structuredClone(task)).result;
      },
      close: async () => {},
    },
    ...ports,
  });
  portfolioSignalRoutes(app, service, VENUES);
  const ask = (body: object = {}, headers: Record<string, string> = KEY) =>
    app.inject({
      method: "POST",
      url: "/v1/signals/portfolio",
      headers,
      payload: { platform: "alpha", market_id: "fed", ...body },
    });
  return { board, addMarket, ask, tasks, prepared };
}
const held = (market_id: string, side: "yes" | "no", size_usd: number, entry_price = 0.5, platform = "alpha") => ({
  platform,
  market_id,
  side,
  size_usd,
  entry_price,
});
const BASE = 0.25 * (0.0324 / (0.0324 + 0.024 ** 2)) * (0.18 / 0.58);

test("200: without a portfolio the adjusted size is the base size", async () => {
  const { ask } = await openApi();
  const response = await ask();
  assert.equal(response.statusCode, 200);
  const { base_size_pct, adjusted_size_pct, adjusted_size_usd, portfolio_impact, reason, edge, ...rest } =
    response.json();
  const { confidence, risk_rating, expires_at, adjusted_contracts, ...fixed } = rest;
  assert.equal(adjusted_contracts, Math.floor((BASE * 1_000) / 0.42));
  assert.deepEqual(fixed, {
    platform: "alpha",
    market_id: "fed",
    title: TITLE,
    recommendation: "BUY_YES",
    target_price: 0.59,
    hedge_recommendations: [],
    analysis_id: "plx-1",
    generated_at: new Date(SAMPLE_AT).toISOString(),
  });
  assertNear(base_size_pct, BASE, 1e-6);
  assertNear(adjusted_size_pct, BASE, 1e-6);
  assertNear(adjusted_size_usd, BASE * 1_000, 1e-3);
  assertNear(edge, 0.19, 1e-6);
  const { net_exposure_change, ...impact } = portfolio_impact;
  assertNear(net_exposure_change, adjusted_size_usd, 1e-6);
  assert.deepEqual(impact, {
    max_correlation: null,
    correlated_with: null,
    concentration_delta: 1,
    portfolio_risk_level: "low",
  });
  assert.match(reason, /^YES wins with probability 60%.* The portfolio does not change the size\.$/);
  assert.ok(confidence > 0 && risk_rating !== "" && Date.parse(expires_at) > SAMPLE_AT);
});

test("200: a position on the same question at another venue lowers the size, and a position on the other side raises it", async () => {
  const pairs = [pair("alpha/fed", "beta/fed-b", "identical")];
  const answer = async (side: "yes" | "no") => {
    const { addMarket, ask } = await openApi({}, pairs);
    addMarket("fed-b", { listing: { venue: "beta" } });
    return (await ask({ portfolio: [held("fed-b", side, 20, 0.5, "beta")] })).json();
  };
  const [equal, opposite] = [await answer("yes"), await answer("no")];
  assert.ok(equal.adjusted_size_pct < BASE && opposite.adjusted_size_pct > BASE);
  assert.deepEqual(
    [equal, opposite].map(({ portfolio_impact }) => [
      portfolio_impact.max_correlation,
      portfolio_impact.correlated_with,
    ]),
    [
      [1, "beta/fed-b"],
      [-1, "beta/fed-b"],
    ],
  );
  assert.match(equal.reason, /lowers the size from/);
  assert.match(opposite.reason, /raises the size from/);
});

test("200: positions are valued at the prices after the wait for the analysis, not at those before", async () => {
  const { addMarket, ask, tasks, prepared } = await openApi({
    probabilityOf: ({ yesPrice }) => (yesPrice ?? 0) + 0.03,
    async prepare() {
      addMarket("other", { quote: { bid: 0.5, ask: 0.52 } });
      return { kind: "ready", prepared };
    },
  });
  addMarket("other");
  await ask({ portfolio: [held("other", "yes", 20)] });
  assertNear(tasks[0]?.markets[1]?.probability ?? 0, 0.54, 1e-6);
});

test("200: a change that is invisible in the rounded figures is reported as no change", async () => {
  const { addMarket, ask } = await openApi();
  addMarket("other");
  const { adjusted_size_pct, base_size_pct, reason } = (await ask({ portfolio: [held("other", "yes", 1)] })).json();
  assert.notEqual(adjusted_size_pct, base_size_pct);
  assert.match(reason, /The portfolio does not change the size\.$/);
});

test("200: a hedge is at most what is offered at the best price, with the taker fee", async () => {
  const { addMarket, ask } = await openApi({}, [pair("alpha/held", "beta/hedge", "identical")], 0.41);
  addMarket("held", { listing: { title: "Will it rain in Paris?" } });
  const activity = { volume24hUsd: 5_000 };
  const listing = {
    venue: "beta",
    title: "Rain in Paris",
    takerFee: { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
  } as const;
  addMarket("hedge", { listing, activity, quote: { bidSize: 10 } });
  const [hedge] = (await ask({ portfolio: [held("held", "yes", 400)] })).json().hedge_recommendations;
  assertNear(hedge.suggested_size_usd, 10 * (0.6 + 0.07 * 0.6 * 0.4), 1e-6);
});

test("200: positions that cost the whole bankroll allow no trade, with a reason", async () => {
  const { addMarket, ask } = await openApi();
  addMarket("other");
  const { recommendation, adjusted_size_pct, adjusted_size_usd, base_size_pct, reason, portfolio_impact } = (
    await ask({ portfolio: [held("other", "yes", 1_000)] })
  ).json();
  assert.deepEqual([recommendation, adjusted_size_pct, adjusted_size_usd], ["NO_TRADE", 0, 0]);
  assert.ok(base_size_pct > 0);
  assert.match(reason, /The positions cost the whole bankroll/);
  assert.equal(portfolio_impact.portfolio_risk_level, "high");
});

test("200: a signal without a trade has size 0, with the risk and the hedges of the positions", async () => {
  const { addMarket, ask } = await openApi({}, [pair("alpha/held", "beta/hedge", "identical")], 0.41);
  addMarket("held", { listing: { title: "Will it rain in Paris?" } });
  addMarket("hedge", { listing: { venue: "beta", title: "Rain in Paris" }, activity: { volume24hUsd: 5_000 } });
  const answer = (await ask({ portfolio: [held("held", "yes", 400)] })).json();
  assert.deepEqual(
    [answer.recommendation, answer.base_size_pct, answer.adjusted_size_pct, answer.portfolio_impact.max_correlation],
    ["NO_TRADE", 0, 0, null],
  );
  const [hedge] = answer.hedge_recommendations;
  assert.deepEqual([hedge.platform, hedge.market_id, hedge.side], ["beta", "hedge", "no"]);
  assert.match(hedge.rationale, /^Buying NO for \$\d+\.\d\d lowers the mean loss/);
  assert.equal(answer.portfolio_impact.portfolio_risk_level, "high");
});

test("200: positions in settled markets count with their payout, or what was paid if it is void", async () => {
  const { addMarket, ask, tasks } = await openApi();
  addMarket("won", { listing: { status: "finalized", outcome: { kind: "yes" } } });
  addMarket("void", { listing: { status: "finalized", outcome: { kind: "void", value: null } } });
  const portfolio = [held("won", "no", 10), held("won", "yes", 10), held("void", "no", 10, 0.3)];
  assert.equal((await ask({ portfolio })).statusCode, 200);
  assert.deepEqual(
    tasks[0]?.positions.map(({ market, settledValue }) => [market, settledValue]),
    [
      [null, 0],
      [null, 1],
      [null, 0.3],
    ],
  );
});

test("200: stakes on outcomes that exclude the candidate count towards the largest position", async () => {
  const sizeBeside = async (eventId: string, mutuallyExclusive: boolean) => {
    const { board, addMarket, ask } = await openApi({}, [pair("alpha/fed", "beta/fed-b", "identical")]);
    board.applyEvent(sampleEvent("E", { venue: "beta", mutuallyExclusive }));
    addMarket("fed-b", { listing: { venue: "beta", eventId: "E" } });
    addMarket("hike", { listing: { venue: "beta", eventId, title: "Will the Fed raise rates?" } });
    const answer = (
      await ask({ portfolio: [held("hike", "yes", 90, 0.1, "beta"), held("fed-b", "yes", 1, 0.5, "beta")] })
    ).json();
    return answer.adjusted_size_pct;
  };
  assert.ok((await sizeBeside("E", true)) <= 0.01 + 1e-9);
  assert.ok((await sizeBeside("E", false)) > 0.03);
});

test("200: the sizing uses the options of the request", async () => {
  const { ask, tasks } = await openApi();
  const body = { bankroll_usd: 50_000, kelly_fraction: 0.1, max_position_pct: 0.02, risk_limit: 3 };
  const response = await ask(body);
  assertNear(response.json().adjusted_size_pct, 0.02, 1e-6);
  assertNear(response.json().adjusted_size_usd, 1_000, 1e-6);
  assert.deepEqual(tasks[0]?.sizing, { bankrollUsd: 50_000, kellyShare: 0.1, positionMax: 0.02 });
  assert.equal(response.headers["x-ignored-parameters"], "risk_limit");
});

test("202: returns the id of the analysis while the analysis is running", async () => {
  const { board, ask } = await openApi({
    signals: {
      prepare: async () => {
        const market = board.find("alpha", "fed");
        assert.ok(market !== null);
        return { kind: "running", run: { analysisId: "plx-2", market, estimatedSeconds: 40 } };
      },
      decide: () => assert.fail("there is no analysis"),
      candidateOf: () => assert.fail("there is no analysis"),
    },
  });
  const response = await ask();
  assert.equal(response.statusCode, 202);
  assert.equal(response.json().analysis_id, "plx-2");
});

test("404: the error names the unknown market of a position", async () => {
  const { ask } = await openApi();
  const response = await ask({ portfolio: [held("fed", "yes", 10), held("nothing", "no", 10, 0.5, "beta")] });
  assert.equal(response.statusCode, 404);
  assert.match(response.json().detail, /unknown market: beta\/nothing/);
});

test("422: values outside their ranges and too many positions", async () => {
  const { ask } = await openApi();
  const errorsOf = async (body: object) => describeErrors(await ask(body));
  assert.deepEqual(await errorsOf({ portfolio: Array.from({ length: 26 }, () => held("fed", "yes", 1)) }), [
    "too_long at body.portfolio",
  ]);
  assert.deepEqual(
    await errorsOf({ portfolio: [{ ...held("fed", "yes", 0, 1), platform: "gamma", side: "both", market_id: "" }] }),
    [
      "literal_error at body.portfolio.0.platform",
      "string_too_short at body.portfolio.0.market_id",
      "literal_error at body.portfolio.0.side",
      "greater_than at body.portfolio.0.size_usd",
      "less_than at body.portfolio.0.entry_price",
    ],
  );
  for (const body of [
    ...[{ bankroll_usd: 0 }, { kelly_fraction: 1.1 }, { kelly_fraction: -0.1 }, { max_position_pct: 0.6 }],
    ...[{ portfolio: [held("fed", "yes", 1, 1e-7)] }, { portfolio: [held("fed", "yes", 1, Number.MIN_VALUE)] }],
    ...[{ max_position_pct: 0.001 }, { portfolio: [held("fed", "yes", 1, 0)] }, { portfolio: [{}] }],
  ])
    assert.equal((await ask(body)).statusCode, 422, JSON.stringify(body));
});
