import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { MarketBoard } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { MarketPair } from "../../../matching/index.ts";
import { createRelatedMarkets } from "../../markets/relations/index.ts";
import { portfolioSignalRoutes } from "./routes.ts";
import { createPortfolioSignalsService, type PortfolioSignalDependencies } from "./service.ts";

const VENUES = { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] };
const KEY = { authorization: `Bearer ${VALID_KEY}` };

/** Opens the route. Markets are quoted at 0.40 and 0.42 with 100 contracts on each side, and have no fee. */
async function openApi(
  probabilities: Readonly<Record<string, number>> = {},
  pairs: readonly MarketPair[] = [],
  ports: Partial<PortfolioSignalDependencies> = {},
) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const addMarket = (marketId: string, { quote, listing, ...parts }: SampleParts = {}) =>
    board.apply(
      sampleMarket(marketId, {
        ...parts,
        listing: { takerFee: { kind: "none" }, title: `Question ${marketId}`, ...listing },
        quote: { bid: 0.4, ask: 0.42, bidSize: 100, askSize: 100, receivedAt: clock.now(), ...quote },
        activity: { liquidityUsd: 50_000 },
      }),
      clock.now(),
    ).market;
  const pairsOf: PortfolioSignalDependencies["pairsOf"] = (venue, marketId) =>
    pairs.filter(({ a, b }) => [a, b].includes(`${venue}/${marketId}`));
  const correlatePairs: PortfolioSignalDependencies["correlatePairs"] = async () => [];
  const service = createPortfolioSignalsService({
    board,
    pairsOf,
    correlatePairs,
    clock,
    signals: {
      prepare: () => assert.fail("the advice needs no signal"),
      decide: () => assert.fail("the advice needs no signal"),
      candidateOf: () => assert.fail("the advice needs no signal"),
    },
    relatedMarkets: createRelatedMarkets({ board, pairsOf, correlatePairs, venues: VENUES.trading, clock }),
    getMarket: async () => {
      throw new AppError("market_not_found", "There is no such market on this venue");
    },
    probabilityOf: ({ listing }) => probabilities[listing.marketId] ?? null,
    trackedBooksOf: async () => [],
    workers: { run: () => assert.fail("the advice needs no worker"), close: async () => {} },
    ...ports,
  });
  portfolioSignalRoutes(app, service, VENUES);
  const ask = (portfolio: readonly object[], body: object = {}) =>
    app.inject({ method: "POST", url: "/v1/signals/portfolio", headers: KEY, payload: { portfolio, ...body } });
  const adviseOn = async (position: object, body: object = {}) => {
    const response = await ask([position], body);
    assert.equal(response.statusCode, 200);
    return response.json().positions[0];
  };
  return { clock, addMarket, ask, adviseOn };
}
const held = (market_id: string, side: "yes" | "no", size_usd: number, entry_price: number, platform = "alpha") => ({
  platform,
  market_id,
  side,
  size_usd,
  entry_price,
});

test("200: a position with an estimate above its bid is kept, with what a sale would cost", async () => {
  const { addMarket, ask } = await openApi({ m: 0.45 });
  addMarket("m");
  const response = await ask([held("m", "yes", 30, 0.6)]);
  assert.equal(response.statusCode, 200);
  const { positions, generated_at } = response.json();
  const [{ exit, mark_value_usd, unrealized_pnl_usd, expected_value_usd, ...advice }] = positions;
  assert.deepEqual(advice, {
    platform: "alpha",
    market_id: "m",
    title: "Question m",
    side: "yes",
    contracts: 50,
    action: "keep",
    action_contracts: 0,
    reason: "The side wins with probability 45%. No sale pays more.",
    model_probability: 0.45,
    mark_price: 0.41,
    hedge: null,
    price_source: "quote",
    priced_at: new Date(SAMPLE_AT).toISOString(),
  });
  assertNear(mark_value_usd, 20.5);
  assertNear(unrealized_pnl_usd, -9.5);
  assertNear(expected_value_usd, 22.5);
  assert.deepEqual([exit.contracts, exit.average_price, exit.fee_usd, exit.proceeds_usd], [50, 0.4, 0, 20]);
  assertNear(exit.cost_usd, 0.5);
  assert.equal(generated_at, new Date(SAMPLE_AT).toISOString());
});

test("200: a position with a bid above its estimate is closed, or reduced if the bids are smaller than the position", async () => {
  const { addMarket, adviseOn } = await openApi({ m: 0.38, n: 0.45 });
  addMarket("m");
  addMarket("n");
  const closed = await adviseOn(held("m", "yes", 30, 0.6));
  assert.deepEqual([closed.action, closed.action_contracts, closed.exit.proceeds_usd], ["close", 50, 20]);
  const reduced = await adviseOn(held("m", "yes", 90, 0.6));
  assert.deepEqual([reduced.action, reduced.action_contracts], ["reduce", 100]);
  // NO has a probability of 0.55, and a YES ask of 0.42 is a NO bid of 0.58.
  const no = await adviseOn(held("n", "no", 25, 0.5));
  assert.deepEqual([no.action, no.action_contracts, no.exit.average_price], ["close", 50, 0.58]);
  assertNear(no.mark_price, 0.59);
});

test("200: a position is kept if the fee of a sale is larger than the gain", async () => {
  const { addMarket, adviseOn } = await openApi({ m: 0.38 });
  addMarket("m", {
    listing: {
      takerFee: { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
    },
  });
  const { action, exit } = await adviseOn(held("m", "yes", 30, 0.6));
  assert.equal(action, "keep");
  assert.equal(exit.fee_usd, 0.84, "50 contracts at 0.07 * 0.4 * 0.6");
  assert.equal(exit.proceeds_usd, 20 - 0.84);
});

test("200: a hedge is advised if the opposite contract costs less than a sale loses", async () => {
  const pair = { relation: "identical" as const, confidence: 0.95, source: "model" as const, evidence: [] };
  const { addMarket, adviseOn } = await openApi({ m: 0.38 }, [{ a: "alpha/m", b: "beta/twin", ...pair }]);
  addMarket("m");
  addMarket("twin", { listing: { venue: "beta" }, quote: { bid: 0.5, ask: 0.51, bidSize: 30, askSize: 30 } });
  const { action, action_contracts, hedge } = await adviseOn(held("m", "yes", 30, 0.6));
  assert.deepEqual([action, action_contracts], ["hedge", 30]);
  assert.deepEqual(hedge, {
    platform: "beta",
    market_id: "twin",
    title: "Question twin",
    side: "no",
    contracts: 30,
    limit_price: 0.5,
    average_cost: 0.5,
    cost_usd: 15,
  });
});

test("200: a hedge satisfies the contract step and the smallest order of its market", async () => {
  const pair = { relation: "identical" as const, confidence: 0.95, source: "model" as const, evidence: [] };
  const { addMarket, adviseOn } = await openApi({ m: 0.38 }, [{ a: "alpha/m", b: "beta/twin", ...pair }]);
  addMarket("m");
  const quote = { bid: 0.5, ask: 0.51, bidSize: 30.9, askSize: 30 };
  addMarket("twin", { listing: { venue: "beta" }, quote });
  const { hedge } = await adviseOn(held("m", "yes", 30, 0.6));
  assert.equal(hedge.contracts, 30, "whole contracts, as the step is unknown");
  addMarket("twin", { listing: { venue: "beta", contractStep: 0.01 }, quote });
  assert.equal((await adviseOn(held("m", "yes", 6.005, 0.6))).hedge.contracts, 10);
  addMarket("twin", { listing: { venue: "beta", minOrderContracts: 31 }, quote });
  const { action } = await adviseOn(held("m", "yes", 30, 0.6));
  assert.equal(action, "close", "the smallest order is more than what is offered");
});

test("200: a position above its cap and its Kelly fraction is reduced", async () => {
  const { addMarket, adviseOn } = await openApi({ m: 0.42 });
  addMarket("m", { quote: { bid: 0.4, ask: 0.42, bidSize: 1_000, askSize: 1_000 } });
  // 500 contracts are worth $200 of $1,000. The Kelly fraction at 0.40 is 0.02 / 0.6, and the cap of 0.1 is 250 contracts.
  const { action, action_contracts, reason } = await adviseOn(held("m", "yes", 250, 0.5));
  assert.deepEqual([action, action_contracts], ["reduce", 250]);
  assert.match(reason, /above 10% of the bankroll/);
  assert.equal((await adviseOn(held("m", "yes", 250, 0.5), { bankroll_usd: 5_000 })).action, "keep");
  assert.equal((await adviseOn(held("m", "yes", 250, 0.5), { max_position_pct: 0.2 })).action, "keep");
});

test("200: a sale is a multiple of the contract step and at least the smallest order", async () => {
  const { addMarket, adviseOn } = await openApi({ m: 0.38, n: 0.38 });
  addMarket("m", { listing: { contractStep: 0.01 } });
  addMarket("n", { listing: { minOrderContracts: 51 } });
  assert.equal((await adviseOn(held("m", "yes", 5, 0.6))).action_contracts, 8.33);
  const { action, action_contracts } = await adviseOn(held("n", "yes", 30, 0.6));
  assert.deepEqual([action, action_contracts], ["keep", 0], "50 contracts are less than the smallest order");
});

test("200: unknown figures are null, and a position whose figures are unknown is kept", async () => {
  const { addMarket, adviseOn, clock } = await openApi({ old: 0.1, unknown: 0.1 });
  addMarket("none");
  const none = await adviseOn(held("none", "yes", 30, 0.6));
  assert.deepEqual([none.action, none.model_probability, none.expected_value_usd], ["keep", null, null]);
  assert.match(none.reason, /no current estimate/);
  assert.notEqual(none.exit, null);
  addMarket("unknown", { listing: { takerFee: null } });
  const unknown = await adviseOn(held("unknown", "yes", 30, 0.6));
  assert.deepEqual([unknown.action, unknown.exit], ["keep", null], "the fee of a sale is unknown");
  addMarket("old");
  await clock.advance(300_001);
  const old = await adviseOn(held("old", "yes", 30, 0.6));
  assert.deepEqual([old.action, old.exit, old.price_source, old.priced_at], ["keep", null, null, null]);
});

test("200: estimate, price and bids of advice are of the same time, and of the tracked order book if there is one", async () => {
  const book = { bids: [{ price: 0.5, size: 100 }], asks: [{ price: 0.52, size: 100 }] };
  const { addMarket, adviseOn } = await openApi({}, [], {
    // The estimate is 0.03 above the price for which it is computed.
    probabilityOf: ({ yesPrice }) => (yesPrice ?? 0) + 0.03,
    trackedBooksOf: async (markets) =>
      markets.map(() => ({ ...book, lastPrice: null, eventAt: null, receivedAt: SAMPLE_AT })),
  });
  addMarket("m");
  const advice = await adviseOn(held("m", "yes", 30, 0.6));
  assertNear(advice.mark_price, 0.51);
  assertNear(advice.model_probability, 0.54);
  assert.deepEqual([advice.price_source, advice.exit.average_price, advice.action], ["book", 0.5, "keep"]);
});

test("200: advice uses the prices after the look-up of all positions", async () => {
  const { addMarket, ask } = await openApi({}, [], {
    probabilityOf: ({ yesPrice }) => (yesPrice ?? 0) + 0.03,
    async getMarket() {
      addMarket("m", { quote: { bid: 0.5, ask: 0.52 } });
      return addMarket("slow");
    },
  });
  addMarket("m");
  const response = await ask([held("m", "yes", 30, 0.6), held("slow", "yes", 30, 0.6)]);
  const [{ mark_price, model_probability, exit, action }] = response.json().positions;
  assertNear(mark_price, 0.51);
  assertNear(model_probability, 0.54);
  assert.deepEqual([exit.average_price, action], [0.5, "keep"]);
});

test("200: a settled position is worth its payout and cannot be sold", async () => {
  const { addMarket, adviseOn } = await openApi({ m: 0.1 });
  addMarket("m", { listing: { status: "finalized", outcome: { kind: "yes" }, resolvedAt: SAMPLE_AT } });
  const yes = await adviseOn(held("m", "yes", 30, 0.6));
  assert.deepEqual([yes.action, yes.mark_price, yes.model_probability, yes.exit], ["keep", 1, null, null]);
  assert.equal((await adviseOn(held("m", "no", 30, 0.6))).mark_price, 0);
});

test("404 and 422: an unknown market, too many positions", async () => {
  const { addMarket, ask } = await openApi();
  addMarket("m");
  const position = held("m", "yes", 1, 0.5);
  const unknown = await ask([held("x", "yes", 1, 0.5)]);
  assert.deepEqual([unknown.statusCode, unknown.json().code], [404, "market_not_found"]);
  const tooMany = await ask(Array.from({ length: 26 }, () => position));
  assert.equal(tooMany.statusCode, 422);
  assert.deepEqual(describeErrors(tooMany), ["too_long at body.portfolio"]);
  assert.equal((await ask(Array.from({ length: 25 }, () => position))).statusCode, 200);
  assert.equal((await ask([position], { max_position_pct: 0.6 })).statusCode, 422);
});
