import { toCents } from "../../../domain/usd.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { SKILL_QUESTIONS_MIN } from "../../../quant/calibration.ts";
import { sumUsd } from "../../../trading/index.ts";
import {
  HISTORY_DAYS_MAX,
  hasSkillFigures,
  type PerformanceMode,
  type PerformanceReport,
  type ScheduledReport,
  type TimedPerformanceReport,
} from "./model.ts";

export function presentPerformance(mode: PerformanceMode, { report, generatedAt }: TimedPerformanceReport) {
  const { performance, markets, questions, scheduled, firstTradeAt, isTruncated } = report;
  const { totalTrades, resolvedTrades, totalPnlUsd } = performance;
  const skill = hasSkillFigures(report) ? performance : null;
  return {
    mode,
    total_trades: totalTrades,
    resolved_trades: resolvedTrades,
    open_trades: totalTrades - resolvedTrades,
    ...(markets === undefined ? null : { markets }),
    ...(questions === undefined ? null : { independent_questions: questions, questions_required: SKILL_QUESTIONS_MIN }),
    win_rate: skill?.winRate ?? null,
    total_pnl: toCents(totalPnlUsd),
    roi_pct: skill?.roiPct ?? null,
    avg_edge: skill?.averageEdge ?? null,
    max_drawdown: toCents(performance.maxDrawdownUsd),
    sharpe_ratio: skill?.sharpeRatio ?? null,
    ...(scheduled === undefined ? null : { without_requested: presentScheduled(scheduled) }),
    ...(firstTradeAt === undefined ? null : { first_trade_at: firstTradeAt === null ? null : toIso(firstTradeAt) }),
    ...(isTruncated === undefined ? null : { truncated: isTruncated }),
    generated_at: toIso(generatedAt),
  };
}

function presentScheduled(scheduled: ScheduledReport) {
  const { totalTrades, resolvedTrades, markets, questions, totalPnlUsd } = scheduled;
  const skill = hasSkillFigures(scheduled) ? scheduled : null;
  return {
    total_trades: totalTrades,
    resolved_trades: resolvedTrades,
    open_trades: totalTrades - resolvedTrades,
    markets,
    independent_questions: questions,
    win_rate: skill?.winRate ?? null,
    total_pnl: toCents(totalPnlUsd),
    roi_pct: skill?.roiPct ?? null,
    avg_edge: skill?.averageEdge ?? null,
  };
}

export function presentDays(report: PerformanceReport) {
  const isSkillShown = hasSkillFigures(report);
  let cumulativeUsd = 0;
  return report.days
    .map(({ date, pnlUsd, enteredTrades, resolvedTrades, wonTrades }) => {
      cumulativeUsd = sumUsd([cumulativeUsd, pnlUsd]);
      return {
        date,
        pnl: toCents(pnlUsd),
        cumulative_pnl: toCents(cumulativeUsd),
        trades: enteredTrades,
        win_rate: resolvedTrades === 0 || !isSkillShown ? null : wonTrades / resolvedTrades,
      };
    })
    .slice(-HISTORY_DAYS_MAX);
}
