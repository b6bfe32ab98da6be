import { QUESTIONS_REQUIRED } from "../../../quant/calibration.ts";
import type { DayTotals, Performance, Trade } from "../../../trading/index.ts";

/** The trades that a performance covers. shadow: trades that our signals recommend. live: the caller's own trades. */
export const PERFORMANCE_MODES = ["shadow", "live"] as const;
export type PerformanceMode = (typeof PERFORMANCE_MODES)[number];

/** Maximum number of days in a performance history. Earlier days of a longer book are left out. */
export const HISTORY_DAYS_MAX = 400;

/** The record of the trades that nobody requested: what the signals of the scheduled analyses would have earned. */
export interface ScheduledReport {
  readonly totalTrades: number;
  readonly resolvedTrades: number;
  readonly markets: number;
  readonly questions: number;
  readonly totalPnlUsd: number;
  /** All three are null without resolved trades. */
  readonly winRate: number | null;
  readonly roiPct: number | null;
  readonly averageEdge: number | null;
}

/** Performance of a book of trades, and the days that it is computed from. */
export interface BookReport {
  readonly performance: Performance;
  /** Oldest first, without gaps; the last one may be the current day. */
  readonly days: readonly DayTotals[];
  /** Markets of the resolved trades; omitted if unknown. */
  readonly markets?: number;
  /** Independent questions of the resolved trades: markets that ask the same one count once. Omitted if unknown. */
  readonly questions?: number;
  /** The same record without the requested trades; omitted if the book has no such distinction. */
  readonly scheduled?: ScheduledReport;
  /** Unix milliseconds; null without trades, omitted if unknown. */
  readonly firstTradeAt?: number | null;
  /** Whether older trades exist that were not read; omitted if there cannot be any. */
  readonly isTruncated?: boolean;
}

/** Whether a report may show figures about skill. Customers see those of their own trades always. */
export const hasSkillFigures = ({ questions }: Pick<BookReport, "questions">): boolean =>
  questions === undefined || questions >= QUESTIONS_REQUIRED;

/** A report and when it was computed, in Unix milliseconds. */
export interface TimedReport {
  readonly report: BookReport;
  readonly generatedAt: number;
}

/** A trade of the shadow book with its stored result. */
export interface StoredTrade extends Trade {
  /** All null while the trade is open. */
  readonly settledAt: number | null;
  readonly payoutUsd: number | null;
  readonly pnlUsd: number | null;
}

/** A difference between a stored value and the value recomputed from trades, marks and settlements. */
export interface Mismatch {
  /** Trade id, UTC day, or "totals". */
  readonly id: string;
  readonly stored: string;
  readonly computed: string;
}

/** Result of a verification of the shadow book. */
export interface Verification {
  readonly trades: number;
  /** Closed days. */
  readonly days: number;
  /** The recomputed days that are not closed, the current one last. */
  readonly openDays: readonly DayTotals[];
  /** Sum of the recomputed days in USD, those that are not closed included. */
  readonly pnlUsd: number;
  readonly mismatchCount: number;
  /** At most the first 100. */
  readonly mismatches: readonly Mismatch[];
}
