import type { Category } from "../../../domain/category.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { ReliabilityBin } from "../../../quant/calibration.ts";

export const CALIBRATION_MODES = ["shadow", "live"] as const;
/** shadow: probabilities of our analyses. live: probabilities that the trades reported by agents imply. */
export type CalibrationMode = (typeof CALIBRATION_MODES)[number];

export const CALIBRATION_PERIODS = ["all", "7d", "30d", "90d"] as const;
/** Only markets that were settled in this time are counted. */
export type CalibrationPeriod = (typeof CALIBRATION_PERIODS)[number];

export interface CalibrationFilter {
  readonly mode: CalibrationMode;
  readonly period: CalibrationPeriod;
  /** Null counts all categories. */
  readonly category: Category | null;
}

export const PERIOD_MS: Readonly<Record<CalibrationPeriod, number>> = {
  all: Number.POSITIVE_INFINITY,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
  "90d": 90 * DAY_MS,
};

export type Horizon = "under_24h" | "1d_7d" | "7d_30d" | "30d_90d" | "over_90d";

/**
 * Ranges of the time from a forecast to the resolution: at least `fromMs`, below `toMs`. The shortest time is 1 ms,
 * because a forecast at the time of the resolution may use the result.
 */
export const HORIZONS: readonly { readonly name: Horizon; readonly fromMs: number; readonly toMs: number }[] = [
  { name: "under_24h", fromMs: 1, toMs: DAY_MS },
  { name: "1d_7d", fromMs: DAY_MS, toMs: 7 * DAY_MS },
  { name: "7d_30d", fromMs: 7 * DAY_MS, toMs: 30 * DAY_MS },
  { name: "30d_90d", fromMs: 30 * DAY_MS, toMs: 90 * DAY_MS },
  { name: "over_90d", fromMs: 90 * DAY_MS, toMs: 36_500 * DAY_MS },
];

/** The latest settlement of a market. */
export interface SettledMarket extends MarketRef {
  /** Payout of one YES contract, in [0, 1]. */
  readonly value: number;
  /** Unix milliseconds. */
  readonly resolvedAt: number;
}

/** Columns of a sample, and the type of their values. */
export const SAMPLE_COLUMNS = {
  /** Number of the market within the sample. */
  market: Int32Array,
  /** Number of the independent question; equal for markets that ask the same question. */
  question: Int32Array,
  /** Index in `HORIZONS`. */
  horizon: Uint8Array,
  /** Index in `CATEGORIES`; `NO_CATEGORY` if it is unknown. */
  category: Uint8Array,
  probability: Float64Array,
  /** Price of the market at the time of the forecast; NaN if it is unknown. */
  marketPrice: Float64Array,
  outcome: Float64Array,
  /** Unix milliseconds. */
  resolvedAt: Float64Array,
} as const;

type Columns = typeof SAMPLE_COLUMNS;
/** At most one forecast per market and horizon, in columns. */
export type CalibrationSample = { readonly [Name in keyof Columns]: ReturnType<Columns[Name]["from"]> };

export const NO_CATEGORY = 255;

/** Counts and scores of a sample. The scores are null below 30 independent questions. */
export interface CalibrationScores {
  /** Forecasts: at most one per market and horizon. */
  readonly sampleSize: number;
  readonly markets: number;
  /** Independent questions: markets that ask the same one count once. */
  readonly questions: number;
  readonly brierScore: number | null;
  /** Scores of the markets' prices at the same times; null if they are unknown. */
  readonly marketBrierScore: number | null;
  readonly brierSkillScore: number | null;
  readonly logLoss: number | null;
  readonly marketLogLoss: number | null;
  readonly expectedCalibrationError: number | null;
}

/** Brier score of the forecasts minus Brier score of the prices. Below 0, the forecasts are better. */
export interface BrierDifference {
  readonly value: number;
  /** 95% interval over resampled questions; null with fewer than two of them. */
  readonly low: number | null;
  readonly high: number | null;
}

/** How well the probabilities of settled markets were calibrated. */
export interface CalibrationReport {
  readonly total: CalibrationScores;
  /** Null with fewer than 30 independent questions, and if the markets' prices are unknown. */
  readonly brierDifference: BrierDifference | null;
  /** Always ten bins. Below 30 independent questions, all figures except the counts are null. */
  readonly bins: readonly ReliabilityBin[];
  /** The categories with forecasts; null stands for an unknown category. */
  readonly byCategory: readonly (CalibrationScores & { readonly category: Category | null })[];
  /** All horizons. */
  readonly byHorizon: readonly (CalibrationScores & { readonly horizon: Horizon })[];
}

export interface Calibration extends CalibrationFilter, CalibrationReport {
  /** When the stored forecasts were read, Unix milliseconds. */
  readonly generatedAt: number;
}
