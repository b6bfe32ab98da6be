import { SKILL_QUESTIONS_MIN } from "../../../quant/calibration.ts";
import type { DayTotals, Performance, Trade } from "../../../trading/index.ts";

/** The trades that a performance covers. shadow: trades that our signals recommend. live: the caller's own trades. */
export const PERFORMANCE_MODES = ["shadow", "live"] as const;
export type PerformanceMode = (typeof PERFORMANCE_MODES)[number];

/** Maximum number of days in a performance history. Earlier days are left out. */
export const HISTORY_DAYS_MAX = 400;

/** Track record of scheduled analyses, without trades from customers' requests. */
export interface ScheduledReport {
  readonly totalTrades: number;
  readonly resolvedTrades: number;
  readonly markets: number;
  readonly questions: number;
  readonly totalPnlUsd: number;
  /** The following three figures are null without resolved trades. */
  readonly winRate: number | null;
  readonly roiPct: number | null;
  readonly averageEdge: number | null;
}

/** Performance of trades, and the days from which it is computed. */
export interface PerformanceReport {
  readonly performance: Performance;
  /** Oldest first, without gaps; the last day may be the current day. */
  readonly days: readonly DayTotals[];
  /** Number of markets with resolved trades; omitted if unknown. */
  readonly markets?: number;
  /** Number of independent questions with resolved trades; markets of a question count once. Omitted if unknown. */
  readonly questions?: number;
  /** The same figures without requested trades; omitted if the trades have no such distinction. */
  readonly scheduled?: ScheduledReport;
  /** Unix milliseconds; null without trades, omitted if unknown. */
  readonly firstTradeAt?: number | null;
  /** Whether older trades were not read; omitted if all trades are always read. */
  readonly isTruncated?: boolean;
}

/** Whether a report may contain skill figures. Customers always see the skill figures of their own trades. */
export const hasSkillFigures = ({ questions }: Pick<PerformanceReport, "questions">): boolean =>
  questions === undefined || questions >= SKILL_QUESTIONS_MIN;

/** A report and the time of its computation, in Unix milliseconds. */
export interface TimedPerformanceReport {
  readonly report: PerformanceReport;
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
  readonly days: number;
  /** The recomputed days that are not closed, oldest first; the last is the current day. */
  readonly openDays: readonly DayTotals[];
  /** Sum of all recomputed days in USD, including days that are not closed. */
  readonly pnlUsd: number;
  readonly mismatchCount: number;
  /** The first mismatches, at most 100. */
  readonly mismatches: readonly Mismatch[];
}
