import { AppError } from "../domain/errors.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { OBSERVING_SINCE_META_KEY, type Tick } from "./model.ts";
import { toStorableAmount, toStorablePrice } from "./storable.ts";
import { createTickPartitions } from "./tick-partitions.ts";
import { insertTicks, type TickRow } from "./tick-queries.ts";

/** Maximum number of queued ticks. If the queue is full, the oldest tick is dropped: recent prices matter most. */
const TICK_QUEUE_MAX = 200_000;
const BATCH_ROWS_MAX = 2_000;
/** Number of queued ticks that are written at once. Small batches block the event loop only for a short time. */
const FLUSH_ROWS = 250;
/** Maximum delay between a write and its flush. Each statement costs the embedded store as much as 40 ticks. */
const FLUSH_DELAY_MS = 500;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;
/** Maximum age of a tick's venue time when received. Older ticks are stored under their receive time. */
const EVENT_AGE_MS_MAX = 10 * 60_000;
/**
 * Maximum difference between a tick's receive time and the clock. Other ticks would create partitions; they are
 * dropped.
 */
const CLOCK_DIFFERENCE_MS_MAX = 24 * HOUR_MS;
/** Maximum number of attempts per batch, after which it is dropped. Failures with `store_unavailable` do not count. */
const ATTEMPTS_MAX = 3;

export interface TickCounters {
  readonly written: number;
  readonly dropped: number;
  readonly queued: number;
}

export interface TickWriter {
  /** Queues a tick. Pass only ticks that differ from the previous tick of the market. */
  write(tick: Tick): void;
  /** Writes all queued ticks. Throws `store_unavailable` if the database is unavailable; the ticks stay queued. */
  flush(): Promise<void>;
  /** Flushes and stops. Ticks that cannot be written are counted as dropped. */
  close(): Promise<void>;
  readonly counters: TickCounters;
}

/**
 * The timestamp under which a tick is stored, Unix milliseconds. This is the venue time unless it is later than the
 * receive time (the venue's clock is ahead) or more than ten minutes earlier (the quote has not changed for long, and
 * the bars of that time already exist).
 */
export function storedTickTime(tick: Pick<Tick, "eventAt" | "receivedAt">): number {
  const { eventAt, receivedAt } = tick;
  if (eventAt === null || !(eventAt <= receivedAt) || eventAt < receivedAt - EVENT_AGE_MS_MAX)
    return Math.round(receivedAt);
  return Math.round(eventAt);
}

function toTickRow(tick: Tick): TickRow {
  return {
    marketKey: tick.marketKey,
    eventAt: storedTickTime(tick),
    receivedAt: Math.round(tick.receivedAt),
    bid: toStorablePrice(tick.bid),
    ask: toStorablePrice(tick.ask),
    lastPrice: toStorablePrice(tick.lastPrice),
    yesPrice: toStorablePrice(tick.yesPrice),
    volumeUsd: toStorableAmount(tick.volumeUsd),
    fence: tick.fence,
  };
}

/** Writes ticks in batches, by size or time, and retries while the database is unavailable. */
export function createTickWriter(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueMax?: number;
  /** Length of the partitions: a day by default, or an hour. */
  readonly partitionMs?: number;
}): TickWriter {
  const { database, clock, log, queueMax = TICK_QUEUE_MAX } = options;
  const partitions = createTickPartitions(database, clock, options.partitionMs);
  /** A Set removes its oldest element in constant time. */
  const queue = new Set<TickRow>();
  let inFlightRows: readonly TickRow[] = [];
  let writtenCount = 0;
  let droppedCount = 0;
  let failureCount = 0;
  let isClosed = false;
  let isObservingSinceSaved = false;
  let pendingDrain: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;

  /** Writes rows and returns how many were rejected because of an outdated fence. */
  const writeBatch = async (rows: readonly TickRow[]) => {
    if (!isObservingSinceSaved) {
      await database.query(
        "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value",
        [OBSERVING_SINCE_META_KEY, String(startedAt)],
      );
      isObservingSinceSaved = true;
    }
    await partitions.ensure(rows);
    return insertTicks(database, rows);
  };
  const startedAt = clock.now();

  /** Writes until the queue is empty. Throws if the database is unavailable; the next call repeats the batch. */
  const drainQueue = async () => {
    for (let attempts = 1; inFlightRows.length > 0 || queue.size > 0; ) {
      if (inFlightRows.length === 0) {
        inFlightRows = [...queue.values().take(BATCH_ROWS_MAX)];
        for (const row of inFlightRows) queue.delete(row);
      }
      try {
        const rejectedCount = await writeBatch(inFlightRows);
        if (rejectedCount > 0)
          log.warn({ rows: rejectedCount }, "ticks rejected: another node has taken over the venue lease");
        writtenCount += inFlightRows.length - rejectedCount;
        droppedCount += rejectedCount;
        inFlightRows = [];
        failureCount = 0;
        attempts = 1;
      } catch (error) {
        if (error instanceof AppError) throw error;
        partitions.invalidate();
        if (attempts++ < ATTEMPTS_MAX) continue;
        log.error({ err: error, rows: inFlightRows.length }, "ticks could not be stored and were dropped");
        droppedCount += inFlightRows.length;
        inFlightRows = [];
        attempts = 1;
      }
    }
  };

  const scheduleDrain = (delayMs: number) => {
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
    pendingDrain ??= drainQueue()
      .catch((error: unknown) => {
        if (failureCount === 0) log.warn({ err: error }, "ticks cannot be written now and stay queued");
        scheduleDrain(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failureCount));
        failureCount = Math.min(failureCount + 1, 10);
        throw error;
      })
      .finally(() => {
        pendingDrain = null;
      });
    return pendingDrain;
  };

  return {
    get counters() {
      return { written: writtenCount, dropped: droppedCount, queued: queue.size + inFlightRows.length };
    },
    write(tick) {
      const isValid =
        Number.isSafeInteger(tick.marketKey) && Math.abs(tick.receivedAt - clock.now()) < CLOCK_DIFFERENCE_MS_MAX;
      if (isClosed || !isValid) {
        droppedCount += 1;
        return;
      }
      if (queue.size + inFlightRows.length >= queueMax) {
        const [oldestRow] = queue;
        droppedCount += 1;
        if (oldestRow === undefined) return;
        queue.delete(oldestRow);
      }
      queue.add(toTickRow(tick));
      if (queue.size >= FLUSH_ROWS && pendingDrain === null && failureCount === 0) drain().catch(() => {});
      else scheduleDrain(FLUSH_DELAY_MS);
    },
    flush: drain,
    async close() {
      if (isClosed) return;
      isClosed = true;
      cancelTimer?.();
      try {
        await drain();
      } catch (error) {
        const lostCount = queue.size + inFlightRows.length;
        droppedCount += lostCount;
        queue.clear();
        inFlightRows = [];
        log.error({ err: error, rows: lostCount }, "the database was unavailable at shutdown; queued ticks are lost");
      }
    },
  };
}
