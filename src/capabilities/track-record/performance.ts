import { BackgroundJobs } from "../../ingest/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { type DayTotals, startOfUtcDate, summarise, utcDate } from "../../trading/index.ts";
import { readQuestions } from "../questions/index.ts";
import { selectDays, selectProgress, selectVersion } from "./day-queries.ts";
import { computeOpenPeriod, startOfNextDay } from "./day-totals.ts";
import type { BookReport, TimedReport } from "./model.ts";
import { selectResolvedMarkets, selectResolvedTotals } from "./total-queries.ts";

const DAY_MS = 86_400_000;
const REFRESH_PAUSE_MS = 60_000;

export interface PerformancePorts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Computes the performance of the shadow book once a minute and keeps it in memory, so that reads need no database. */
export function createShadowPerformance({ database, clock, log }: PerformancePorts) {
  const jobs = new BackgroundJobs(clock, log);
  let latest: TimedReport | null = null;
  let version = "";
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
    latest = { report: await buildReport(database, now), generatedAt: now };
    version = currentVersion;
    return latest;
  };
  /** Recomputes the performance. Concurrent calls share one computation. */
  const refresh = (): Promise<TimedReport> => {
    refreshing ??= compute().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };

  return {
    /** Recomputes the performance if the book has changed. */
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

async function buildReport(database: Database, now: number): Promise<BookReport> {
  const { markets, ...resolved } = await selectResolvedTotals(database);
  const closed = await selectDays(database);
  const { firstTradeAt } = await selectProgress(database);
  const open = firstTradeAt === null ? [] : await computeOpenDays(database, closed, firstTradeAt, now);
  const days = [...closed, ...open];
  const entered = days.reduce((sum, { enteredTrades }) => sum + enteredTrades, 0);
  // A trade may be entered and resolved between the statements. It is then in `resolved`, but not in `entered`.
  const totals = { totalTrades: Math.max(entered, resolved.resolvedTrades), ...resolved };
  const questions = (await readQuestions(database)).count(await selectResolvedMarkets(database));
  return { performance: summarise(totals, days, closed), days, markets, questions, firstTradeAt };
}

/** Returns the totals of the days that are not closed, up to the current one. A day is closed minutes after its end. */
async function computeOpenDays(
  database: Database,
  closed: readonly DayTotals[],
  firstTradeAt: number,
  now: number,
): Promise<DayTotals[]> {
  const days: DayTotals[] = [];
  const last = closed.at(-1);
  const firstDay = last === undefined ? startOfUtcDate(utcDate(firstTradeAt)) : startOfNextDay(last.date);
  for (let fromMs = firstDay; fromMs <= now; fromMs += DAY_MS) {
    // The clocks of the nodes differ, so an event can have a time after the current day. It counts on the current day.
    const isLast = fromMs + DAY_MS > now;
    const toMs = isLast ? Number.MAX_SAFE_INTEGER : fromMs + DAY_MS;
    days.push(await computeOpenPeriod(database, { date: utcDate(fromMs), fromMs, toMs }));
  }
  return days;
}
