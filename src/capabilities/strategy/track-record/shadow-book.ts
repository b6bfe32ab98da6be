import type { EventLog } from "../../../event-log/index.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { BackgroundJobs } from "../../../lib/periodic-job.ts";
import type { ShadowEntry } from "../../../trading/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { createDayCloser, isSealed } from "./close-days.ts";
import type { Verification } from "./model.ts";
import { createSettler } from "./settle.ts";
import { insertTrade, lockShadowBook, reserveShadowBookRun } from "./trade-queries.ts";
import { verifyShadowBook } from "./verify.ts";

const PAUSE_MS = 60_000;
const RECONCILE_PAUSE_MS = HOUR_MS;
const RETENTION_PAUSE_MS = DAY_MS;

interface ShadowBookDependencies extends Pick<MarketDependencies, "database" | "board" | "clock" | "log"> {
  readonly eventLog: Pick<EventLog, "readAfter">;
}

/** The shadow book: every recommended trade, its result, and the totals of each UTC day. */
export function createShadowBook(ports: ShadowBookDependencies) {
  const { database, clock, log } = ports;
  const jobs = new BackgroundJobs(clock, log);
  const isStopping = () => jobs.isStopping;
  const settler = createSettler({ ...ports, isStopping });
  const closer = createDayCloser({ ...ports, isStopping });

  /** Settles the markets of new events, closes the days that have ended, and values the open trades. */
  const run = async (): Promise<void> => {
    await settler.followEvents();
    await closer.closeDays();
    await closer.markOpenTrades();
  };

  return {
    /**
     * Adds a trade. Returns false, and changes nothing, if its analysis already has a trade of this side, if the market
     * was settled or closed before the trade, or if the UTC day of the trade is closed.
     */
    enter(entry: ShadowEntry): Promise<boolean> {
      // The store accepts only integers as milliseconds.
      const rounded = { ...entry, at: Math.round(entry.at) };
      return database.transaction(async (transaction) => {
        const sealedDay = await lockShadowBook(transaction);
        return !isSealed(rounded.at, sealedDay) && (await insertTrade(transaction, rounded));
      });
    },
    run,
    reconcile: settler.reconcile,
    deleteOldMarks: closer.deleteOldMarks,
    /** Recomputes the whole shadow book and compares it with the stored values. */
    verify: (): Promise<Verification> => verifyShadowBook(database, clock.now()),
    /** Names of the jobs whose last run failed. */
    get failingJobs(): readonly string[] {
      return jobs.failing;
    },
    /** Starts the jobs. Several nodes may run them: a node reserves each run, and concurrent runs are harmless. */
    start(): void {
      jobs.start("shadow_book", PAUSE_MS, async () => {
        if (await reserveShadowBookRun(database, clock.now(), PAUSE_MS)) await run();
      });
      jobs.start("shadow_book_reconciliation", RECONCILE_PAUSE_MS, () => settler.reconcile());
      jobs.start("shadow_book_retention", RETENTION_PAUSE_MS, () => closer.deleteOldMarks());
    },
    stop: (): Promise<void> => jobs.stop(),
  };
}
