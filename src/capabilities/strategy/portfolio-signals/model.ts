import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { PortfolioSize, Side, Signal, SizingOptions } from "../../../trading/index.ts";
import type { SignalRequest } from "../signals/index.ts";

export const POSITIONS_MAX = 25;

/** A position as the caller reports it. */
export interface RequestedPosition {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly side: Side;
  /** What was paid in USD, above 0. */
  readonly sizeUsd: number;
  /** Price paid per contract, in (0, 1). */
  readonly entryPrice: number;
}

export interface PortfolioRequest extends SignalRequest {
  readonly positions: readonly RequestedPosition[];
  readonly sizing: SizingOptions;
}

export interface HedgeAdvice {
  readonly market: BoardMarket;
  readonly side: Side;
  /** Of an order that takes the best offer, on the price grid of the market; null if the grid has no such price. */
  readonly limitPrice: number | null;
  readonly stakeUsd: number;
  /** Reduction of the mean loss of the worst 5% of the outcomes, in USD. */
  readonly reductionUsd: number;
}

/** A signal whose size accounts for the positions. */
export interface PortfolioSignal {
  readonly market: BoardMarket;
  readonly analysisId: string;
  readonly signal: Signal;
  readonly size: PortfolioSize;
  readonly positions: readonly RequestedPosition[];
  readonly hedges: readonly HedgeAdvice[];
  readonly sizing: SizingOptions;
}
