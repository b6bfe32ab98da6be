import type { MarketRef } from "../../../domain/market-name.ts";
import type { Analysis, EstimateChanges, PriceGaps, ResearchView } from "../../../engine/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { ResearchOptions, ResearchOutcome, ResearchQuestion } from "../research/index.ts";

/** Whether an analysis can be used (`freshnessOf`). */
export type Freshness = "fresh" | "stale" | "expired";
export const FRESHNESS_LEVELS: readonly Freshness[] = ["fresh", "stale", "expired"];

/** light: without research. full: with research. */
export type AnalysisType = "light" | "full";
export const ANALYSIS_TYPES: readonly AnalysisType[] = ["light", "full"];

export type RunStatus = "running" | "complete" | "error";
export const RUN_STATUSES: readonly RunStatus[] = ["running", "complete", "error"];

/** One analysis of one market, from the request to its end. Times are Unix milliseconds. */
export interface AnalysisRun extends MarketRef {
  readonly analysisId: string;
  readonly status: RunStatus;
  /** Why the run ended without a result; null unless the status is `error`. */
  readonly errorMessage: string | null;
  readonly type: AnalysisType;
  readonly requestedAt: number;
}

export interface StartedRun extends Omit<AnalysisRun, "status" | "errorMessage"> {
  /** Number of starts, including this one. */
  readonly attempts: number;
  /** Fencing token: the worker may change the run only while this is the run's latest token. */
  readonly fence: number;
  readonly startedAt: number;
  /** State that the research of an earlier attempt stored; null if there is none. */
  readonly researchState: string | null;
}

export interface ResearchSummary {
  /** Null without research. */
  readonly view: ResearchView | null;
  /** Whether the research is that of an earlier analysis of the market. */
  readonly isReused: boolean;
  /** Sentence that explains why the analysis contains no research; null if it contains research. */
  readonly missingReason: string | null;
  readonly risks: readonly string[];
  readonly sourceCount: number;
  readonly models: readonly string[];
  /** Probabilities of the independent trials. */
  readonly ensemble: readonly number[];
  readonly costUsd: number;
}

/** A run that this node has ended, for metrics. */
export interface EndedRun {
  /** Null if the run ended without a result. */
  readonly type: AnalysisType | null;
  readonly outcome: "complete" | "error";
  /** Seconds from its first start; null if the run ended without a result. */
  readonly seconds: number | null;
  /** Cost of the language models in USD. */
  readonly costUsd: number;
}

export interface StoredAnalysis extends MarketRef {
  readonly analysisId: string;
  readonly type: AnalysisType;
  /** Unix milliseconds. */
  readonly analysedAt: number;
  readonly result: AnalysisResult;
}

/** The JSON of a stored analysis. */
export interface AnalysisResult {
  readonly title: string;
  readonly analysis: Analysis;
  readonly research: ResearchSummary;
  /** Time from the first start of the run to its end. */
  readonly durationMs: number;
}

/**
 * A market's latest analysis in memory: the change that it adds to the price, and the figures that determine when it
 * expires.
 */
export interface LatestEstimate extends EstimateChanges {
  /** Price at the time of the analysis, in [0, 1]. */
  readonly marketPrice: number;
  readonly interval: Analysis["interval"];
  readonly gaps: PriceGaps;
  /** Unix milliseconds. */
  readonly analysedAt: number;
}

/** Our estimate of a market at its current price. All figures refer to the same time. */
export interface CurrentEstimate {
  /** Probability of YES, in [0.0001, 0.9999]. */
  readonly probability: number;
  /** Displayed price of the market, in [0, 1]. */
  readonly yesPrice: number;
  /** `probability` minus `yesPrice`. */
  readonly edge: number;
  /** Standard error of the log-odds. */
  readonly standardError: number;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly recommendation: Analysis["recommendation"];
  readonly freshness: Exclude<Freshness, "expired">;
  /** When the market was analysed, Unix milliseconds. */
  readonly analysedAt: number;
  /** Last confirmation of the price or time of the analysis, whichever is later; Unix milliseconds. */
  readonly at: number;
}

/** A stored analysis at the current price: `result.analysis` is recomputed for it. */
export interface CurrentAnalysis extends StoredAnalysis {
  /** The analysis as it was stored. */
  readonly original: Analysis;
  readonly freshness: Freshness;
  /** Time of `result.analysis`, as in `CurrentEstimate`. */
  readonly at: number;
}

/** The outcome of a run's research. The transcript is stored unchanged for audits. */
export interface RunResearchOutcome extends Omit<ResearchOutcome, "transcript"> {
  readonly transcript: unknown;
}

/** Research and its limits. The state of a run is stored unchanged. */
export interface ResearchRunner {
  /** Maximum cost of one run. */
  readonly budgetUsd: number;
  /**
   * No research is started if the analyses of the last 24 hours have cost this much. Running research may exceed it.
   */
  readonly dailyBudgetUsd: number;
  /** Time limit of the research of one attempt, in milliseconds. */
  readonly deadlineMs: number;
  run(
    question: ResearchQuestion,
    options: Omit<ResearchOptions, "onState"> & { readonly onState: (state: unknown) => Promise<void> },
  ): Promise<RunResearchOutcome>;
}

/** An analysis that is younger than this is `fresh`. */
export const FRESH_MS_MAX = 24 * HOUR_MS;
