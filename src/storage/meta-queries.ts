import type { Database } from "../ports/database.ts";
import { META_OBSERVING_SINCE, META_ROLLED_UP_UNTIL } from "./model.ts";

/** Timestamps of the roll-up, Unix milliseconds. */
export interface RollUpState {
  /** End of the last interval rolled up; null before the first roll-up. */
  readonly rolledUpUntil: number | null;
  /** Start of the current tick recording; 0 before the first tick is written. */
  readonly observingSince: number;
}

export async function findRollUpState(database: Database): Promise<RollUpState> {
  const rows = await database.query<{ key: string; value: string }>(
    "select key, value from meta where key = any($1::text[])",
    [[META_ROLLED_UP_UNTIL, META_OBSERVING_SINCE]],
    "request",
  );
  const find = (key: string) => {
    const value = Number(rows.find((row) => row.key === key)?.value ?? Number.NaN);
    return Number.isFinite(value) ? value : null;
  };
  return { rolledUpUntil: find(META_ROLLED_UP_UNTIL), observingSince: find(META_OBSERVING_SINCE) ?? 0 };
}
