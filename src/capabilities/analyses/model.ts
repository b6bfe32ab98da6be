import type { VenueId } from "../../domain/market.ts";
import type { Analysis, ResearchView } from "../../engine/index.ts";

/** light: without research. full: with research. */
export type AnalysisType = "light" | "full";
export const ANALYSIS_TYPES: readonly AnalysisType[] = ["light", "full"];

export type RunStatus = "running" | "complete" | "error";
export const RUN_STATUSES: readonly RunStatus[] = ["running", "complete", "error"];

/** One analysis of one market, from the request to its end. Times are Unix milliseconds. */
export interface AnalysisRun {
  readonly analysisId: string;
  readonly venue: VenueId;
  readonly marketId: string;
  readonly status: RunStatus;
  /** Why the run ended without a result; null unless the status is `error`. */
  readonly errorMessage: string | null;
  readonly type: AnalysisType;
  readonly requestedAt: number;
}

/** A run that a worker has started. */
export interface StartedRun extends Omit<AnalysisRun, "status" | "errorMessage"> {
  /** Number of starts, including this one. */
  readonly attempts: number;
  /** The worker may change the run only while this is the run's latest fence. */
  readonly fence: number;
  /** When the run was first started. */
  readonly startedAt: number;
  /** What the research of an earlier attempt has stored; null if there is none. */
  readonly researchState: string | null;
}

/** Facts about the research of an analysis. */
export interface ResearchFacts {
  /** Sentence that says why the analysis contains no research; null if it does. */
  readonly missingReason: string | null;
  readonly risks: readonly string[];
  readonly sourceCount: number;
  readonly models: readonly string[];
  /** Probabilities of the independent trials. */
  readonly ensemble: readonly number[];
  readonly costUsd: number;
}

/** Everything that is stored of an analysis. */
export interface StoredAnalysis {
  readonly analysisId: string;
  readonly venue: VenueId;
  readonly marketId: string;
  readonly type: AnalysisType;
  /** Unix milliseconds. */
  readonly analysedAt: number;
  readonly result: AnalysisResult;
}

/** The part that is stored as JSON. */
export interface AnalysisResult {
  readonly title: string;
  readonly analysis: Analysis;
  readonly research: ResearchFacts;
  /** Time from the first start of the run to its end. */
  readonly durationMs: number;
}

/** What a research run returns. */
export interface ResearchOutcome {
  readonly research: ResearchView | null;
  readonly risks: readonly string[];
  readonly sourceCount: number;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly models: readonly string[];
  readonly ensemble: readonly number[];
  /** Code of the reason why `research` is null; null if it is not. */
  readonly reason: string | null;
  /** The reason as a sentence for clients. */
  readonly reasonText?: string;
  /** Record for audits. Any value that can be written as JSON. */
  readonly transcript: unknown;
}

/** The question that research answers. It contains no price: trials must not see it. */
export interface ResearchQuestion {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly title: string;
  /** Plain text of the resolution rules; null if unknown. */
  readonly rules: string | null;
  readonly category: string | null;
  /** Unix milliseconds; null if unknown. */
  readonly closeAt: number | null;
  /** Evidence that was published later must not be used; Unix milliseconds. */
  readonly asOf: number;
}

/** Researches a question with language models. */
export interface ResearchRunner {
  run(
    question: ResearchQuestion,
    options: {
      readonly signal: AbortSignal;
      /** Unix milliseconds. */
      readonly deadlineAt: number;
      readonly budgetUsd: number;
      /** What `onState` was last given for this run by this or an earlier worker; null at first. */
      readonly savedState: unknown;
      /** Stores the state between stages. Rejects if another worker has taken the run over. */
      readonly onState: (state: unknown) => Promise<void>;
    },
  ): Promise<ResearchOutcome>;
}

/** Age up to which an analysis is fresh, and up to which it is stale. */
export const FRESH_MS_MAX = 24 * 3_600_000;
export const STALE_MS_MAX = 72 * 3_600_000;
