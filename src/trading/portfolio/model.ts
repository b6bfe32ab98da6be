import type { Side } from "../../domain/price.ts";
import type { PairCorrelation } from "../../quant/correlation.ts";
import type { Fill, SizingOptions, TradeCandidate } from "../model.ts";

/** A logical constraint on the outcomes of markets, which are identified by their index. */
export type LogicalConstraint =
  /** Both resolve alike, or one resolves YES and the other NO. */
  | { readonly kind: "same" | "opposite"; readonly a: number; readonly b: number }
  /** At most one resolves YES. */
  | { readonly kind: "exclusive"; readonly a: number; readonly b: number }
  /** If a resolves YES, b resolves YES. */
  | { readonly kind: "implies"; readonly a: number; readonly b: number }
  /** At least one resolves YES. */
  | { readonly kind: "exhaustive"; readonly markets: readonly number[] };

/** A market that is not settled. */
export interface UncertainMarket {
  /** Probability of YES, in [0, 1]. */
  readonly probability: number;
  /** Importance. If constraints must be dropped, constraints of the least important market are dropped first. */
  readonly importance: number;
}

export interface HeldPosition {
  /** Index of its market; null if the market is settled. */
  readonly market: number | null;
  readonly side: Side;
  /** Amount paid for the position in USD, above 0. */
  readonly sizeUsd: number;
  /** Price paid per contract, in (0, 1). */
  readonly entryPrice: number;
  /** Payout of one contract of the side if the market is settled, in [0, 1]; else null. */
  readonly settledValue: number | null;
  /** Identifies the event. Positions and candidates of one event have the same key. */
  readonly eventKey: string;
}

/** The trade that is sized. Its market has the index 0. */
export interface PortfolioCandidate extends Omit<TradeCandidate, "probability" | "targetPrice"> {
  /** Share of the bankroll if no other positions are held, in (0, 1]. */
  readonly baseShare: number;
  readonly eventKey: string;
}

export interface HedgeCandidate {
  readonly market: number;
  readonly side: Side;
  /** Price and fee per contract, in (0, 1). */
  readonly cost: number;
  /** Cost in USD of all contracts offered at this cost; null if the size of the offer is unknown. */
  readonly offeredUsd: number | null;
}

/** Input of `sizePosition`. Plain data, because a worker thread receives it. */
export interface PortfolioTask {
  /** The candidate's market first. */
  readonly markets: readonly UncertainMarket[];
  readonly constraints: readonly LogicalConstraint[];
  /** Correlations of the log-odds moves of pairs of markets. */
  readonly correlations: readonly PairCorrelation[];
  readonly positions: readonly HeldPosition[];
  /** Null if the signal recommends no trade. */
  readonly candidate: PortfolioCandidate | null;
  readonly hedges: readonly HedgeCandidate[];
  readonly sizing: SizingOptions;
}

/**
 * What limits the adjusted size.
 *
 * - growth: a larger stake would lower the expected growth of the portfolio.
 * - position_max: the largest share of the bankroll, together with stakes on outcomes that exclude the candidate.
 * - cash: the part of the bankroll that is not in positions.
 * - book: the contracts offered up to the target price.
 * - none: the portfolio does not change the size.
 * - no_trade: the signal recommends no trade.
 * - min_order: the stake buys less than the smallest order of the venue.
 * - fee: the fee of the order, which the venue rounds up, leaves less than the required edge.
 */
export type SizeLimit = "none" | "growth" | "position_max" | "cash" | "book" | "min_order" | "fee" | "no_trade";

export interface PortfolioSize {
  /** Share of the bankroll, in [0, 1]. */
  readonly share: number;
  readonly limit: SizeLimit;
  /** Price and fee per contract at this size; null without a trade. */
  readonly cost: number | null;
  /** The order for the share, rounded down to the contract step; null without a trade. */
  readonly fill: Fill | null;
  /**
   * Correlation of the payoff of each position with the payoff of the candidate, in [-1, 1], in the order of the
   * positions. Null if the market of the position is settled, or if a payoff is the same in all outcomes.
   */
  readonly correlations: readonly (number | null)[];
  /** Change of the Herfindahl index of the amounts at risk by event, in [-1, 1] (`concentrationOf`). */
  readonly concentrationDelta: number;
  /** Mean loss of the worst 5% of the outcomes after the trade, in USD; negative if it is a profit. */
  readonly expectedShortfallUsd: number;
  /** At most three hedges, the largest reduction per dollar first. */
  readonly hedges: readonly { readonly index: number; readonly stakeUsd: number; readonly reductionUsd: number }[];
  /** Number of constraints that were dropped, because they contradict other constraints or need too many outcomes. */
  readonly droppedConstraints: number;
}
