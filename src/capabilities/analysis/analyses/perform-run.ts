import type { BoardMarket } from "../../../board/index.ts";
import { type Category, categoryOf } from "../../../domain/category.ts";
import { AppError } from "../../../domain/errors.ts";
import { type Analysis, ENGINE_COEFFICIENTS, type MarketView, type ResearchView } from "../../../engine/index.ts";
import { appendEvents } from "../../../event-log/index.ts";
import type { Transaction } from "../../../ports/database.ts";
import type { Job, JobQueue } from "../../../ports/job-queue.ts";
import type { WorkerPool } from "../../../ports/worker-pool.ts";
import { completeRun } from "./analysis-queries.ts";
import { createCompletionEvent, createErrorEvent } from "./completion-event.ts";
import type { MarketViews } from "./market-views.ts";
import type { AnalysisRun, StartedRun, StoredAnalysis } from "./model.ts";
import type { AnalysesPorts } from "./ports.ts";
import { LeaseLostError, RunFailure } from "./run-errors.ts";
import { failRun, releaseFollower, startRun, undoRunStart } from "./run-queries.ts";
import { researchRun } from "./run-research.ts";
import { enqueueRun } from "./runs.ts";

/** Maximum number of starts of a run. After that it ends with an error. */
const ATTEMPTS_MAX = 5;

type PerformPorts = Pick<
  AnalysesPorts,
  "database" | "clock" | "log" | "eventLog" | "getMarket" | "onRunEnded" | "researchRunner"
> & {
  readonly queue: JobQueue;
  readonly views: Pick<MarketViews, "viewOf">;
  readonly engine: Pick<WorkerPool<MarketView, Analysis | null>, "run">;
  /** Called after a run has ended with a result. Its failure does not change the run. */
  readonly onCompleted: (market: BoardMarket, stored: StoredAnalysis) => Promise<void>;
};

/** A stored result and the market that was analysed. */
interface Completed {
  readonly market: BoardMarket;
  readonly stored: StoredAnalysis;
}

/** Ends a run without a result, appends its event and queues the run that follows it. */
export async function endWithError(
  transaction: Transaction,
  queue: JobQueue,
  run: Pick<AnalysisRun, "analysisId" | "venue" | "marketId">,
  options: { readonly message: string; readonly fence: number | null; readonly now: number },
): Promise<boolean> {
  const { message, fence, now } = options;
  if (!(await failRun(transaction, { analysisId: run.analysisId, fence, now }, message))) return false;
  await queueFollower(transaction, queue, run.analysisId);
  await appendEvents(transaction, [createErrorEvent(run, now)]);
  return true;
}

async function queueFollower(transaction: Transaction, queue: JobQueue, analysisId: string): Promise<void> {
  const follower = await releaseFollower(transaction, analysisId);
  if (follower !== null) await enqueueRun(queue, transaction, follower);
}

/**
 * Returns a function that runs one analysis to its end. It rejects if the run must be tried again, or was taken over by
 * another worker; the run is then unchanged, except for the state of its research.
 */
export function createRunPerformer(ports: PerformPorts) {
  const { database, clock, log, queue, eventLog } = ports;

  const getMarket = async ({ venue, marketId }: StartedRun): Promise<BoardMarket> => {
    try {
      return await ports.getMarket(venue, marketId);
    } catch (error) {
      if (error instanceof AppError && error.code === "market_not_found")
        throw new RunFailure("The venue no longer lists this market.");
      throw error;
    }
  };

  const analyse = async (market: BoardMarket, researchView: ResearchView | null): Promise<Analysis> => {
    const view = await ports.views.viewOf(market, clock.now());
    const analysis = await ports.engine.run({ ...view, research: researchView }, []);
    if (analysis === null) throw new RunFailure("The market has no price at present, so it cannot be analysed.");
    return analysis;
  };

  /** Resolves with false if research was requested after the run had started without it. */
  const store = (
    run: StartedRun,
    job: Job,
    stored: StoredAnalysis,
    details: { readonly transcript: string | null; readonly category: Category | null },
  ): Promise<boolean> =>
    database.transaction(async (transaction) => {
      const now = clock.now();
      const { version } = ENGINE_COEFFICIENTS;
      if (!(await completeRun(transaction, run, stored, { now, version, ...details }))) return false;
      await queueFollower(transaction, queue, run.analysisId);
      await queue.complete(transaction, job);
      await appendEvents(transaction, [createCompletionEvent(stored, now)]);
      return true;
    });

  const analyseAndStore = async (run: StartedRun, job: Job, signal: AbortSignal): Promise<Completed> => {
    const found = await researchRun(ports, run, await getMarket(run), signal);
    // Research takes a minute or more, and the price may have changed.
    const market = await getMarket(run);
    const analysis = await analyse(market, found.summary.view);
    const stored: StoredAnalysis = {
      analysisId: run.analysisId,
      venue: run.venue,
      marketId: run.marketId,
      type: analysis.isFull ? "full" : "light",
      analysedAt: analysis.asOf,
      result: {
        title: market.listing.title,
        analysis,
        research: found.summary,
        durationMs: Math.max(0, clock.now() - run.startedAt),
      },
    };
    const details = { transcript: found.transcript, category: categoryOf(market.listing.category) };
    if (!(await store(run, job, stored, details))) throw new LeaseLostError();
    const { durationMs, research: summary } = stored.result;
    const seconds = durationMs / 1_000;
    ports.onRunEnded?.({ type: stored.type, outcome: "complete", seconds, costUsd: summary.costUsd });
    return { market, stored };
  };

  const fail = async (run: StartedRun, job: Job, message: string): Promise<void> => {
    const hasEnded = await database.transaction(async (transaction) => {
      const options = { message, fence: run.fence, now: clock.now() };
      if (!(await endWithError(transaction, queue, run, options))) return false;
      await queue.complete(transaction, job);
      return true;
    });
    if (!hasEnded) throw new LeaseLostError();
    ports.onRunEnded?.({ type: null, outcome: "error", seconds: null, costUsd: 0 });
  };

  const notify = async ({ market, stored }: Completed): Promise<void> => {
    try {
      await ports.onCompleted(market, stored);
    } catch (error) {
      log.warn({ err: error, analysisId: stored.analysisId }, "a completed analysis could not be signalled");
    }
  };

  const end = () => {
    eventLog.announce();
    queue.announce();
  };

  /** @param signal  aborts when this worker shuts down */
  return async (analysisId: string, job: Job, signal: AbortSignal): Promise<void> => {
    await queue.prepare();
    const run = await startRun(database, analysisId, clock.now());
    if (run === null) {
      await database.transaction((transaction) => queue.complete(transaction, job));
      return;
    }
    try {
      if (run.attempts > ATTEMPTS_MAX) {
        await fail(run, job, `The analysis failed ${ATTEMPTS_MAX} times. Please request it again later.`);
        end();
        return;
      }
      const completed = await analyseAndStore(run, job, signal);
      end();
      await notify(completed);
    } catch (error) {
      if (error instanceof RunFailure) {
        await fail(run, job, error.message);
        end();
        return;
      }
      if (signal.aborted) await undoRunStart(database, run).catch(() => {});
      throw error;
    }
  };
}
