import type { BoardMarket } from "../../../board/index.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import type { Side } from "../../../domain/price.ts";
import type { PortfolioSize, Signal, SizingOptions } from "../../../trading/index.ts";
import type { SignalRequest } from "../signals/index.ts";

export const POSITIONS_MAX = 25;

export interface RequestedPosition extends MarketRef {
  readonly side: Side;
  /** Cost in USD, above 0. */
  readonly sizeUsd: number;
  /** Price paid per contract, in (0, 1). */
  readonly entryPrice: number;
}

export interface PortfolioRequest extends SignalRequest {
  readonly positions: readonly RequestedPosition[];
  readonly sizing: SizingOptions;
}

/** A signal whose size accounts for the caller's positions. */
export interface PortfolioSignal {
  readonly market: BoardMarket;
  readonly analysisId: string;
  readonly signal: Signal;
  readonly size: PortfolioSize;
  readonly positions: readonly RequestedPosition[];
  readonly sizing: SizingOptions;
  /** The markets and sides to which the hedge indexes of `size` refer. */
  readonly hedges: readonly { readonly market: BoardMarket; readonly side: Side }[];
}
