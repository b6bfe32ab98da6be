import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import {
  type AgentReportTotals,
  computeConsensus,
  divergenceSignal,
  impliedProbability,
  isPlausible,
  netPosition,
  type TradeReport,
} from "./model.ts";

type Trade = Pick<TradeReport, "side" | "price" | "sizeUsd"> & { readonly ageMs?: number };

const PERIOD_MS = 1_000_000;
const NOTHING = { usd: 0, contracts: 0, usdTimesPrice: 0, usdTimesAgeMs: 0 };
const yes = (price: number, sizeUsd = 100, ageMs = 0): Trade => ({ side: "yes", price, sizeUsd, ageMs });
const no = (price: number, sizeUsd = 100, ageMs = 0): Trade => ({ side: "no", price, sizeUsd, ageMs });

/** The totals of an agent with these trades, all of them plausible. */
function agentWith(...trades: readonly Trade[]): AgentReportTotals {
  const totalOf = (side: Trade["side"]) =>
    trades
      .filter((trade) => trade.side === side)
      .reduce(
        (total, { price, sizeUsd, ageMs = 0 }) => ({
          usd: total.usd + sizeUsd,
          contracts: total.contracts + sizeUsd / price,
          usdTimesPrice: total.usdTimesPrice + sizeUsd * price,
          usdTimesAgeMs: total.usdTimesAgeMs + sizeUsd * ageMs,
        }),
        NOTHING,
      );
  const [plausibleYes, plausibleNo] = [totalOf("yes"), totalOf("no")];
  return {
    yesTrades: trades.filter(({ side }) => side === "yes").length,
    noTrades: trades.filter(({ side }) => side === "no").length,
    yesUsd: plausibleYes.usd,
    noUsd: plausibleNo.usd,
    usdTimesProbability: trades.reduce((sum, trade) => sum + trade.sizeUsd * impliedProbability(trade), 0),
    plausibleYes,
    plausibleNo,
  };
}

test("the consensus is the mean implied probability, weighted by USD: YES at q implies q, NO at q implies 1 - q", () => {
  const consensus = computeConsensus([agentWith(yes(0.6, 300)), agentWith(no(0.7, 100), yes(0.5, 50))], PERIOD_MS);
  assertNear(consensus.probability, (300 * 0.6 + 100 * 0.3 + 50 * 0.5) / 450, 1e-12);
  const { probability: _probability, ...counts } = consensus;
  assert.deepEqual(counts, {
    robustProbability: null,
    trades: 3,
    agents: 2,
    yesTrades: 2,
    noTrades: 1,
    yesVolumeUsd: 350,
    noVolumeUsd: 100,
  });
});

test("without reports there is no probability", () => {
  const { probability, robustProbability, trades } = computeConsensus([], PERIOD_MS);
  assert.deepEqual([probability, robustProbability, trades], [null, null, 0]);
});

test("an agent with equal numbers of YES and NO contracts has no view", () => {
  assert.equal(netPosition(agentWith(yes(0.9, 90), no(0.1, 10)), PERIOD_MS), null);
  assert.equal(netPosition(agentWith(yes(0.1, 7), yes(0.2, 28), no(0.7, 147)), PERIOD_MS), null);
  assert.equal(netPosition(agentWith(), PERIOD_MS), null);
});

test("the view of an agent is computed from its remaining contracts", () => {
  // 1,000 YES contracts, 250 NO contracts: three quarters of the YES trade remain.
  const view = netPosition(agentWith(yes(0.4, 400), no(0.8, 200)), PERIOD_MS);
  assertNear(view?.probability, 0.4, 1e-12);
  assertNear(view?.usd, 300, 1e-12);
  const opposite = netPosition(agentWith(no(0.4, 400), yes(0.8, 200)), PERIOD_MS);
  assertNear(opposite?.probability, 0.6, 1e-12);
  assertNear(opposite?.usd, 300, 1e-12);
});

test("in an agent's view, the USD amount of a trade is halved after each half-life", () => {
  assertNear(netPosition(agentWith(yes(0.4, 100, PERIOD_MS)), PERIOD_MS)?.usd, 50, 1e-12);
  assertNear(netPosition(agentWith(yes(0.4, 100), yes(0.4, 100, 2 * PERIOD_MS)), PERIOD_MS)?.usd, 100, 1e-12);
});

test("in the robust figure, the half-life of a trade's USD amount is half of the period", () => {
  const fresh = Array.from({ length: 32 }, () => agentWith(yes(0.4)));
  const { robustProbability } = computeConsensus([...fresh, agentWith(yes(0.45, 100, PERIOD_MS / 2))], PERIOD_MS);
  const weight = Math.sqrt(0.5);
  assertNear(robustProbability, (32 * 0.4 + weight * 0.45) / (32 + weight), 1e-12);
});

test("rounding errors of the sums never move a probability out of [0, 1]", () => {
  const agent = agentWith(yes(1, 1));
  const { probability } = computeConsensus([{ ...agent, usdTimesProbability: 1 + Number.EPSILON }], PERIOD_MS);
  assert.equal(probability, 1);
  const total = { ...agent.plausibleYes, usdTimesPrice: 1 + Number.EPSILON };
  assert.equal(netPosition({ plausibleYes: total, plausibleNo: NOTHING }, PERIOD_MS)?.probability, 1);
});

test("an agent with less than one contract has a view", () => {
  assertNear(netPosition(agentWith(yes(0.5, 0.01)), PERIOD_MS)?.usd, 0.01, 1e-12);
});

test("only plausible trades count in the robust figure", () => {
  const agents = [0.4, 0.42, 0.44, 0.46, 0.48].map((price) => agentWith(yes(price)));
  assertNear(computeConsensus(agents, PERIOD_MS).robustProbability, 0.44, 1e-12);
  const implausible = { ...agentWith(yes(1, 1e6)), plausibleYes: NOTHING };
  const { probability, robustProbability } = computeConsensus([...agents, implausible], PERIOD_MS);
  assertNear(robustProbability, 0.44, 1e-12);
  assert.ok(probability !== null && probability > 0.99);
});

test("attackers' volume above the fifth percentile of all agents does not change the robust figure", () => {
  const honest = Array.from({ length: 45 }, (_, index) => agentWith(yes(0.4 + index / 225, 100 + index)));
  const attack = (usd: number) => {
    const attackers = Array.from({ length: 5 }, () => agentWith(yes(0.99, usd)));
    return computeConsensus([...honest, ...attackers], PERIOD_MS).robustProbability;
  };
  assert.equal(attack(1e3), attack(1e6));
});

test("a price is plausible between bid and ask and at most 0.05 outside", () => {
  const market = { ...sampleMarket("m", { quote: { bid: 0.4, ask: 0.44 } }), yesPrice: 0.42 };
  for (const price of [0.35, 0.4, 0.44, 0.49]) {
    assert.ok(isPlausible(yes(price), market), `yes at ${price}`);
    assert.ok(isPlausible(no(1 - price), market), `no at ${1 - price}`);
  }
  for (const price of [0, 0.34, 0.5, 1]) {
    assert.ok(!isPlausible(yes(price), market), `yes at ${price}`);
    assert.ok(!isPlausible(no(1 - price), market), `no at ${1 - price}`);
  }
});

test("quotes farther than 0.10 from the price do not extend the plausible prices", () => {
  const market = { ...sampleMarket("m", { quote: { bid: 0.01, ask: 0.99 } }), yesPrice: 0.5 };
  assert.ok(isPlausible(yes(0.36), market) && isPlausible(yes(0.64), market));
  assert.ok(!isPlausible(yes(0.34), market) && !isPlausible(yes(0.66), market));
});

test("without a known price of the market, and at a price of 0, no report is plausible", () => {
  const quote = { bid: null, ask: null, lastPrice: null };
  assert.equal(isPlausible(yes(0.5), { ...sampleMarket("m", { quote }), yesPrice: null }), false);
  assert.equal(isPlausible(yes(0), { ...sampleMarket("m", { quote }), yesPrice: 0.001 }), false);
  assert.equal(isPlausible(yes(0.001), { ...sampleMarket("m", { quote }), yesPrice: 0.001 }), true);
});

test("the divergence signal follows the documented thresholds and needs 5 trades of 3 agents", () => {
  const enough = { trades: 5, agents: 3 };
  for (const [divergence, signal] of [
    [0, "crowd_agrees"],
    [-0.029, "crowd_agrees"],
    [0.03, "neutral"],
    [-0.079, "neutral"],
    [0.08, "crowd_disagrees"],
    [-0.199, "crowd_disagrees"],
    [0.2, "strong_divergence"],
    [-1, "strong_divergence"],
  ] as const)
    assert.equal(divergenceSignal(divergence, enough), signal, String(divergence));
  assert.equal(divergenceSignal(0.1, { trades: 4, agents: 4 }), "insufficient_data");
  assert.equal(divergenceSignal(0.1, { trades: 50, agents: 2 }), "insufficient_data");
  assert.equal(divergenceSignal(null, enough), "insufficient_data");
});

/** Deterministic numbers in [0, 1): the generator of Park and Miller. */
function createGenerator(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

test("simulation: attackers who are 10% of the agents move the robust figure by at most 0.02, for any reports", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const uniform = createGenerator(seed * 7_919);
    const normal = () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());
    const honestCount = 54 + Math.floor(uniform() * 200);
    const mean = 0.25 + uniform() * 0.5;
    const draws = Array.from({ length: honestCount }, normal);
    const drawnMean = draws.reduce((sum, draw) => sum + draw, 0) / honestCount;
    const deviation = Math.sqrt(draws.reduce((sum, draw) => sum + (draw - drawnMean) ** 2, 0) / honestCount);
    const honest = draws.map((draw) => {
      const probability = Math.min(0.99, Math.max(0.01, mean + (0.1 * (draw - drawnMean)) / deviation));
      const usd = 10 ** (1 + 3 * uniform());
      const ageMs = uniform() * PERIOD_MS;
      return agentWith(uniform() < 0.5 ? yes(probability, usd, ageMs) : no(1 - probability, usd, ageMs));
    });
    const calm = computeConsensus(honest, PERIOD_MS).robustProbability ?? Number.NaN;
    for (const target of [0.01, mean - 0.2, mean + 0.12, 0.99])
      for (const usd of [0.01, 1e6]) {
        const attackers = Array.from({ length: Math.floor(honestCount / 9) }, () => agentWith(yes(target, usd)));
        const moved = computeConsensus([...honest, ...attackers], PERIOD_MS).robustProbability ?? Number.NaN;
        const shift = Math.abs(moved - calm);
        assert.ok(shift <= 0.02, `seed ${seed}: ${honestCount} honest agents, attack at ${target}: ${shift}`);
      }
  }
});
