import type { VenueId } from "../../../domain/market.ts";
import { followEvents } from "../../../event-log/index.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import { type LatestEstimateRow, selectEstimates, selectLatestEstimates } from "./analysis-queries.ts";
import { readCompletedAnalysisId } from "./completion-event.ts";
import type { LatestEstimate } from "./model.ts";
import type { AnalysesPorts } from "./ports.ts";

const PAGE_ROWS = 5_000;
/** Maximum number of markets in memory, more than the board contains. Above it, the oldest analysis is evicted. */
const MARKETS_MAX = 500_000;
const RETRY_MS = 5_000;

type LatestEstimatesPorts = Pick<AnalysesPorts, "database" | "eventLog" | "bus" | "clock" | "log">;

/**
 * The latest estimate of each market, in memory, so that lists need no database. It is loaded at the start and follows
 * the event log, so it contains the analyses of all nodes, about a second late at most.
 */
export class LatestEstimates {
  readonly #ports: LatestEstimatesPorts;
  readonly #byMarket = new Map<string, LatestEstimate>();
  readonly #observers: ((venue: VenueId, marketId: string) => void)[] = [];
  readonly #loaded = Promise.withResolvers<void>();
  readonly #job: PeriodicJob;

  constructor(ports: LatestEstimatesPorts) {
    this.#ports = ports;
    this.#job = new PeriodicJob({
      clock: ports.clock,
      intervalMs: RETRY_MS,
      run: (signal) => this.#loadAndFollow(signal),
      onFailure(error, failures) {
        if (failures === 1)
          ports.log.warn({ err: error }, "the latest analyses could not be loaded and are loaded again");
      },
    });
  }

  /** Returns null if the market has no analysis, or at the start before all are loaded. */
  find(venue: VenueId, marketId: string): LatestEstimate | null {
    return this.#byMarket.get(`${venue}/${marketId}`) ?? null;
  }

  get size(): number {
    return this.#byMarket.size;
  }

  /** Resolves when all estimates are loaded for the first time, or at the stop. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** True if the last attempt to load the estimates failed. */
  get isFailing(): boolean {
    return this.#job.hasFailed;
  }

  /** Calls `onChange` after each new estimate of a market. It must not throw. */
  observe(onChange: (venue: VenueId, marketId: string) => void): void {
    this.#observers.push(onChange);
  }

  /** Adds an estimate, unless the market already has a newer one. */
  remember({ venue, marketId, ...latest }: LatestEstimateRow): void {
    const id = `${venue}/${marketId}`;
    const known = this.#byMarket.get(id);
    if (known !== undefined && known.analysedAt >= latest.analysedAt) return;
    // Deleted first, so that the map is in the order of the analyses.
    this.#byMarket.delete(id);
    this.#byMarket.set(id, latest);
    const [oldest] = this.#byMarket.size > MARKETS_MAX ? this.#byMarket.keys() : [];
    if (oldest !== undefined) this.#byMarket.delete(oldest);
    for (const onChange of this.#observers) onChange(venue, marketId);
  }

  start(): void {
    this.#job.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#job.stop();
    this.#loaded.resolve();
    await stopped;
  }

  /** Resolves when events were missed, or when the service stops. */
  async #loadAndFollow(signal: AbortSignal): Promise<void> {
    const { eventLog, bus, clock } = this.#ports;
    const after = await eventLog.latestId();
    await this.#load(signal);
    this.#job.reportSuccess();
    this.#loaded.resolve();
    const filter = { types: ["analysis_complete"] } as const;
    for await (const { events, hasGap } of followEvents({ log: eventLog, bus, clock, after, filter, signal })) {
      if (hasGap) return;
      const completed = events.flatMap(({ payload }) => readCompletedAnalysisId(payload) ?? []);
      if (completed.length > 0)
        for (const row of await selectEstimates(this.#ports.database, completed)) this.remember(row);
    }
  }

  async #load(signal: AbortSignal): Promise<void> {
    let after = { venue: "", marketId: "" };
    while (!signal.aborted) {
      const rows = await selectLatestEstimates(this.#ports.database, after, PAGE_ROWS);
      for (const row of rows) this.remember(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_ROWS) return;
      after = last;
      await this.#ports.clock.yieldToEventLoop();
    }
  }
}
