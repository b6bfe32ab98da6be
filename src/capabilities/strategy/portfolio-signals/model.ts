import type { BoardMarket } from "../../../board/index.ts";
import type { MarketId } from "../../../domain/market-name.ts";
import type { Side } from "../../../domain/price.ts";
import type { PortfolioSize, Signal, SizingOptions } from "../../../trading/index.ts";
import type { SignalRequest } from "../signals/index.ts";

export const POSITIONS_MAX = 25;

/** A position as the caller reports it. */
export interface RequestedPosition extends MarketId {
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

/** A signal whose size accounts for the positions. */
export interface PortfolioSignal {
  readonly market: BoardMarket;
  readonly analysisId: string;
  readonly signal: Signal;
  readonly size: PortfolioSize;
  readonly positions: readonly RequestedPosition[];
  readonly sizing: SizingOptions;
  /** The markets and sides that the hedges of `size` name by their index. */
  readonly hedges: readonly { readonly market: BoardMarket; readonly side: Side }[];
}
