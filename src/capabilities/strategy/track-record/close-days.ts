import type { MarketRef } from "../../../domain/market-name.ts";
import { keysetPages } from "../../../lib/chunks.ts";
import { deleteInBatches } from "../../../lib/delete-in-batches.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { readPricesAt } from "../../../storage/index.ts";
import { utcDate } from "../../../trading/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import {
  deleteMarks,
  insertDay,
  replaceMarks,
  sealDay,
  selectOpenMarkets,
  selectProgress,
  updateMarkedAt,
} from "./day-queries.ts";
import { computeDay, startOfNextDay, wholeDay } from "./day-totals.ts";
import { lockShadowBook } from "./trade-queries.ts";

/** Delay between the end of a day and its closing, so that the last trades and prices of the day are stored. */
const CLOSE_DELAY_MS = 2 * 60_000;
/** Without a stored price, the current price of the board is the mark, up to this long after the time of the mark. */
const BOARD_PRICE_AGE_MS_MAX = 10 * 60_000;
const MARKETS_PER_PAGE = 500;
/** Marks of settled markets are deleted after this number of days. */
const MARK_DAYS = 400;
const DELETE_ROWS_MAX = 5_000;
/** Maximum number of batches per run. The next run deletes the remaining rows. */
const DELETE_BATCHES_MAX = 100;

interface CloseDayDependencies extends Pick<MarketDependencies, "database" | "board" | "clock"> {
  /** If it returns true, the work ends before the next page. */
  readonly isStopping: () => boolean;
}

/** Returns the first day with complete marks. Earlier marks of settled markets may have been deleted. */
export const marksKeptSince = (now: number): string => utcDate(now - MARK_DAYS * DAY_MS);

/** Closes the days of the shadow book in order. Several nodes may run it at the same time. */
export function createDayCloser({ database, board, clock, isStopping }: CloseDayDependencies) {
  /**
   * Stores the prices of all markets with open trades as the marks of a day, at the end of the day or earlier on the
   * current day. Returns the number of changed marks.
   */
  const writeMarks = async (date: string, at: number): Promise<number> => {
    // Node clocks differ, so on the current day an open trade can have a time in the future.
    const openAt = at < startOfNextDay(date) ? Number.MAX_SAFE_INTEGER : at;
    let changes = 0;
    const selectAfter = (after: MarketRef) => selectOpenMarkets(database, openAt, after, MARKETS_PER_PAGE);
    for await (const markets of keysetPages({ venue: "", marketId: "" }, selectAfter)) {
      if (isStopping()) break;
      const prices = await readPricesAt(database, markets, at);
      const isRecent = clock.now() - at <= BOARD_PRICE_AGE_MS_MAX;
      const marks = markets.map(({ venue, marketId }, index) => {
        const yesPrice = prices[index] ?? (isRecent ? board.find(venue, marketId)?.yesPrice : null) ?? null;
        return { venue, marketId, yesPrice };
      });
      changes += await database.transaction(async (transaction) => {
        const sealedDay = await lockShadowBook(transaction);
        return sealedDay === null || sealedDay < date ? replaceMarks(transaction, date, marks) : 0;
      });
      await clock.yieldToEventLoop();
    }
    return changes;
  };

  const closeNext = async (): Promise<boolean> => {
    const { firstTradeAt, lastClosedDay, sealedDay } = await selectProgress(database);
    if (firstTradeAt === null) return false;
    const date = utcDate(lastClosedDay === null ? firstTradeAt : startOfNextDay(lastClosedDay));
    if (clock.now() < startOfNextDay(date) + CLOSE_DELAY_MS) return false;
    if (sealedDay === null || sealedDay < date) {
      await writeMarks(date, startOfNextDay(date));
      if (isStopping()) return false;
      await database.transaction((transaction) => sealDay(transaction, date));
    }
    // Nothing can be added to a sealed day, so every node computes the same totals, even after a crash.
    await insertDay(database, await computeDay(database, wholeDay(date)));
    return true;
  };

  return {
    /** Closes all days that have ended. Returns the number of days that it closed. */
    async closeDays(): Promise<number> {
      let count = 0;
      while (!isStopping() && (await closeNext())) count += 1;
      return count;
    },
    /** Values the open trades at the last prices. The marks of the current day are replaced until the day is closed. */
    async markOpenTrades(): Promise<void> {
      const now = Math.round(clock.now());
      if ((await writeMarks(utcDate(now), now)) > 0) await updateMarkedAt(database, now);
    },
    /**
     * Deletes marks older than 400 days, of markets that were settled more than 400 days ago. Returns the number of
     * deleted marks.
     */
    async deleteOldMarks(): Promise<number> {
      const { lastClosedDay } = await selectProgress(database);
      if (lastClosedDay === null) return 0;
      const keptSince = marksKeptSince(clock.now());
      // An open day requires the marks of the previous day.
      const before = lastClosedDay < keptSince ? lastClosedDay : keptSince;
      return deleteInBatches(DELETE_ROWS_MAX, DELETE_BATCHES_MAX, async () =>
        isStopping() ? 0 : deleteMarks(database, before, DELETE_ROWS_MAX),
      );
    },
  };
}

/** Whether a time is in a sealed day, to which nothing can be added. */
export const isSealed = (at: number, sealedDay: string | null): boolean =>
  sealedDay !== null && at < startOfNextDay(sealedDay);
