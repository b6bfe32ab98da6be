import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { DAY_MS } from "./model.ts";

const PARTITION_NAME = /^ticks_(\d{4})(\d{2})(\d{2})$/;
/** Two nodes may make the same day at once: "exists already" and its race on the catalogue are no failures. */
const EXISTS_STATES = new Set(["42P07", "23505"]);

const DAYS_AHEAD = 2;

const isoDay = (dayMs: number) => new Date(dayMs).toISOString().slice(0, 10);

/** The table of the UTC day that an instant lies in. */
export const tickPartitionName = (at: number) => `ticks_${isoDay(at).replaceAll("-", "")}`;

async function createPartition(database: Database, dayMs: number): Promise<void> {
  const name = tickPartitionName(dayMs);
  try {
    await database.query(
      `create table if not exists ${name} partition of ticks
       for values from ('${isoDay(dayMs)} 00:00:00+00') to ('${isoDay(dayMs + DAY_MS)} 00:00:00+00')`,
    );
  } catch (error) {
    const state = error instanceof Error && "code" in error ? error.code : null;
    if (typeof state !== "string" || !EXISTS_STATES.has(state)) throw error;
  }
}

/** The days of the table of ticks, made as they are needed and one ahead, so that midnight costs nothing. */
export function createTickPartitions(database: Database, clock: Clock) {
  let known = new Set<number>();
  return {
    /** Makes the days of these rows and tomorrow's, where they are missing. */
    async ensure(rows: readonly { readonly eventAt: number }[]): Promise<void> {
      const days = new Set(rows.map((row) => Math.floor(row.eventAt / DAY_MS) * DAY_MS));
      days.add((Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS);
      for (const day of days) {
        if (known.has(day)) continue;
        await createPartition(database, day);
        known.add(day);
      }
      // Days long gone are not asked for again; the set must not grow with the age of the process.
      if (known.size > 64) known = days;
    },
    /** Looks again next time: something outside changed the table. */
    forget() {
      known = new Set();
    },
  };
}

/** Makes today's partition and those of the next two days: a store whose writers were away for long is ready too. */
export async function makeTickPartitions(database: Database, now: number): Promise<void> {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) await createPartition(database, today + ahead * DAY_MS);
}

/** Drops the days that ended at or before `beforeMs`; gives how many. */
export async function dropTickPartitions(database: Database, beforeMs: number): Promise<number> {
  const partitions = await database.query<{ name: string }>(
    `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'ticks'::regclass`,
  );
  let count = 0;
  for (const { name } of partitions) {
    const [, year, month, day] = PARTITION_NAME.exec(name) ?? [];
    if (day === undefined) continue;
    if (Date.UTC(Number(year), Number(month) - 1, Number(day)) + DAY_MS > beforeMs) continue;
    await database.query(`drop table ${name}`);
    count += 1;
  }
  return count;
}
