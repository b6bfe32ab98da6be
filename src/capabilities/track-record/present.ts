import { toCents } from "../../domain/usd.ts";
import { sumUsd } from "../../trading/index.ts";
import { type BookReport, HISTORY_DAYS_MAX, type PerformanceMode, type TimedReport } from "./model.ts";

/** Adding 0 turns -0 into 0. */
const cents = (usd: number): number => toCents(usd) + 0;

const toTimestamp = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

export function presentPerformance(mode: PerformanceMode, { report, generatedAt }: TimedReport) {
  const { performance, markets, firstTradeAt, isTruncated } = report;
  const { totalTrades, resolvedTrades, winRate, totalPnlUsd, roiPct, averageEdge } = performance;
  return {
    mode,
    total_trades: totalTrades,
    resolved_trades: resolvedTrades,
    open_trades: totalTrades - resolvedTrades,
    ...(markets === undefined ? null : { markets }),
    win_rate: winRate,
    total_pnl: cents(totalPnlUsd),
    roi_pct: roiPct,
    avg_edge: averageEdge,
    max_drawdown: cents(performance.maxDrawdownUsd),
    sharpe_ratio: performance.sharpeRatio,
    ...(firstTradeAt === undefined ? null : { first_trade_at: toTimestamp(firstTradeAt) }),
    ...(isTruncated === undefined ? null : { truncated: isTruncated }),
    generated_at: new Date(generatedAt).toISOString(),
  };
}

export function presentDays({ days }: BookReport) {
  let cumulativeUsd = 0;
  return days
    .map(({ date, pnlUsd, enteredTrades, resolvedTrades, wonTrades }) => {
      cumulativeUsd = sumUsd([cumulativeUsd, pnlUsd]);
      return {
        date,
        pnl: cents(pnlUsd),
        cumulative_pnl: cents(cumulativeUsd),
        trades: enteredTrades,
        win_rate: resolvedTrades === 0 ? null : wonTrades / resolvedTrades,
      };
    })
    .slice(-HISTORY_DAYS_MAX);
}
