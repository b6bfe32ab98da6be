import { BackgroundJobs } from "../../ingest/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { type DayTotals, startOfUtcDate, summarise, utcDate } from "../../trading/index.ts";
import { countTrades, selectDays, selectResolvedTotals, selectVersion } from "./day-queries.ts";
import { computeOpenPeriod, startOfNextDay } from "./day-totals.ts";
import type { BookReport, TimedReport } from "./model.ts";

const REFRESH_PAUSE_MS = 60_000;

export interface PerformancePorts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** The performance of the shadow book, in memory and at most about a minute old, so that reads need no database. */
export function createShadowPerformance({ database, clock, log }: PerformancePorts) {
  const jobs = new BackgroundJobs(clock, log);
  let latest: TimedReport | null = null;
  let version = "";
  let resolved: Awaited<ReturnType<typeof selectResolvedTotals>> | null = null;
  let lastSettlement = -1;
  let refreshing: Promise<TimedReport> | null = null;

  const compute = async (): Promise<TimedReport> => {
    const now = clock.now();
    const current = await selectVersion(database);
    // The date is part of the version: the last day of the series is the current one.
    const currentVersion = JSON.stringify([current, utcDate(now)]);
    if (latest !== null && currentVersion === version) {
      latest = { ...latest, generatedAt: now };
      return latest;
    }
    if (resolved === null || current.lastSettlement !== lastSettlement) resolved = await selectResolvedTotals(database);
    lastSettlement = current.lastSettlement;
    latest = { report: await buildReport(database, resolved, now), generatedAt: now };
    version = currentVersion;
    return latest;
  };
  /** Calls at the same time share one computation. */
  const refresh = (): Promise<TimedReport> => {
    refreshing ??= compute().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };

  return {
    /** Computes the performance again if the book has changed. */
    refresh,
    /** Returns the last computed performance; computes it if there is none. @throws AppError `store_unavailable` */
    async read(): Promise<TimedReport> {
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

async function buildReport(
  database: Database,
  { markets, ...resolved }: Awaited<ReturnType<typeof selectResolvedTotals>>,
  now: number,
): Promise<BookReport> {
  const closed = await selectDays(database);
  const { count, firstTradeAt } = await countTrades(database);
  const open = firstTradeAt === null ? null : await computeCurrentDay(database, closed, firstTradeAt, now);
  const days = open === null ? closed : [...closed, open];
  const totals = { totalTrades: Math.max(count, resolved.resolvedTrades), ...resolved };
  // The current day is not over, so it is not part of the daily variation.
  const { sharpeRatio } = summarise(totals, closed);
  return { performance: { ...summarise(totals, days), sharpeRatio }, days, markets, firstTradeAt };
}

/** Returns the totals since the last closed day under the current date; null if the current day is closed. */
async function computeCurrentDay(
  database: Database,
  closed: readonly DayTotals[],
  firstTradeAt: number,
  now: number,
): Promise<DayTotals | null> {
  const last = closed.at(-1);
  const fromMs = last === undefined ? startOfUtcDate(utcDate(firstTradeAt)) : startOfNextDay(last.date);
  if (fromMs > now) return null;
  const open = await computeOpenPeriod(database, { date: utcDate(fromMs), fromMs, toMs: Number.MAX_SAFE_INTEGER });
  return { ...open, date: utcDate(now) };
}
