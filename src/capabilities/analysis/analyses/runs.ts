import type { BoardMarket } from "../../../board/index.ts";
import { AppError, rateLimited } from "../../../domain/errors.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { randomBase32 } from "../../../lib/random-text.ts";
import { createSingleFlightCache } from "../../../lib/single-flight-cache.ts";
import type { Transaction } from "../../../ports/database.ts";
import type { JobQueue } from "../../../ports/job-queue.ts";
import type { AnalysisRun, AnalysisType } from "./model.ts";
import type { AnalysesPorts } from "./ports.ts";
import {
  countWaitingRuns,
  insertParticipant,
  insertRun,
  lockRunningRuns,
  type NewRun,
  type QueueLimits,
  requestRunResearch,
  selectRun,
  selectRunDurations,
  selectRunningRun,
} from "./run-queries.ts";

/** Number of base32 characters in the random part of an id: 130 bits. The id alone gives access to the analysis. */
const ID_LENGTH = 26;
const ID_PATTERN = /^plx-[a-z2-7]{26}$/;
const QUEUE_LIMITS: QueueLimits = { waitingMax: 5_000, waitingPerCustomerMax: 1_000 };
/**
 * Maximum number of attempts to join or insert a run. An attempt fails if the market's runs change between two of its
 * statements.
 */
const REQUEST_ATTEMPTS = 3;

/** How long a run is cached, because callers may poll many times a second. */
const RUN_AGE_MS_MAX = 50;
const POLLED_RUNS_MAX = 5_000;
/** Number of recent runs that give the estimated duration, and the maximum age of the estimate. */
const DURATION_RUNS_MAX = 200;
const DURATIONS_AGE_MS_MAX = 10_000;
/** Estimate while no analysis of the type has ended. */
const SECONDS_DEFAULT = 60;

export interface RunJob {
  readonly analysisId: string;
}

/** Adds the job of a run. Runs with a smaller turn are fetched first. */
export const enqueueRun = (queue: JobQueue, transaction: Transaction, run: { analysisId: string; turn: number }) =>
  queue.enqueue(transaction, { data: { analysisId: run.analysisId } satisfies RunJob, priority: -run.turn });

type RunPorts = Pick<AnalysesPorts, "database" | "clock" | "random" | "limits"> & {
  readonly queue: JobQueue;
  /** Type of requested analyses: full if a language model is configured. */
  readonly requestedType: AnalysisType;
};

export interface RunStatusReport {
  readonly run: AnalysisRun;
  /** Estimated time until the run ends; 0 if it has ended. */
  readonly estimatedSeconds: number;
}

export type Runs = ReturnType<typeof createRuns>;

export function createRuns({ database, clock, random, queue, requestedType, limits = QUEUE_LIMITS }: RunPorts) {
  const now = () => clock.monotonic();
  const shareRun = createSingleFlightCache<AnalysisRun | null>({
    maxAgeMsOf: () => RUN_AGE_MS_MAX,
    entriesMax: POLLED_RUNS_MAX,
    now,
  });
  const shareDurations = createSingleFlightCache<Awaited<ReturnType<typeof selectRunDurations>>>({
    maxAgeMsOf: () => DURATIONS_AGE_MS_MAX,
    entriesMax: 1,
    now,
  });
  const estimateSeconds = async (type: AnalysisType): Promise<number> => {
    const durations = await shareDurations("", () => selectRunDurations(database, DURATION_RUNS_MAX));
    return durations.find((duration) => duration.type === type)?.seconds ?? SECONDS_DEFAULT;
  };

  /** Inserts a run and its job. Returns null if the market has such a run already or if the queue is full. */
  const insert = async (transaction: Transaction, parts: Omit<NewRun, "analysisId">) => {
    const run = { ...parts, analysisId: `plx-${randomBase32(random, ID_LENGTH)}` };
    const turn = await insertRun(transaction, run, limits);
    if (turn === null) return null;
    if (run.follows === null) await enqueueRun(queue, transaction, { analysisId: run.analysisId, turn });
    return run.analysisId;
  };

  const assertNotFull = async (transaction: Transaction, customerId: string | null): Promise<void> => {
    const { total, own } = await countWaitingRuns(transaction, customerId);
    if (total >= limits.waitingMax)
      throw new AppError("overloaded", "Too many analyses are waiting; try again in some minutes");
    if (own >= limits.waitingPerCustomerMax)
      throw rateLimited(`You have ${own} waiting analyses, the maximum per customer`, 60_000);
  };

  /** Returns the id of the run that the caller joins, or of a new run; null if the attempt must be repeated. */
  const joinOrInsert = async (
    transaction: Transaction,
    parts: Omit<NewRun, "analysisId" | "follows">,
    isForced: boolean,
  ): Promise<string | null> => {
    const inserted = await insert(transaction, { ...parts, follows: null });
    if (inserted !== null) return inserted;
    const running = await lockRunningRuns(transaction, parts.venue, parts.marketId);
    const current = running.find(({ follows }) => follows === null);
    if (current === undefined) {
      await assertNotFull(transaction, parts.customerId);
      return null;
    }
    const joined = isForced && current.isStarted ? running.find(({ follows }) => follows !== null) : current;
    if (joined === undefined) {
      const follower = await insert(transaction, { ...parts, follows: current.analysisId });
      if (follower === null) await assertNotFull(transaction, parts.customerId);
      return follower;
    }
    if (parts.type === "full" && joined.type === "light")
      await requestRunResearch(transaction, joined.analysisId, parts.customerId);
    return joined.analysisId;
  };

  /**
   * Starts a run of a market, or joins the one that is running.
   *
   * @param options.isForced  joins only a run that has not started, so that its data is not older than the request. If
   *   the market's run has started, queues one run behind it
   * @returns  the id of the run
   * @throws AppError `overloaded`, `rate_limited`, `store_unavailable`
   */
  const request = async (
    market: BoardMarket,
    {
      customerId,
      isForced,
      type,
    }: { readonly customerId: string | null; readonly isForced: boolean; readonly type: AnalysisType },
  ): Promise<string> => {
    const { venue, marketId } = market.listing;
    await queue.prepare();
    const requestedAt = clock.now();
    for (let attempt = 0; attempt < REQUEST_ATTEMPTS; attempt++) {
      const analysisId = await database.transaction(async (transaction) => {
        const id = await joinOrInsert(transaction, { venue, marketId, type, customerId, now: requestedAt }, isForced);
        if (id !== null && customerId !== null) await insertParticipant(transaction, customerId, id, requestedAt);
        return id;
      }, "request");
      if (analysisId === null) continue;
      queue.announce();
      return analysisId;
    }
    throw new AppError("overloaded", "Too many requests for this market; try again later");
  };

  return {
    request: (market: BoardMarket, options: { readonly customerId: string; readonly isForced: boolean }) =>
      request(market, { ...options, type: requestedType }),

    /** Starts or joins a run without research. */
    requestLight: (market: BoardMarket, customerId: string) =>
      request(market, { customerId, isForced: false, type: "light" }),

    /** Starts a run without research and without a customer, or joins the run of the market. */
    requestScheduled: (market: BoardMarket) => request(market, { customerId: null, isForced: false, type: "light" }),

    /**
     * @param market  the market that the caller names; null if it names none
     * @throws AppError `analysis_not_found`
     */
    async getStatus(analysisId: string, market: MarketRef | null): Promise<RunStatusReport> {
      const run = ID_PATTERN.test(analysisId)
        ? await shareRun(analysisId, () => selectRun(database, analysisId))
        : null;
      const isOfMarket =
        run !== null && (market === null || (run.venue === market.venue && run.marketId === market.marketId));
      if (!isOfMarket) throw new AppError("analysis_not_found", "There is no such analysis");
      if (run.status !== "running") return { run, estimatedSeconds: 0 };
      const elapsedSeconds = (clock.now() - run.requestedAt) / 1_000;
      return { run, estimatedSeconds: Math.max(1, Math.ceil((await estimateSeconds(run.type)) - elapsedSeconds)) };
    },

    findRunning: (market: MarketRef): Promise<AnalysisRun | null> => selectRunningRun(database, market),

    /** Estimated duration of a run that is requested now, in seconds. */
    estimateSeconds: async (type: AnalysisType = requestedType): Promise<number> =>
      Math.max(1, Math.ceil(await estimateSeconds(type))),
  };
}
