import type { Side } from "../../domain/price.ts";
import { EDGE_MIN } from "../../engine/index.ts";
import { bisect, clamp } from "../../lib/numbers.ts";
import { sidePrice } from "../book.ts";
import { buyForUsd, buyWithinBudget } from "../fill.ts";
import { shadedProbability } from "../size-candidate.ts";
import { concentrationOf, type QuestionStake } from "./concentration.ts";
import { bestHedge, expectedShortfall, lossDistribution } from "./expected-shortfall.ts";
import { growthOptimum } from "./growth-optimum.ts";
import { isSameLiteral, type Literal, negateLiteral } from "./logical-constraints.ts";
import type { HeldPosition, PortfolioCandidate, PortfolioSize, PortfolioTask, SizeLimit } from "./model.ts";
import { type JointOutcomes, jointOutcomes, setMarginal } from "./outcomes.ts";

const HEDGES_MAX = 3;
/** Minimum reduction of the tail loss by a hedge. */
const HEDGE_REDUCTION_USD_MIN = 0.01;
const WALK_STEPS = 20;

/**
 * Sizes a trade for a portfolio. The stake maximises the expected logarithm of the wealth of the whole portfolio.
 *
 * - The bankroll is the total capital, including the cost of the positions.
 * - The applied Kelly share and the shrinkage s for estimation error replace the candidate's probability p by the
 *   shaded probability p' = c + kellyShare · s · (p - c), for the cost c. A single bet then gets exactly kellyShare · s
 *   · (p - c) / (1 - c).
 * - The stake is at most the cash, which is the bankroll minus the cost of the positions.
 * - `positionMax` limits the total of the stake, the stakes on the same outcome, and the stakes on outcomes that
 *   exclude it.
 * - A size above the base size has the average cost of buying it from the offers up to the target price.
 *
 * Tail loss, correlations and hedges are computed from the same outcomes, after the trade.
 *
 * @throws RangeError for an index without a market, and for values outside their ranges
 */
export function sizePosition(task: PortfolioTask): PortfolioSize {
  const { candidate, positions, sizing } = task;
  const { bankrollUsd: bankroll } = sizing;
  const [first, ...others] = task.markets;
  if (first === undefined) throw new RangeError("there must be a market");
  const baseCost = candidate === null ? null : averageCost(candidate, candidate.baseShare * bankroll);
  const yes =
    candidate === null || baseCost === null
      ? first.probability
      : sidePrice(candidate.side, carefulProbability(task, candidate, baseCost));
  const outcomes = jointOutcomes([{ ...first, probability: yes }, ...others], task.constraints, task.correlations);
  const wealth = wealthOf(outcomes, positions, bankroll);
  const sized =
    candidate === null || baseCost === null
      ? { share: 0, limit: "no_trade" as const, cost: null, fill: null }
      : solve(task, candidate, baseCost, { outcomes, wealth });
  if (candidate !== null && sized.cost !== null) {
    const wins = winsOf(outcomes, 0, candidate.side);
    for (let outcome = 0; outcome < wealth.length; outcome++)
      wealth[outcome] = (wealth[outcome] as number) + sized.share * (wins[outcome] === 1 ? 1 / sized.cost - 1 : -1);
  }
  const losses = wealth.map((value) => bankroll * (1 - value));
  const distribution = lossDistribution(losses, outcomes.weights);
  const cash = bankroll * (1 - sized.share) - stakeOf(positions);
  return {
    ...sized,
    correlations: positions.map((position) =>
      candidate === null ? null : payoffCorrelation(outcomes, candidate, position),
    ),
    concentrationDelta: concentrationDelta(outcomes, positions, candidate, {
      stakeUsd: sized.share * bankroll,
      cost: sized.cost,
    }),
    expectedShortfallUsd: expectedShortfall(distribution),
    hedges: task.hedges
      .map(({ market, side, cost, offeredUsd }, index) => {
        const { stake, reduction } = bestHedge(
          distribution,
          { wins: winsOf(outcomes, market, side), cost },
          Math.max(0, Math.min(cash, offeredUsd ?? Infinity)),
        );
        return { index, stakeUsd: stake, reductionUsd: reduction };
      })
      .filter(({ stakeUsd, reductionUsd }) => stakeUsd > 0 && reductionUsd >= HEDGE_REDUCTION_USD_MIN)
      .sort((a, b) => b.reductionUsd / b.stakeUsd - a.reductionUsd / a.stakeUsd)
      .slice(0, HEDGES_MAX),
    droppedConstraints: outcomes.droppedConstraints,
  };
}

/** Stake as a share of the bankroll, its limit, the cost per contract, and the order. */
type Sized = Pick<PortfolioSize, "share" | "limit" | "cost" | "fill">;
type Stake = { readonly share: number; readonly limit: SizeLimit; readonly cost: number };

function solve(
  task: PortfolioTask,
  candidate: PortfolioCandidate,
  baseCost: number,
  { outcomes, wealth }: { readonly outcomes: JointOutcomes; readonly wealth: Float64Array },
): Sized {
  const { positions, sizing } = task;
  const { baseShare } = candidate;
  const none = (limit: SizeLimit): Sized => ({ share: 0, limit, cost: null, fill: null });
  const cash = 1 - stakeOf(positions) / sizing.bankrollUsd;
  if (cash <= 0) return none("cash");
  const room = sizing.positionMax - stakeTogether(outcomes, candidate, positions) / sizing.bankrollUsd;
  if (room <= 0) return none("position_max");
  const max = Math.min(room, cash);
  const wins = winsOf(outcomes, 0, candidate.side);
  const answers = outcomes.answers[0] ?? new Uint8Array();
  const optimumAt = (cost: number): number => {
    const weights = outcomes.weights.slice();
    // The shaded probability depends on the cost. The outcomes within YES, and within NO, keep their relative weights.
    setMarginal(weights, answers, sidePrice(candidate.side, carefulProbability(task, candidate, cost)));
    const gain = Float64Array.from(wins, (win) => (win === 1 ? 1 / cost - 1 : -1));
    return growthOptimum({ wealth, gain, weights }, max);
  };
  const optimum = optimumAt(baseCost);
  const limitOf = (share: number): SizeLimit => {
    if (share >= max) return room <= cash ? "position_max" : "cash";
    return Math.abs(share - baseShare) <= 1e-6 ? "none" : "growth";
  };
  const stake: Stake =
    optimum <= baseShare
      ? { share: optimum, limit: limitOf(optimum), cost: baseCost }
      : walkFurther(candidate, sizing.bankrollUsd, { optimum, optimumAt, baseCost, limitOf });
  if (stake.share === 0) return none(stake.limit);
  const { offers, takerFee, contractStep, minOrderContracts } = candidate;
  const fill = buyWithinBudget(offers, takerFee, stake.share * sizing.bankrollUsd, contractStep);
  if (fill === null || fill.contracts < minOrderContracts) return none("min_order");
  const probability = sidePrice(candidate.side, task.markets[0]?.probability ?? 0);
  if (probability - fill.costUsd / fill.contracts < EDGE_MIN) return none("fee");
  return { share: stake.share, limit: stake.limit, cost: stake.cost, fill };
}

/** Returns the largest stake that is optimal at its own average cost, by bisection. */
function walkFurther(
  candidate: PortfolioCandidate,
  bankroll: number,
  options: {
    readonly optimum: number;
    readonly optimumAt: (cost: number) => number;
    readonly baseCost: number;
    readonly limitOf: (share: number) => SizeLimit;
  },
): Stake {
  const { baseShare, offers, takerFee } = candidate;
  const { optimum, optimumAt, baseCost, limitOf } = options;
  const available = buyForUsd(offers, takerFee, bankroll).spentUsd / bankroll;
  if (available <= baseShare) return { share: baseShare, limit: "book", cost: baseCost };
  const costAt = (share: number) => averageCost(candidate, share * bankroll);
  const isOptimal = (share: number) => optimumAt(costAt(share)) >= share;
  const most = Math.min(optimum, available);
  if (isOptimal(most)) return { share: most, limit: most < optimum ? "book" : limitOf(most), cost: costAt(most) };
  const [share] = bisect([baseShare, most], WALK_STEPS, isOptimal);
  return { share, limit: limitOf(share), cost: costAt(share) };
}

/** Returns the average cost per contract, fee included, of buying the best offers for an amount. */
const averageCost = ({ offers, takerFee }: PortfolioCandidate, amountUsd: number): number =>
  buyForUsd(offers, takerFee, amountUsd).averageCost;

/** Returns the shaded probability p' of the candidate's side. */
function carefulProbability({ markets, sizing }: PortfolioTask, candidate: PortfolioCandidate, cost: number): number {
  const probability = sidePrice(candidate.side, markets[0]?.probability ?? 0);
  return shadedProbability({ probability, variance: candidate.variance }, cost, sizing.kellyShare);
}

/** Returns 1 for each outcome in which a contract of this side pays, else 0. */
function winsOf({ answers }: JointOutcomes, market: number, side: Side): Uint8Array {
  const bits = answers[market];
  if (bits === undefined) throw new RangeError(`there is no market ${market}`);
  return side === "yes" ? bits : bits.map((bit) => 1 - bit);
}

const stakeOf = (positions: readonly HeldPosition[]): number =>
  positions.reduce((sum, { sizeUsd }) => sum + sizeUsd, 0);

/** Returns the wealth in each outcome without the candidate, as a share of the bankroll. */
function wealthOf(outcomes: JointOutcomes, positions: readonly HeldPosition[], bankroll: number): Float64Array {
  const wealth = new Float64Array(outcomes.weights.length).fill(1 - stakeOf(positions) / bankroll);
  for (const { market, side, sizeUsd, entryPrice, settledValue } of positions) {
    const payout = sizeUsd / entryPrice / bankroll;
    const wins = market === null ? null : winsOf(outcomes, market, side);
    for (let outcome = 0; outcome < wealth.length; outcome++)
      wealth[outcome] = (wealth[outcome] as number) + payout * (wins?.[outcome] ?? settledValue ?? 0);
  }
  return wealth;
}

/** Returns the literal that is true if a contract of this side pays. */
function answerOf({ variables }: JointOutcomes, market: number, side: Side): Literal {
  const literal = variables.literals[market];
  if (literal === undefined) throw new RangeError(`there is no market ${market}`);
  return side === "yes" ? literal : negateLiteral(literal);
}

/** Returns the USD held on the candidate's outcome, and on outcomes of other variables that exclude it. */
function stakeTogether(
  outcomes: JointOutcomes,
  candidate: PortfolioCandidate,
  positions: readonly HeldPosition[],
): number {
  const own = answerOf(outcomes, 0, candidate.side);
  const isTogether = (other: Literal): boolean =>
    isSameLiteral(own, other) ||
    outcomes.variables.exclusions.some(
      ({ a, b }) =>
        (isSameLiteral(a, own) && isSameLiteral(b, other)) || (isSameLiteral(b, own) && isSameLiteral(a, other)),
    );
  return stakeOf(
    positions.filter(({ market, side }) => market !== null && isTogether(answerOf(outcomes, market, side))),
  );
}

/** Returns the correlation of the payoffs of the candidate and a position, in [-1, 1]; null if a payoff is constant. */
function payoffCorrelation(
  outcomes: JointOutcomes,
  candidate: PortfolioCandidate,
  position: HeldPosition,
): number | null {
  if (position.market === null) return null;
  const own = answerOf(outcomes, 0, candidate.side);
  const other = answerOf(outcomes, position.market, position.side);
  if (own.variable === other.variable) return own.value === other.value ? 1 : -1;
  const x = winsOf(outcomes, 0, candidate.side);
  const y = winsOf(outcomes, position.market, position.side);
  let [p, q, both] = [0, 0, 0];
  for (let outcome = 0; outcome < x.length; outcome++) {
    const weight = outcomes.weights[outcome] as number;
    if (x[outcome] === 1) p += weight;
    if (y[outcome] === 1) q += weight;
    if (x[outcome] === 1 && y[outcome] === 1) both += weight;
  }
  const variance = p * (1 - p) * q * (1 - q);
  return variance > 0 ? clamp((both - p * q) / Math.sqrt(variance), -1, 1) : null;
}

/** Returns how much the trade changes the concentration of the stakes by question and event. */
function concentrationDelta(
  outcomes: JointOutcomes,
  positions: readonly HeldPosition[],
  candidate: PortfolioCandidate | null,
  { stakeUsd, cost }: { readonly stakeUsd: number; readonly cost: number | null },
): number {
  if (candidate === null || cost === null || stakeUsd === 0) return 0;
  const stakes = positions.map(({ market, side, sizeUsd, entryPrice, eventKey }): QuestionStake => {
    const answer = market === null ? null : answerOf(outcomes, market, side);
    return {
      question: answer?.variable ?? null,
      paysOnYes: answer?.value ?? true,
      stakeUsd: sizeUsd,
      contracts: sizeUsd / entryPrice,
      eventKey,
    };
  });
  const { variable, value } = answerOf(outcomes, 0, candidate.side);
  const { eventKey } = candidate;
  const trade = { question: variable, paysOnYes: value, stakeUsd, contracts: stakeUsd / cost, eventKey };
  return concentrationOf([...stakes, trade]) - concentrationOf(stakes);
}
