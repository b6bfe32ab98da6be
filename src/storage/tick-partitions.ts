import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";

const PARTITION_NAME_PATTERN = /^ticks_(\d{4})(\d{2})(\d{2})(?:_(\d{2}))?$/;
/** SQLSTATEs that occur when two nodes create the same partition simultaneously: duplicate table, unique violation. */
const ALREADY_EXISTS_STATES = new Set(["42P07", "23505"]);
/** SQLSTATE of a partition that overlaps another one. */
const OVERLAP_STATE = "42P17";

const PARTITIONS_AHEAD = 2;

/**
 * Name of the partition of the UTC day or hour that contains a timestamp.
 *
 * @param lengthMs  `DAY_MS`, or `HOUR_MS` in a store whose size is limited
 */
export function tickPartitionName(at: number, lengthMs = DAY_MS): string {
  const [date = "", time = ""] = new Date(at).toISOString().split("T");
  return `ticks_${date.replaceAll("-", "")}${lengthMs === HOUR_MS ? `_${time.slice(0, 2)}` : ""}`;
}

/** Ensures that partitions exist for the range. Existing partitions may have the other length. */
async function createPartition(database: Database, startMs: number, lengthMs: number): Promise<void> {
  const [from, to] = [startMs, startMs + lengthMs].map((at) => new Date(at).toISOString());
  try {
    await database.query(
      `create table if not exists ${tickPartitionName(startMs, lengthMs)} partition of ticks
       for values from ('${from}') to ('${to}')`,
    );
  } catch (error) {
    const state = error instanceof Error && "code" in error ? error.code : null;
    // The partition of the day already contains the hour. If some hours of a day exist, the others are created.
    if (state === OVERLAP_STATE && lengthMs === HOUR_MS) return;
    if (state === OVERLAP_STATE) {
      for (let at = startMs; at < startMs + DAY_MS; at += HOUR_MS) await createPartition(database, at, HOUR_MS);
    } else if (typeof state !== "string" || !ALREADY_EXISTS_STATES.has(state)) throw error;
  }
}

/** Creates tick partitions on demand, and the next one in advance, so that writes at midnight need not wait. */
export function createTickPartitions(database: Database, clock: Clock, lengthMs = DAY_MS) {
  let createdStarts = new Set<number>();
  return {
    /** Creates the partitions of these rows and the next one if they are missing. */
    async ensure(rows: readonly { readonly eventAt: number }[]): Promise<void> {
      const starts = new Set(rows.map((row) => Math.floor(row.eventAt / lengthMs) * lengthMs));
      starts.add((Math.floor(clock.now() / lengthMs) + 1) * lengthMs);
      for (const start of starts) {
        if (createdStarts.has(start)) continue;
        await createPartition(database, start, lengthMs);
        createdStarts.add(start);
      }
      // Limits the size of the set in a process that runs for months.
      if (createdStarts.size > 64) createdStarts = starts;
    },
    /** Makes the next `ensure` check all partitions. Call it after a write has failed. */
    invalidate() {
      createdStarts = new Set();
    },
  };
}

/** Creates the partitions of the current and the next two days or hours, even if no ticks are written. */
export async function createNextPartitions(database: Database, now: number, lengthMs = DAY_MS): Promise<void> {
  const current = Math.floor(now / lengthMs) * lengthMs;
  for (let ahead = 0; ahead <= PARTITIONS_AHEAD; ahead++)
    await createPartition(database, current + ahead * lengthMs, lengthMs);
}

/** A tick partition and the bytes of its files. */
export interface TickPartition {
  readonly name: string;
  /** End of its day or hour, Unix milliseconds. */
  readonly endMs: number;
  readonly bytes: number;
}

/** Returns all tick partitions, oldest first. */
export async function listTickPartitions(database: Database): Promise<TickPartition[]> {
  const rows = await database.query<{ name: string; bytes: number }>(
    `select child.relname as name, pg_total_relation_size(child.oid)::float8 as bytes
     from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'ticks'::regclass`,
  );
  return rows
    .flatMap(({ name, bytes }) => {
      const [, year, month, day, hour] = PARTITION_NAME_PATTERN.exec(name) ?? [];
      if (day === undefined) return [];
      const startMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0));
      return [{ name, endMs: startMs + (hour === undefined ? DAY_MS : HOUR_MS), bytes }];
    })
    .sort((a, b) => a.endMs - b.endMs);
}

export const dropTickPartition = (database: Database, { name }: TickPartition) =>
  database.query(`drop table if exists ${name}`);

/** Drops the partitions that ended at or before `beforeMs`. Returns the number of dropped partitions. */
export async function dropTickPartitions(database: Database, beforeMs: number): Promise<number> {
  const expired = (await listTickPartitions(database)).filter(({ endMs }) => endMs <= beforeMs);
  for (const partition of expired) await dropTickPartition(database, partition);
  return expired.length;
}
