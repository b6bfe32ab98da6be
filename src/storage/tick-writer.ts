import { AppError } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { META_OBSERVING_SINCE, type Tick } from "./model.ts";
import { storableAmount, storablePrice } from "./storable.ts";
import { createTickPartitions } from "./tick-partitions.ts";
import { insertTicks, type TickRow } from "./tick-queries.ts";

/** Maximum number of queued ticks. Beyond it the oldest are dropped, because the latest price matters most. */
const TICK_QUEUE_MAX = 200_000;
const BATCH_ROWS_MAX = 2_000;
/** Short, because preparing a batch blocks the event loop: small batches block it only briefly. */
const FLUSH_MS = 100;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;
/** A tick whose venue time is older than this is stored under its receive time. */
const LATE_MS_MAX = 10 * 60_000;
/** Ticks whose receive time differs more than this from our clock are dropped; they would create extra partitions. */
const CLOCK_DIFFERENCE_MS_MAX = 24 * 3_600_000;
/** Attempts per batch before it is dropped, if the failure is not `store_unavailable`. */
const ATTEMPTS_MAX = 3;

export interface TickCounters {
  readonly written: number;
  readonly dropped: number;
  readonly queued: number;
}

export interface TickWriter {
  /** Queues a tick. Pass only ticks that differ from the previous one of the market. */
  write(tick: Tick): void;
  /** Writes all queued ticks. Throws `store_unavailable` if the database is unavailable; the ticks stay queued. */
  flush(): Promise<void>;
  /** Flushes and stops. Ticks that cannot be written are counted as dropped. */
  close(): Promise<void>;
  readonly counters: TickCounters;
}

/**
 * The timestamp under which a tick is stored, Unix milliseconds. This is the venue time unless it is later than the
 * receive time (the venue's clock is ahead) or more than ten minutes earlier (the quote has not changed for long, and the
 * bars of that time already exist).
 */
export function tickTime(tick: Pick<Tick, "eventAt" | "receivedAt">): number {
  const { eventAt, receivedAt } = tick;
  if (eventAt === null || !(eventAt <= receivedAt) || eventAt < receivedAt - LATE_MS_MAX) return Math.round(receivedAt);
  return Math.round(eventAt);
}

function toRow(tick: Tick): TickRow {
  return {
    marketKey: tick.marketKey,
    eventAt: tickTime(tick),
    receivedAt: Math.round(tick.receivedAt),
    bid: storablePrice(tick.bid),
    ask: storablePrice(tick.ask),
    last: storablePrice(tick.lastPrice),
    yesPrice: storablePrice(tick.yesPrice),
    volumeTotalUsd: storableAmount(tick.volumeUsd),
    fence: tick.fence,
  };
}

/** Writes ticks in batches, by size or time, and retries while the database is unavailable. */
export function createTickWriter(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueMax?: number;
}): TickWriter {
  const { database, clock, log, queueMax = TICK_QUEUE_MAX } = options;
  const partitions = createTickPartitions(database, clock);
  /** A Set removes its oldest element in constant time, as a ring buffer would. */
  const queue = new Set<TickRow>();
  let inFlight: readonly TickRow[] = [];
  let written = 0;
  let dropped = 0;
  let failures = 0;
  let isClosed = false;
  let isObservingSinceSaved = false;
  let draining: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;

  /** Returns how many rows were rejected. */
  const writeBatch = async (rows: readonly TickRow[]) => {
    if (!isObservingSinceSaved) {
      await database.query(
        "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value",
        [META_OBSERVING_SINCE, String(startedAt)],
      );
      isObservingSinceSaved = true;
    }
    await partitions.ensure(rows);
    return insertTicks(database, rows);
  };
  const startedAt = clock.now();

  /** Writes until the queue is empty. Throws if the database is unavailable; the current batch is retried later. */
  const drainQueue = async () => {
    for (let attempts = 1; inFlight.length > 0 || queue.size > 0; ) {
      if (inFlight.length === 0) {
        inFlight = [...queue.values().take(BATCH_ROWS_MAX)];
        for (const row of inFlight) queue.delete(row);
      }
      try {
        const rejected = await writeBatch(inFlight);
        if (rejected > 0) log.warn({ rows: rejected }, "ticks rejected: another node has taken over the venue lease");
        written += inFlight.length - rejected;
        dropped += rejected;
        inFlight = [];
        failures = 0;
        attempts = 1;
      } catch (error) {
        if (error instanceof AppError) throw error;
        partitions.invalidate();
        if (attempts++ < ATTEMPTS_MAX) continue;
        log.error({ err: error, rows: inFlight.length }, "ticks could not be stored and were dropped");
        dropped += inFlight.length;
        inFlight = [];
        attempts = 1;
      }
    }
  };

  const schedule = (delayMs: number) => {
    if (isClosed || cancelTimer !== null) return;
    cancelTimer = clock.setTimeout(() => {
      cancelTimer = null;
      drain().catch(() => {});
    }, delayMs);
  };

  /** Drains the queue. Concurrent calls share one drain. A failure schedules a retry with exponential backoff. */
  const drain = (): Promise<void> => {
    cancelTimer?.();
    cancelTimer = null;
    draining ??= drainQueue()
      .catch((error: unknown) => {
        if (failures === 0) log.warn({ err: error }, "ticks cannot be written now and stay queued");
        schedule(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failures));
        failures = Math.min(failures + 1, 10);
        throw error;
      })
      .finally(() => {
        draining = null;
      });
    return draining;
  };

  return {
    get counters() {
      return { written, dropped, queued: queue.size + inFlight.length };
    },
    write(tick) {
      const isValid =
        Number.isSafeInteger(tick.marketKey) && Math.abs(tick.receivedAt - clock.now()) < CLOCK_DIFFERENCE_MS_MAX;
      if (isClosed || !isValid) {
        dropped += 1;
        return;
      }
      if (queue.size + inFlight.length >= queueMax) {
        const [oldest] = queue;
        dropped += 1;
        if (oldest === undefined) return;
        queue.delete(oldest);
      }
      queue.add(toRow(tick));
      if (queue.size >= BATCH_ROWS_MAX && draining === null && failures === 0) drain().catch(() => {});
      else schedule(FLUSH_MS);
    },
    flush: drain,
    async close() {
      if (isClosed) return;
      isClosed = true;
      cancelTimer?.();
      try {
        await drain();
      } catch (error) {
        const lost = queue.size + inFlight.length;
        dropped += lost;
        queue.clear();
        inFlight = [];
        log.error({ err: error, rows: lost }, "the database was unavailable at shutdown; queued ticks are lost");
      }
    },
  };
}
