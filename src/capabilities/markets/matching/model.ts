import type { VenueId } from "../../../domain/market.ts";
import type { MarketPair, MatchableMarket, MatchOverride } from "../../../matching/index.ts";

/** Confidence from which two markets or events are shown as the same one. */
export const ALSO_ON_CONFIDENCE_MIN = 0.9;

/** The other market of a pair. */
export function partnerOf(pair: MarketPair, id: string): string {
  return pair.a === id ? pair.b : pair.a;
}

/** A decision of an operator about two markets. `a` is lower than `b` in the order of ids. */
export interface MatchDecision extends MatchOverride {
  readonly note: string | null;
  readonly decidedBy: string;
  /** Unix milliseconds. */
  readonly decidedAt: number;
}

/** Changes for the thread that matches. Removals are applied before the markets, and the markets before their rules. */
export interface MatchRequest {
  readonly removed: readonly string[];
  readonly markets: readonly MatchableMarket[];
  readonly rules: readonly { readonly id: string; readonly rules: string | null }[];
  /** All decisions of the operator; null if they have not changed. */
  readonly overrides: readonly MatchOverride[] | null;
  /** Number of changed markets to match at most. */
  readonly limit: number;
}

/** URLs of the same market at other venues, by venue. */
export type AlsoOn = Readonly<Record<VenueId, string>>;

/** State of the matching, for health and metrics. */
export interface MatchingReport {
  readonly pairs: number;
  /** Markets that have changed and have not been matched yet. */
  readonly pendingCount: number;
  /** Threads that ended since the start and were replaced. */
  readonly restarts: number;
  /** True from the failure of a thread until its successor has matched the whole board. Earlier pairs stay served. */
  readonly isFailing: boolean;
}
