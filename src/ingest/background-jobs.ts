import type { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { HistoryStore } from "../storage/index.ts";

/** Number of changed markets after which a job yields to the event loop. */
const YIELD_EVERY_MARKETS = 1_000;
/** How long a count is reused. Health is requested often, and counting scans the whole board. */
const ACTIVE_COUNTS_AGE_MS_MAX = 500;
/** Pause between checks whether this node has acquired the lease of a job. */
const STANDBY_CHECK_PAUSE_MS = 5_000;

/** Jobs that run at fixed pauses. A job that fails is logged and runs again after its usual pause. */
export class BackgroundJobs {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #failing = new Set<string>();
  readonly #running: Promise<void>[] = [];

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param isOurs  returns whether this node must run the job now; always true by default */
  start(name: string, pauseMs: number, run: () => Promise<unknown>, isOurs: () => boolean = () => true): void {
    this.#running.push(this.#loop(name, pauseMs, run, isOurs));
  }

  /** Names of the jobs whose last run failed. */
  get failing(): readonly string[] {
    return [...this.#failing];
  }

  /** Starts no further run and resolves when the current ones have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running);
  }

  async #loop(name: string, pauseMs: number, run: () => Promise<unknown>, isOurs: () => boolean): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isOursNow = isOurs();
      try {
        if (isOursNow) await run();
        this.#failing.delete(name);
      } catch (error) {
        this.#failing.add(name);
        this.#log.warn({ job: name, err: error }, "background job failed and will run again");
      }
      await this.#clock.sleep(isOursNow ? pauseMs : STANDBY_CHECK_PAUSE_MS, signal).catch(() => {});
    }
  }
}

/** Sets each market's price 24 hours ago from the stored history. */
export async function updateDayAgoPrices(board: MarketBoard, history: HistoryStore, clock: Clock): Promise<void> {
  const prices = await history.priceDayAgo(clock.now());
  let changed = 0;
  for (const market of board.markets()) {
    const price = market.storeKey === null ? undefined : prices.get(market.storeKey);
    if (price === undefined || price === market.priceDayAgo) continue;
    board.annotate(market, { priceDayAgo: price });
    changed += 1;
    if (changed % YIELD_EVERY_MARKETS === 0) await clock.sleep(0);
  }
}

/** Removes finalized markets last updated before `beforeMs` (Unix) from the board; they stay in the store. */
export async function removeSettledMarkets(board: MarketBoard, beforeMs: number): Promise<void> {
  const settled = [...board.markets()].filter(
    ({ listing, updatedAt }) => listing.status === "finalized" && updatedAt < beforeMs,
  );
  for (const market of settled) board.remove(market);
}

/** Returns a function that counts the active markets on the board by venue. */
export function createActiveMarketCounter(board: MarketBoard, clock: Clock): () => ReadonlyMap<VenueId, number> {
  let cached = { at: Number.NEGATIVE_INFINITY, counts: new Map<VenueId, number>() };
  return () => {
    const now = clock.monotonic();
    if (now - cached.at < ACTIVE_COUNTS_AGE_MS_MAX) return cached.counts;
    const counts = new Map<VenueId, number>();
    for (const { listing } of board.markets())
      if (listing.status === "active") counts.set(listing.venue, (counts.get(listing.venue) ?? 0) + 1);
    cached = { at: now, counts };
    return counts;
  };
}
