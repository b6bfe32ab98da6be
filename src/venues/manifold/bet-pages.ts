import type { DropCounter } from "../../ports/venue.ts";
import { BET_ROWS_MAX, type Rows } from "./client.ts";
import { isBet } from "./wire.ts";

/** Yields pages of bets, newest first, until a page is not full or the limit of pages is reached. */
export async function* pageBets(
  fetchPage: (page: { readonly beforeTime: number | undefined; readonly limit: number }) => Promise<Rows>,
  { pagesMax, countDrop }: { readonly pagesMax: number; readonly countDrop: DropCounter },
): AsyncGenerator<Rows> {
  let beforeTime: number | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const response = await fetchPage({ beforeTime, limit: BET_ROWS_MAX });
    yield response;
    const oldestAt = response.rows.reduce(
      (oldest: number, row) => (isBet(row) ? Math.min(oldest, row.createdTime) : oldest),
      Number.POSITIVE_INFINITY,
    );
    if (response.rows.length < BET_ROWS_MAX || oldestAt === Number.POSITIVE_INFINITY) return;
    // The next page includes the oldest millisecond again, because it may contain more bets of that millisecond.
    if (beforeTime !== undefined && oldestAt + 1 >= beforeTime) return countDrop("page_loop");
    beforeTime = oldestAt + 1;
  }
}
