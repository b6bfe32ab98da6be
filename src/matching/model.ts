/** Types of the matching of markets and events across venues. */
import type { VenueId } from "../domain/market.ts";

/**
 * How the YES outcomes of two markets A and B relate. identical: the same proposition. inverse: YES of A is NO of B.
 * subset: A implies B. superset: B implies A. overlap: the same subject, but neither implies the other.
 */
export type MatchRelation = "identical" | "inverse" | "subset" | "superset" | "overlap";

/** Whether two markets ask the same or the opposite question, so that they can be traded against each other. */
export const isSameQuestion = ({ relation }: { readonly relation: MatchRelation | null }): boolean =>
  relation === "identical" || relation === "inverse";

/** The texts and times of a market that matching uses. Times are Unix milliseconds. */
export interface MatchableMarket {
  /** Unique id: `venue/marketId`. */
  readonly id: string;
  readonly venue: VenueId;
  readonly title: string;
  /** Name of the outcome within its event ("Over 1 inch"); null if the title contains it. */
  readonly outcomeLabel: string | null;
  /** Slug of the event, unique over all venues; null for a market without an event. */
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  readonly category: string | null;
  readonly openAt: number | null;
  readonly closeAt: number | null;
  readonly expectedResolutionAt: number | null;
  /** The slug by which another venue can name this market. */
  readonly slug?: string | undefined;
  /** The slug of the market of another venue that this one copies, according to its venue. */
  readonly mirroredSlug?: string | undefined;
}

/** Who decided that two markets match. */
export type MatchSource = "model" | "operator";

/** Minimum confidence of a pair that other parts of the service use. */
export const PAIR_CONFIDENCE_MIN = 0.5;

/** Two matched markets of different venues. `a` is the lower id. */
export interface MarketPair {
  readonly a: string;
  readonly b: string;
  readonly relation: MatchRelation;
  /** Calibrated probability that `relation` is right, in [0, 1]. */
  readonly confidence: number;
  /** Evidence for and against the match, in sentences. */
  readonly evidence: readonly string[];
  readonly source: MatchSource;
}

/** Two matched events of different venues. `a` is the lower slug. */
export interface EventPair {
  readonly a: string;
  readonly b: string;
  /** Calibrated probability that both events ask the same question, in [0, 1]. */
  readonly confidence: number;
  /** Number of markets of one event that have a matching market in the other one. */
  readonly legCount: number;
  readonly evidence: readonly string[];
}

/** An operator's decision about two markets, which overrides the model. `forbidden`: the markets never match. */
export interface MatchOverride {
  readonly a: string;
  readonly b: string;
  readonly decision: "identical" | "inverse" | "forbidden";
}

/**
 * What a language model says about two markets whose match is uncertain. It changes the probability of the match, but
 * never makes a match of two questions with different numbers, dates or entities.
 */
export interface MatchJudgement {
  readonly a: string;
  readonly b: string;
  /** `neither`: the questions do not always resolve alike or opposite. Null withdraws an earlier judgement. */
  readonly relation: "identical" | "inverse" | "neither" | null;
  /** Sentence for the evidence of the pair. */
  readonly evidence: string;
}

/** Changes of the pairs since the previous update. A changed pair is in `removed` and in `added`. */
export interface MatchUpdate {
  readonly added: readonly MarketPair[];
  readonly removed: readonly { readonly a: string; readonly b: string }[];
  readonly addedEvents: readonly EventPair[];
  readonly removedEvents: readonly { readonly a: string; readonly b: string }[];
  /** Ids of candidates whose resolution rules must be read: for the first time, or again after the market changed. */
  readonly rulesWanted: readonly string[];
  /** Number of changed markets that still have to be matched. */
  readonly pendingCount: number;
}
