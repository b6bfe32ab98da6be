import { AppError } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { META_OBSERVING_SINCE, type Tick } from "./model.ts";
import { storableAmount, storablePrice } from "./storable.ts";
import { createTickPartitions } from "./tick-partitions.ts";
import { insertTicks, type TickRow } from "./tick-queries.ts";

/** Ticks that may wait for the store; beyond it the oldest is given up, because the newest price matters most. */
const TICK_QUEUE_MAX = 200_000;
const BATCH_ROWS_MAX = 2_000;
/** Often, because a batch is made ready at once: while it is, nobody else has a turn. */
const FLUSH_MS = 100;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;
/** A venue's time further back than this is "still so", not "just now": such a tick is stored at its receipt. */
const LATE_MS_MAX = 10 * 60_000;
/** A receipt this far from our own clock is a fault of ours and would make days of partitions. */
const RECEIPT_MS_MAX = 24 * 3_600_000;
/** A failure that is not "unavailable" is tried this often before its batch is given up. */
const ATTEMPTS_MAX = 3;

export interface TickCounters {
  readonly written: number;
  readonly dropped: number;
  readonly queued: number;
}

export interface TickWriter {
  /** Takes a tick without waiting; the caller passes only what changed. */
  write(tick: Tick): void;
  /** Writes everything taken so far. Throws `store_unavailable` when that is not possible now; the ticks stay queued. */
  flush(): Promise<void>;
  /** Flushes once more and stops; what the store cannot take by then counts as dropped. */
  close(): Promise<void>;
  readonly counters: TickCounters;
}

/**
 * When a tick counts: the venue's time, but never after its receipt (a clock that runs ahead) and not long before it
 * (a quote that has not moved for days is still true now, and bars of the past are already made).
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
    ...(tick.fence === undefined ? {} : { claim: tick.fence }),
  };
}

/** Writes ticks in batches, by size or time, and waits out a store that is away. */
export function createTickWriter(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueMax?: number;
}): TickWriter {
  const { database, clock, log, queueMax = TICK_QUEUE_MAX } = options;
  const partitions = createTickPartitions(database, clock);
  /** A ring would save nothing: a Set removes its oldest in constant time too. */
  const queue = new Set<TickRow>();
  let inFlight: readonly TickRow[] = [];
  let written = 0;
  let dropped = 0;
  let failures = 0;
  let isClosed = false;
  let isAnnounced = false;
  let draining: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;

  /** Gives how many rows were refused. */
  const writeBatch = async (rows: readonly TickRow[]) => {
    if (!isAnnounced) {
      await database.query(
        "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value",
        [META_OBSERVING_SINCE, String(startedAt)],
      );
      isAnnounced = true;
    }
    await partitions.ensure(rows);
    return insertTicks(database, rows);
  };
  const startedAt = clock.now();

  /** Writes until the queue is empty. Throws when the store is away; the batch in hand is then kept for the next time. */
  const drainQueue = async () => {
    for (let attempts = 1; inFlight.length > 0 || queue.size > 0; ) {
      if (inFlight.length === 0) {
        inFlight = [...queue.values().take(BATCH_ROWS_MAX)];
        for (const row of inFlight) queue.delete(row);
      }
      try {
        const refused = await writeBatch(inFlight);
        if (refused > 0) log.warn({ rows: refused }, "ticks were refused: another node reads their venue by now");
        written += inFlight.length - refused;
        dropped += refused;
        inFlight = [];
        failures = 0;
        attempts = 1;
      } catch (error) {
        if (error instanceof AppError) throw error;
        partitions.forget();
        if (attempts++ < ATTEMPTS_MAX) continue;
        log.error({ err: error, rows: inFlight.length }, "ticks could not be stored and were given up");
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

  /** Drains once at a time. After a failure it comes back by itself, ever less often. */
  const drain = (): Promise<void> => {
    cancelTimer?.();
    cancelTimer = null;
    draining ??= drainQueue()
      .catch((error: unknown) => {
        if (failures === 0) log.warn({ err: error }, "the store takes no ticks at the moment; they are kept");
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
      const isPossible =
        Number.isSafeInteger(tick.marketKey) && Math.abs(tick.receivedAt - clock.now()) < RECEIPT_MS_MAX;
      if (isClosed || !isPossible) {
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
        log.error({ err: error, rows: lost }, "the store was away at the end; the last ticks are lost");
      }
    },
  };
}
