import { BackgroundJobs } from "../../../lib/periodic-job.ts";
import type { Database } from "../../../ports/database.ts";
import { summarisePerformance, sumUsd, type TradeTotals, utcDate } from "../../../trading/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { readQuestions } from "../../markets/questions/index.ts";
import { selectDays, selectProgress, selectVersion } from "./day-queries.ts";
import { computeDay, listOpenDays } from "./day-totals.ts";
import type { PerformanceReport, ScheduledReport, TimedPerformanceReport } from "./model.ts";
import {
  type RequestedTotals,
  selectRequestedTotals,
  selectResolvedMarkets,
  selectResolvedTotals,
} from "./total-queries.ts";

const REFRESH_PAUSE_MS = 60_000;

type PerformanceDependencies = Pick<MarketDependencies, "database" | "clock" | "log">;

/** Computes the performance of the shadow book once a minute and keeps it in memory, so that reads need no database. */
export function createShadowPerformance({ database, clock, log }: PerformanceDependencies) {
  const jobs = new BackgroundJobs(clock, log);
  let latest: TimedPerformanceReport | null = null;
  let version = "";
  let refreshing: Promise<TimedPerformanceReport> | null = null;

  const compute = async (): Promise<TimedPerformanceReport> => {
    const now = clock.now();
    // The version contains the date, because the last day of the series is the current day.
    const currentVersion = `${await selectVersion(database)} ${utcDate(now)}`;
    if (latest !== null && currentVersion === version) {
      latest = { ...latest, generatedAt: now };
      return latest;
    }
    latest = { report: await buildReport(database, now), generatedAt: now };
    version = currentVersion;
    return latest;
  };
  /** Recomputes the performance. Concurrent calls share one computation. */
  const refresh = (): Promise<TimedPerformanceReport> => {
    refreshing ??= compute().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };

  return {
    /** Recomputes the performance if the shadow book has changed. */
    refresh,
    /** Returns the last computed performance; computes it if there is none. @throws AppError `store_unavailable` */
    async read(): Promise<TimedPerformanceReport> {
      return latest ?? refresh();
    },
    get failingJobs(): readonly string[] {
      return jobs.failing;
    },
    start(): void {
      jobs.start("shadow_performance", REFRESH_PAUSE_MS, refresh);
    },
    stop(): Promise<void> {
      return jobs.stop();
    },
  };
}

async function buildReport(database: Database, now: number): Promise<PerformanceReport> {
  const { markets, ...resolved } = await selectResolvedTotals(database);
  const closed = await selectDays(database);
  const { firstTradeAt } = await selectProgress(database);
  const days = [...closed];
  if (firstTradeAt !== null)
    for (const period of listOpenDays(closed.at(-1)?.date ?? null, firstTradeAt, now))
      days.push(await computeDay(database, period));
  const entered = days.reduce((sum, { enteredTrades }) => sum + enteredTrades, 0);
  // A trade that is entered and resolved between the statements is in `resolved`, but not in `entered`.
  const totals = { totalTrades: Math.max(entered, resolved.resolvedTrades), ...resolved };
  const performance = summarisePerformance(totals, days, closed);
  const requested = await selectRequestedTotals(database);
  const questions = await readQuestions(database);
  const resolvedMarkets = await selectResolvedMarkets(database);
  const scheduledMarkets = resolvedMarkets.filter(({ isScheduled }) => isScheduled);
  return {
    performance,
    days,
    markets,
    questions: questions.count(resolvedMarkets),
    scheduled: {
      ...withoutRequested(totals, performance.totalPnlUsd, requested),
      markets: scheduledMarkets.length,
      questions: questions.count(scheduledMarkets),
    },
    firstTradeAt,
  };
}

function withoutRequested(
  all: TradeTotals,
  totalPnlUsd: number,
  requested: RequestedTotals,
): Omit<ScheduledReport, "markets" | "questions"> {
  // Trades may be entered or resolved between the statements.
  const subtract = (total: number, part: number) => Math.max(0, total - part);
  const resolvedTrades = subtract(all.resolvedTrades, requested.resolvedTrades);
  const edges = (all.averageEdge ?? 0) * all.resolvedTrades - (requested.averageEdge ?? 0) * requested.resolvedTrades;
  const costUsd = sumUsd([all.resolvedCostUsd, -requested.resolvedCostUsd]);
  const isResolved = resolvedTrades > 0 && costUsd > 0;
  return {
    totalTrades: Math.max(resolvedTrades, subtract(all.totalTrades, requested.totalTrades)),
    resolvedTrades,
    totalPnlUsd: sumUsd([totalPnlUsd, -requested.totalPnlUsd]),
    winRate: isResolved ? Math.min(1, subtract(all.wonTrades, requested.wonTrades) / resolvedTrades) : null,
    roiPct: isResolved ? (100 * sumUsd([all.resolvedPnlUsd, -requested.resolvedPnlUsd])) / costUsd : null,
    averageEdge: isResolved ? edges / resolvedTrades : null,
  };
}
