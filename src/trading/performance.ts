import { sumUsd } from "./book.ts";
import type { DayTotals, Performance, TradeTotals } from "./model.ts";

const DAYS_PER_YEAR = 365;
/** Minimum number of days for a Sharpe ratio; with fewer, it is mostly noise. */
const SHARPE_DAYS_MIN = 30;

/**
 * Summarises the performance of trades. The definitions are in `Performance`.
 *
 * @param days  in ascending order without gaps, as `replayTradeHistory` returns them
 * @param endedDays  the completed days, for the Sharpe ratio: the profit of an incomplete day varies less
 * @throws RangeError if the counts of the totals contradict each other, or a profit is not finite
 * @example summarisePerformance(totals, []).winRate; // null without resolved trades, never 0
 */
export function summarisePerformance(
  totals: TradeTotals,
  days: readonly Pick<DayTotals, "pnlUsd">[],
  endedDays: readonly Pick<DayTotals, "pnlUsd">[] = days,
): Performance {
  const { totalTrades, resolvedTrades, wonTrades, resolvedCostUsd, resolvedPnlUsd, averageEdge } = totals;
  if (!(0 <= wonTrades && wonTrades <= resolvedTrades && resolvedTrades <= totalTrades))
    throw new RangeError("a book has at most as many won as resolved trades, and at most as many resolved as trades");
  if (resolvedTrades > 0 && !(resolvedCostUsd > 0)) throw new RangeError("the cost of resolved trades must be above 0");
  const profits = days.map(({ pnlUsd }) => pnlUsd);
  if (!profits.every(Number.isFinite)) throw new RangeError("the profit of a day must be finite");
  const isResolved = resolvedTrades > 0;
  return {
    totalTrades,
    resolvedTrades,
    winRate: isResolved ? wonTrades / resolvedTrades : null,
    totalPnlUsd: sumUsd(profits),
    roiPct: isResolved ? (100 * resolvedPnlUsd) / resolvedCostUsd : null,
    averageEdge: isResolved ? averageEdge : null,
    maxDrawdownUsd: maxDrawdown(profits),
    sharpeRatio: isResolved ? sharpeRatio(endedDays.map(({ pnlUsd }) => pnlUsd)) : null,
  };
}

/** Returns the largest decline of the cumulative sum from its earlier maximum (at least 0), 0 or negative. */
function maxDrawdown(profits: readonly number[]): number {
  let cumulative = 0;
  let maximum = 0;
  let drawdown = 0;
  for (const profit of profits) {
    cumulative = sumUsd([cumulative, profit]);
    maximum = Math.max(maximum, cumulative);
    drawdown = Math.min(drawdown, sumUsd([cumulative, -maximum]));
  }
  return drawdown;
}

/** Sharpe (1994), "The Sharpe Ratio", Journal of Portfolio Management 21(1), with a risk-free rate of 0. */
function sharpeRatio(profits: readonly number[]): number | null {
  if (profits.length < SHARPE_DAYS_MIN || profits.every((profit) => profit === profits[0])) return null;
  const mean = profits.reduce((sum, profit) => sum + profit, 0) / profits.length;
  const variance = profits.reduce((sum, profit) => sum + (profit - mean) ** 2, 0) / (profits.length - 1);
  return (mean / Math.sqrt(variance)) * Math.sqrt(DAYS_PER_YEAR);
}
