import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { type LastHour, readLastHour } from "../storage/index.ts";
import { listMostTraded } from "./context.ts";

export const LAST_HOURS_PAUSE_MS = 2 * 60_000;
/** Maximum number of markets, most traded first. Limits memory and time. */
const MARKETS_MAX = 50_000;
/** Number of markets per SQL statement. Such a statement blocks the embedded store for tens of milliseconds. */
const MARKETS_PER_STATEMENT = 1_000;
/** Maximum age of the figures that are returned. Older figures do not describe the last hour. */
const AGE_MS_MAX = 10 * 60_000;

export type LastHourFigures = ReturnType<typeof createLastHourFigures>;

/** Price an hour ago and volume of the last hour of the most traded active markets, read from the store by a job. */
export function createLastHourFigures({
  board,
  database,
  clock,
  venues,
}: {
  readonly board: MarketBoard;
  readonly database: Database;
  readonly clock: Clock;
  readonly venues: readonly VenueId[];
}) {
  let lastHourByKey: ReadonlyMap<number, LastHour> = new Map();
  /** Monotonic time at which the current figures were requested. */
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    /** Returns the figures of a market, or null if they are missing or too old. */
    find({ storeKey }: BoardMarket): LastHour | null {
      if (storeKey === null || clock.monotonic() - readAt > AGE_MS_MAX) return null;
      return lastHourByKey.get(storeKey) ?? null;
    },
    /** Reads the figures of all markets again, in statements of bounded size. */
    async refresh(): Promise<void> {
      const startedAt = clock.monotonic();
      const keys = listMostTraded(board, venues, MARKETS_MAX).flatMap(({ storeKey }) => storeKey ?? []);
      const read = new Map<number, LastHour>();
      for (const chunk of chunksOf(keys, MARKETS_PER_STATEMENT))
        for (const [key, lastHour] of await readLastHour(database, chunk, clock.now())) read.set(key, lastHour);
      lastHourByKey = read;
      readAt = startedAt;
    },
  };
}
