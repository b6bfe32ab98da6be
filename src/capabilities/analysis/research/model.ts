import type { ResearchView } from "../../../engine/index.ts";
import type { ModelCall } from "../../../prompting/ask.ts";

/** The question of a market. It never contains the price, so that the trials are blind. */
export interface ResearchQuestion {
  readonly venue: string;
  readonly marketId: string;
  readonly title: string;
  /** Plain text; null if unknown. */
  readonly rules: string | null;
  /** Label of the outcome that YES stands for, if the title does not contain it. */
  readonly outcomeLabel?: string | null;
  /** Unix milliseconds; null if unknown. */
  readonly closeAt: number | null;
  /** Pages published later are not read. A resumed run keeps its original value. Unix milliseconds. */
  readonly asOf: number;
}

export type EvidenceDirection = "yes" | "no";
/** Classes of likelihood ratios (`LIKELIHOOD_RATIOS`). */
export type EvidenceStrength = "weak" | "moderate" | "strong" | "decisive";
export type SourceReliability = "low" | "medium" | "high";

/** A statement about the question that a trial found in a document. */
export interface Claim {
  readonly documentId: string;
  readonly direction: EvidenceDirection;
  readonly strength: EvidenceStrength;
  readonly reliability: SourceReliability;
  /** One sentence. */
  readonly text: string;
}

/** The belief of a trial after a step, in a fixed schema. */
export interface BeliefState {
  /** Stated by the model, in [0.01, 0.99]. */
  readonly probability: number;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly evidence: readonly Claim[];
  readonly openQuestions: readonly string[];
}

/** How a trial approaches the question. */
export type Framing = "base_rate" | "inside_view" | "opposite";

export interface SourceReading {
  /** The independent source that was read in this step. */
  readonly sourceId: string;
  /** The trial's probability before it read this source, computed from its earlier answers and stated in the prompt. */
  readonly shown: number;
  readonly belief: BeliefState;
  /** Number of claims that were dropped because they cite no valid document. */
  readonly droppedClaims: number;
}

export interface Trial {
  readonly framing: Framing;
  /** Belief before any document; null until the model has answered. */
  readonly blind: BeliefState | null;
  readonly readings: readonly SourceReading[];
  /** Sources for which the model gave no valid answer. */
  readonly failedSources: readonly string[];
}

export interface ResearchPlan {
  readonly subQuestions: readonly string[];
  readonly referenceClasses: readonly string[];
  readonly queries: readonly string[];
}

export interface FoundPage {
  readonly url: string;
  readonly title: string;
  readonly publishedAt: number | null;
}

export interface ResearchDocument {
  readonly id: string;
  readonly url: string;
  /** Host without a leading `www.`. */
  readonly host: string;
  readonly title: string;
  /** Cleaned, without passages that an earlier document contains. */
  readonly text: string;
  readonly publishedAt: number | null;
  /** Documents with the same id share a publisher or most of their text, and count as one source. */
  readonly sourceId: string;
  /** Why the document has no weight; null if it counts. */
  readonly excluded: "instructs" | "copy" | null;
}

/** A call of the model with its place in the run. */
export interface CallRecord extends ModelCall {
  readonly step: "plan" | "blind" | "read";
  readonly trial: number | null;
  readonly sourceId: string | null;
}

/** Results and costs of a run so far. Plain JSON: a run continues from it after a restart. */
export interface ResearchState {
  readonly version: 1;
  /** Identifies the question. A state of another question is not used. */
  readonly key: string;
  /** `asOf` of the question at the first start. */
  readonly asOf: number;
  readonly costUsd: number;
  readonly risks: readonly string[];
  readonly plan: ResearchPlan | null;
  readonly found: readonly FoundPage[] | null;
  readonly documents: readonly ResearchDocument[] | null;
  readonly trials: readonly Trial[];
  readonly calls: readonly CallRecord[];
}

export interface ResearchOptions {
  /** Cancels the run, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Unix milliseconds. The run then ends with the evidence that it has. */
  readonly deadlineAt: number;
  /** USD for the whole run, including the costs in the saved state. */
  readonly budgetUsd: number;
  /**
   * Last state of the run before a restart; null starts from the beginning. Any JSON; a state of another format or
   * question is ignored.
   */
  readonly savedState: unknown;
  /** Stores the state. Called after each step. A continued run does not repeat the steps that the state contains. */
  readonly onState: (state: ResearchState) => Promise<void> | void;
}

export type ResearchFailure = "no_model" | "budget" | "deadline" | "model_failed" | "invalid_answers";

export interface ResearchOutcome {
  /** Null if the run has no estimate; `reason` is then set. */
  readonly research: ResearchView | null;
  readonly risks: readonly string[];
  /** Independent sources that at least one trial read. */
  readonly sourceCount: number;
  readonly costUsd: number;
  readonly models: readonly string[];
  /** Each trial's probability. */
  readonly ensemble: readonly number[];
  readonly reason: ResearchFailure | null;
  /** The reason as a sentence for clients; absent without a reason. */
  readonly reasonText?: string;
  /** For audit. Bounded: see `RESEARCH_LIMITS`. */
  readonly transcript: ResearchTranscript;
}

export interface ResearchTranscript {
  readonly plan: ResearchPlan | null;
  readonly documents: readonly (Omit<ResearchDocument, "text"> & {
    readonly excerpt: string;
    readonly characters: number;
  })[];
  readonly trials: readonly Trial[];
  readonly calls: readonly CallRecord[];
}

export const RESEARCH_LIMITS = {
  trials: 5,
  /** Minimum number of trials for an estimate. */
  trialsMin: 3,
  queries: 4,
  hitsPerQuery: 8,
  /** Maximum number of fetched pages, in total and per publisher. */
  pages: 12,
  pagesPerPublisher: 2,
  /** Maximum number of independent sources that each trial reads. */
  sources: 8,
  documentCharacters: 4_000,
  rulesCharacters: 4_000,
  outputTokens: 800,
  answerCharacters: 1_000,
  callMs: 30_000,
  /** Share of a run's time limit in which pages are fetched. */
  gatherShare: 0.35,
  budgetUsd: 0.15,
  deadlineMs: 90_000,
};

export type ResearchLimits = Readonly<Record<keyof typeof RESEARCH_LIMITS, number>>;
