import type { BoardMarket } from "../../../board/index.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { type Side, toMicros } from "../../../domain/price.ts";
import { toCents } from "../../../domain/usd.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { clamp } from "../../../lib/numbers.ts";
import { type AgentPosition, robustConsensus } from "../../../quant/robust-consensus.ts";

export const CONSENSUS_PERIODS = ["24h", "7d", "30d"] as const;
export type ConsensusPeriod = (typeof CONSENSUS_PERIODS)[number];

export const CONSENSUS_PERIOD_MS: Readonly<Record<ConsensusPeriod, number>> = {
  "24h": 24 * HOUR_MS,
  "7d": 168 * HOUR_MS,
  "30d": 720 * HOUR_MS,
};

/** Retention of reports: two years. They are the customer's trade history; a consensus needs only the last 30 days. */
export const REPORT_RETENTION_MS = 731 * 24 * HOUR_MS;

export const SIZE_USD_MIN = 0.01;
export const SIZE_USD_MAX = 1_000_000;

export interface TradeReport extends MarketRef {
  readonly side: Side;
  /** Price of the bought side, in [0, 1]. */
  readonly price: number;
  readonly sizeUsd: number;
  /** The agent's reference for the trade; empty if it has none. */
  readonly clientRef: string;
}

/** The plausible trades of one agent on one side of a market. */
export interface SideTotal {
  readonly usd: number;
  /** Sum of USD / price. */
  readonly contracts: number;
  /** Sum of USD × price of this side. */
  readonly usdTimesPrice: number;
  /** Sum of USD × age in milliseconds. */
  readonly usdTimesAgeMs: number;
}

/** All reports of one agent in one market and period. */
export interface AgentReportTotals {
  readonly yesTrades: number;
  readonly noTrades: number;
  readonly yesUsd: number;
  readonly noUsd: number;
  /** Sum of USD × the probability that the trade implies. */
  readonly usdTimesProbability: number;
  readonly plausibleYes: SideTotal;
  readonly plausibleNo: SideTotal;
}

export const DIVERGENCE_SIGNALS = [
  "crowd_agrees",
  "neutral",
  "crowd_disagrees",
  "strong_divergence",
  "insufficient_data",
] as const;

export interface Consensus {
  /** Mean of the implied probabilities of all reports, weighted by USD; null without reports. */
  readonly probability: number | null;
  /** Null with fewer than 5 agents that have a net position in plausible trades (`robustConsensus`). */
  readonly robustProbability: number | null;
  readonly trades: number;
  readonly agents: number;
  readonly yesTrades: number;
  readonly noTrades: number;
  readonly yesVolumeUsd: number;
  readonly noVolumeUsd: number;
}

/** Tolerance around the current prices, because prices can move between the trade and its report. */
const PRICE_TOLERANCE = 0.05;
/** Maximum distance of a bid or ask from the YES price within which trades at it are plausible. */
const BOOK_REACH_MAX = 0.1;
/** Minimum price of a trade at any venue. At a lower price, the number of contracts could overflow. */
export const TRADED_PRICE_MIN = 1e-6;

/** Probability of YES that a trade implies: its price for YES, 1 - price for NO. */
export const impliedProbability = ({ side, price }: Pick<TradeReport, "side" | "price">): number =>
  side === "yes" ? price : 1 - price;

/**
 * Whether a trade at this price is credible, given the current quote of the market. The implied probability must lie
 * between bid and ask, with a tolerance of 0.05. A bid or ask more than 0.10 from the YES price is ignored. False if no
 * price of the market is known.
 */
export function isPlausible(
  report: Pick<TradeReport, "side" | "price">,
  { yesPrice, quote }: Pick<BoardMarket, "yesPrice" | "quote">,
): boolean {
  if (yesPrice === null || report.price < TRADED_PRICE_MIN) return false;
  const low = Math.max(Math.min(quote.bid ?? yesPrice, yesPrice), yesPrice - BOOK_REACH_MAX) - PRICE_TOLERANCE;
  const high = Math.min(Math.max(quote.ask ?? yesPrice, yesPrice), yesPrice + BOOK_REACH_MAX) + PRICE_TOLERANCE;
  // Compared in micros, because 0.4 - 0.05 is above 0.35 in floating point.
  const probability = toMicros(impliedProbability(report));
  return probability >= toMicros(low) && probability <= toMicros(high);
}

/** A net position below this share of the larger side is a floating-point error. */
const NET_SHARE_MIN = 1e-9;

/**
 * Nets the plausible trades of an agent: a YES and a NO contract together always pay 1, so they imply no probability.
 * The net position is on the side with more contracts. Its USD are the value of the remaining contracts, halved for
 * each half-life of the trades' mean age.
 *
 * @returns  null if nothing remains
 */
export function netPosition(
  { plausibleYes, plausibleNo }: Pick<AgentReportTotals, "plausibleYes" | "plausibleNo">,
  halfLifeMs: number,
): AgentPosition | null {
  const isYes = plausibleYes.contracts > plausibleNo.contracts;
  const [larger, smaller] = isYes ? [plausibleYes, plausibleNo] : [plausibleNo, plausibleYes];
  if (!(larger.contracts > 0)) return null;
  const netShare = 1 - smaller.contracts / larger.contracts;
  if (netShare < NET_SHARE_MIN) return null;
  const price = larger.usdTimesPrice / larger.usd;
  const ageMs = larger.usdTimesAgeMs / larger.usd;
  return {
    probability: clamp(isYes ? price : 1 - price, 0, 1),
    usd: larger.usd * netShare * 2 ** (-ageMs / halfLifeMs),
  };
}

/**
 * Computes the consensus of a market from the reports of each of its agents. The half-life of an agent's weight is half
 * of the period.
 */
export function computeConsensus(agents: readonly AgentReportTotals[], periodMs: number): Consensus {
  const sum = (read: (agent: AgentReportTotals) => number) => agents.reduce((total, agent) => total + read(agent), 0);
  const yesUsd = sum((agent) => agent.yesUsd);
  const noUsd = sum((agent) => agent.noUsd);
  const yesTrades = sum((agent) => agent.yesTrades);
  const noTrades = sum((agent) => agent.noTrades);
  const views = agents.flatMap((agent) => netPosition(agent, periodMs / 2) ?? []);
  return {
    probability: agents.length === 0 ? null : clamp(sum((agent) => agent.usdTimesProbability) / (yesUsd + noUsd), 0, 1),
    robustProbability: robustConsensus(views),
    trades: yesTrades + noTrades,
    agents: agents.length,
    yesTrades,
    noTrades,
    yesVolumeUsd: toCents(yesUsd),
    noVolumeUsd: toCents(noUsd),
  };
}

const TRADES_MIN = 5;
const AGENTS_MIN = 3;

/**
 * Classifies the difference between the consensus and the model probability: below 0.03 `crowd_agrees`, below 0.08
 * `neutral`, below 0.20 `crowd_disagrees`, else `strong_divergence`. `insufficient_data` if there are fewer than 5
 * trades, fewer than 3 agents, or no difference because one of the probabilities is unknown.
 *
 * @param divergence  in [-1, 1]; null if unknown
 */
export function divergenceSignal(
  divergence: number | null,
  { trades, agents }: Pick<Consensus, "trades" | "agents">,
): (typeof DIVERGENCE_SIGNALS)[number] {
  if (divergence === null || trades < TRADES_MIN || agents < AGENTS_MIN) return "insufficient_data";
  const distance = Math.abs(divergence);
  if (distance < 0.03) return "crowd_agrees";
  if (distance < 0.08) return "neutral";
  return distance < 0.2 ? "crowd_disagrees" : "strong_divergence";
}
