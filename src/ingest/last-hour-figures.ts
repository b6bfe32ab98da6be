import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { type LastHour, readLastHour } from "../storage/index.ts";
import { listMostTraded } from "./context.ts";

/** The last hour is read for this many of the most traded active markets, which limits memory and time. */
const MARKETS_MAX = 50_000;
/** Markets per statement. A statement occupies the embedded store for some tens of milliseconds. */
const MARKETS_PER_STATEMENT = 1_000;
/** Figures older than this are not returned: they are no longer those of the last hour. */
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
    /** Returns the last hour of a market, or null if it is not known or too old. */
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
