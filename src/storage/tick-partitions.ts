import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { DAY_MS } from "./model.ts";

const PARTITION_NAME_PATTERN = /^ticks_(\d{4})(\d{2})(\d{2})$/;
/** SQLSTATEs that occur when two nodes create the same partition simultaneously: duplicate table, unique violation. */
const ALREADY_EXISTS_STATES = new Set(["42P07", "23505"]);

const DAYS_AHEAD = 2;

const formatIsoDay = (dayMs: number) => new Date(dayMs).toISOString().slice(0, 10);

/** Name of the partition of the UTC day that contains a timestamp. */
export const tickPartitionName = (at: number) => `ticks_${formatIsoDay(at).replaceAll("-", "")}`;

async function createPartition(database: Database, dayMs: number): Promise<void> {
  const name = tickPartitionName(dayMs);
  try {
    await database.query(
      `create table if not exists ${name} partition of ticks
       for values from ('${formatIsoDay(dayMs)} 00:00:00+00') to ('${formatIsoDay(dayMs + DAY_MS)} 00:00:00+00')`,
    );
  } catch (error) {
    const state = error instanceof Error && "code" in error ? error.code : null;
    if (typeof state !== "string" || !ALREADY_EXISTS_STATES.has(state)) throw error;
  }
}

/** Creates daily tick partitions on demand and one day ahead, so that writes at midnight do not wait for it. */
export function createTickPartitions(database: Database, clock: Clock) {
  let createdDays = new Set<number>();
  return {
    /** Creates the partitions of these rows and of tomorrow if they are missing. */
    async ensure(rows: readonly { readonly eventAt: number }[]): Promise<void> {
      const days = new Set(rows.map((row) => Math.floor(row.eventAt / DAY_MS) * DAY_MS));
      days.add((Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS);
      for (const day of days) {
        if (createdDays.has(day)) continue;
        await createPartition(database, day);
        createdDays.add(day);
      }
      // Bounds the set in a process that runs for months.
      if (createdDays.size > 64) createdDays = days;
    },
    /** Makes the next `ensure` check all partitions. Call it after a write has failed. */
    invalidate() {
      createdDays = new Set();
    },
  };
}

/** Creates the partitions of today and the next two days, even if no ticks are written. */
export async function createNextPartitions(database: Database, now: number): Promise<void> {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) await createPartition(database, today + ahead * DAY_MS);
}

/** Drops the partitions of days that ended at or before `beforeMs`. Returns the number of dropped partitions. */
export async function dropTickPartitions(database: Database, beforeMs: number): Promise<number> {
  const partitions = await database.query<{ name: string }>(
    `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'ticks'::regclass`,
  );
  let count = 0;
  for (const { name } of partitions) {
    const [, year, month, day] = PARTITION_NAME_PATTERN.exec(name) ?? [];
    if (day === undefined) continue;
    if (Date.UTC(Number(year), Number(month) - 1, Number(day)) + DAY_MS > beforeMs) continue;
    await database.query(`drop table ${name}`);
    count += 1;
  }
  return count;
}
