import type { BoardMarket } from "../../../board/index.ts";
import type { Analysis, MarketView } from "../../../engine/index.ts";
import { ANALYSIS_WORKER_URL } from "./compute.ts";
import { CurrentEstimates } from "./current-estimates.ts";
import { LatestEstimates } from "./latest-estimates.ts";
import type { CurrentEstimate, StoredAnalysis } from "./model.ts";
import { createRunPerformer } from "./perform-run.ts";
import type { AnalysesPorts } from "./ports.ts";
import { selectRunCounts } from "./run-queries.ts";
import { RunWorker } from "./run-worker.ts";
import { createRuns } from "./runs.ts";
import { createScheduledAnalyses } from "./scheduled-analyses.ts";
import { createAnalysesService } from "./service.ts";

const QUEUE_NAME = "analyses";
/** Default number of concurrent runs per node. The engine's worker pool runs one task and queues eight. */
const CONCURRENCY_DEFAULT = 4;

/** Called with an analysis on the node that completed it. */
type CompletionObserver = (market: BoardMarket, stored: StoredAnalysis) => Promise<void>;

export type Analyses = ReturnType<typeof createAnalyses>;

/** Analyses of markets: their queue, the worker that runs them, and their results. */
export function createAnalyses(ports: AnalysesPorts) {
  const { database, clock, researchRunner, isWorker, concurrency = CONCURRENCY_DEFAULT } = ports;
  const queue = ports.jobs.open(QUEUE_NAME);
  const runs = createRuns({ ...ports, queue, requestedType: researchRunner === null ? "light" : "full" });
  const latest = new LatestEstimates(ports);
  const estimates = new CurrentEstimates({ ...ports, latest });
  const engine = ports.openWorkerPool<MarketView, Analysis | null>(ANALYSIS_WORKER_URL);
  let onCompleted: CompletionObserver = async () => {};
  const perform = createRunPerformer({
    ...ports,
    queue,
    engine,
    onCompleted: (market, stored) => onCompleted(market, stored),
  });
  const worker = new RunWorker({ ...ports, queue, perform, concurrency });
  const scheduled = createScheduledAnalyses({ ...ports, latest, estimates, request: runs.requestScheduled });
  return {
    service: createAnalysesService({ ...ports, runs, latest, estimates }),
    latest,
    /**
     * Our estimate of a market at its current price; null if it is missing or expired, or if the market has a result or
     * no price. Reads memory only.
     */
    estimateOf: (market: BoardMarket): CurrentEstimate | null => estimates.find(market),
    /** Probability and time of `estimateOf`, cached for up to one second, for lists of many markets. */
    shownEstimateOf: (market: BoardMarket) => estimates.findShown(market),
    probabilityOf: (market: BoardMarket): number | null => estimates.find(market)?.probability ?? null,
    scheduled,
    /** Counts the waiting and the active runs of all nodes. Returns null on a node that runs no analyses. */
    readQueue: async () => (isWorker ? selectRunCounts(database, clock.now()) : null),
    /**
     * Calls `observer` with each analysis that this node completes. If `observer` fails, the error is only logged.
     * Replaces the previous observer.
     */
    observeCompletions(observer: CompletionObserver): void {
      onCompleted = observer;
    },
    /** Names of the jobs whose last run failed, for health and metrics. */
    get failingJobs(): readonly string[] {
      const others = { analysis_queue: worker.isFailing, latest_analyses: latest.isFailing };
      return [...scheduled.failing, ...Object.entries(others).flatMap(([name, isFailing]) => (isFailing ? name : []))];
    },
    start(): void {
      latest.start();
      if (isWorker) worker.start();
      if (isWorker && ports.hasScheduledAnalyses) scheduled.start();
    },
    async stop(): Promise<void> {
      await Promise.all([latest.stop(), isWorker ? worker.stop() : null, scheduled.stop()]);
      await engine.close();
    },
  };
}
