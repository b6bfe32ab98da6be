import type { VenueId } from "../../../domain/market.ts";
import type { MarketPair, MatchableMarket, MatchJudgement, MatchOverride } from "../../../matching/index.ts";

/** Minimum confidence at which a match of markets or events is published. */
export const ALSO_ON_CONFIDENCE_MIN = 0.9;

/** Maximum length of a rules text, in characters; longer texts are truncated. */
export const RULES_LENGTH_MAX = 8_000;
/** Minimum confidence of a pair that a language model may judge. */
export const CANDIDATE_CONFIDENCE_MIN = 0.1;
/** A pair with at least this confidence is not judged. */
export const CANDIDATE_CONFIDENCE_MAX = 0.95;

/** Returns the id of the other market of a pair. */
export function partnerOf(pair: MarketPair, id: string): string {
  return pair.a === id ? pair.b : pair.a;
}

/** An operator's decision about two markets. `a` is the lower id. */
export interface MatchDecision extends MatchOverride {
  readonly note: string | null;
  readonly decidedBy: string;
  /** Unix milliseconds. */
  readonly decidedAt: number;
}

/** Changes for the matching thread. Removals are applied first, then markets, rules and judgements. */
export interface MatchRequest {
  /** Whether pairs of low confidence are wanted, because they can be judged. The same in all requests to a thread. */
  readonly hasJudge: boolean;
  readonly removed: readonly string[];
  readonly markets: readonly MatchableMarket[];
  readonly rules: readonly { readonly id: string; readonly rules: string | null }[];
  readonly judgements: readonly MatchJudgement[];
  /** All decisions of operators; null if they have not changed. */
  readonly overrides: readonly MatchOverride[] | null;
  /** Maximum number of changed markets to match. */
  readonly limit: number;
}

/** URLs of the same market at other venues, by venue. */
export type AlsoOn = Readonly<Record<VenueId, string>>;

/** State of the matching, for health and metrics. */
export interface MatchingReport {
  readonly pairs: number;
  /** Number of changed markets that have not been matched yet. */
  readonly pendingCount: number;
  /** Number of threads that ended and were replaced since the start. */
  readonly restarts: number;
  /**
   * True from the failure of a thread until its successor has matched the whole board. Earlier pairs are still served.
   */
  readonly isFailing: boolean;
  /** The judge of uncertain pairs; null without a language model. */
  readonly judge: JudgeReport | null;
}

/** State of the judge since the start of this process, for metrics. */
export interface JudgeReport {
  /** Number of applied judgements, by relation. */
  readonly judgements: Readonly<Record<string, number>>;
  /** Number of uncertain pairs without a judgement at the start of the last run, at most 2,000. */
  readonly waitingCount: number;
  /** Number of calls of the model, by outcome. */
  readonly calls: Readonly<Record<string, number>>;
  /** Cost of the calls, USD. */
  readonly costUsd: number;
}
