import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { Analysis, MarketView } from "../../../engine/index.ts";
import type { EventLog } from "../../../event-log/index.ts";
import type { Bus } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import type { JobQueues } from "../../../ports/job-queue.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { OpenWorkerPool } from "../../../ports/worker-pool.ts";
import { ANALYSIS_WORKER } from "./compute.ts";
import { CurrentEstimates } from "./current-estimates.ts";
import { LatestEstimates } from "./latest-estimates.ts";
import type { MarketViews } from "./market-views.ts";
import type { CurrentEstimate, EndedRun, ResearchRunner, StoredAnalysis } from "./model.ts";
import { createRunPerformer } from "./perform-run.ts";
import { type QueueLimits, selectQueue } from "./run-queries.ts";
import { RunWorker } from "./run-worker.ts";
import { createRuns } from "./runs.ts";
import { createScheduledAnalyses } from "./scheduled-analyses.ts";
import { createAnalysesService } from "./service.ts";

const QUEUE_NAME = "analyses";
/** Runs at the same time on one node. The pool of the engine runs one task and lets eight wait. */
const CONCURRENCY_DEFAULT = 4;

export interface AnalysisPorts {
  readonly database: Database;
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly bus: Bus;
  readonly eventLog: EventLog;
  readonly jobs: JobQueues;
  readonly openWorkerPool: OpenWorkerPool;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Returns a market, or fetches it from its venue. Throws AppError `market_not_found`. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
  readonly views: MarketViews;
  /** Null if no language model is configured; all analyses are then light. */
  readonly researchRunner: ResearchRunner | null;
  /** Whether this node runs analyses. Other nodes only queue and read them. */
  readonly isWorker: boolean;
  /** Whether the service analyses the most traded markets itself. */
  readonly hasScheduledAnalyses: boolean;
  /** Runs at the same time on this node, 1 to 8; 4 by default. */
  readonly concurrency?: number;
  readonly limits?: QueueLimits;
  /** Called with each run that this node has ended. Must not throw. */
  readonly onRunEnded?: (run: EndedRun) => void;
}

/** Called with an analysis on the node that completed it. */
type CompletionObserver = (market: BoardMarket, stored: StoredAnalysis) => Promise<void>;

export type Analyses = ReturnType<typeof createAnalyses>;

/** Analyses of markets: their queue, the worker that runs them, and their results. */
export function createAnalyses(ports: AnalysisPorts) {
  const { database, board, clock, log, eventLog, researchRunner, isWorker, concurrency = CONCURRENCY_DEFAULT } = ports;
  const queue = ports.jobs.open(QUEUE_NAME);
  const runs = createRuns({ ...ports, queue, requestedType: researchRunner === null ? "light" : "full" });
  const latest = new LatestEstimates(ports);
  const estimates = new CurrentEstimates({ ...ports, latest });
  const engine = ports.openWorkerPool<MarketView, Analysis | null>(ANALYSIS_WORKER);
  let onCompleted: CompletionObserver = async () => {};
  const perform = createRunPerformer({
    ...ports,
    queue,
    engine,
    onCompleted: (market, stored) => onCompleted(market, stored),
  });
  const worker = new RunWorker({
    database,
    clock,
    log,
    queue,
    perform,
    concurrency,
    announceEvents: () => eventLog.announce(),
  });
  const houseJob = createScheduledAnalyses({ ...ports, latest, estimates, request: runs.requestScheduled });
  return {
    service: createAnalysesService({ database, board, runs, latest, estimates, getMarket: ports.getMarket }),
    /** What the latest analysis of each market adds to its price, in memory. */
    latest,
    /**
     * Our estimate of a market at its current price. Null if there is none, if it has expired, and if the market has a result
     * or no price. Reads memory only.
     */
    estimateOf: (market: BoardMarket): CurrentEstimate | null => estimates.find(market),
    /** The probability of `estimateOf`. */
    probabilityOf: (market: BoardMarket): number | null => estimates.find(market)?.probability ?? null,
    houseJob,
    /** Reads the queue of all nodes; null on a node that runs no analyses. */
    readQueue: async () => (isWorker ? selectQueue(database, clock.now()) : null),
    /** Calls `observer` with each analysis that this node completes, and logs its failures. Replaces the previous observer. */
    observeCompletions(observer: CompletionObserver): void {
      onCompleted = observer;
    },
    /** Names of the jobs whose last run failed, for health and metrics. */
    get failingJobs(): readonly string[] {
      const others = { analysis_queue: worker.isFailing, latest_analyses: latest.isFailing };
      return [...houseJob.failing, ...Object.entries(others).flatMap(([name, isFailing]) => (isFailing ? name : []))];
    },
    start(): void {
      latest.start();
      if (isWorker) worker.start();
      if (isWorker && ports.hasScheduledAnalyses) houseJob.start();
    },
    async stop(): Promise<void> {
      await Promise.all([latest.stop(), isWorker ? worker.stop() : null, houseJob.stop()]);
      await engine.close();
    },
  };
}
