import { isObject } from "../../lib/is-object.ts";
import type { DropCounter, IncompleteReason } from "../../ports/venue.ts";

export interface PageWalkOptions<Page extends { readonly rows: readonly unknown[] }> {
  /** @param cursor result of `nextOf` for the previous page; null for the first page */
  readonly fetch: (cursor: string | null) => Promise<Page>;
  /** The cursor of the next page, or null on the last page. */
  readonly nextOf: (page: Page) => string | null;
  /** Field that identifies a row; null if rows have no id. */
  readonly idField: string | null;
  /** Total number of rows according to the venue; null if it does not report one. */
  readonly totalOf?: (page: Page) => number | null;
  /** True if pages overlap by design. Rows repeated from an earlier page are then not counted. */
  readonly pagesOverlap?: boolean;
  /** True to request the next page while the caller processes the current page. Only if the caller reads all pages. */
  readonly prefetch?: boolean;
  readonly pagesMax: number;
  readonly countDrop: DropCounter;
}

export interface WalkedPage<Page> {
  readonly page: Page;
  /**
   * Why the listing is incomplete; set on the last page of an incomplete listing, otherwise null. The reason is also
   * counted.
   */
  readonly incompleteReason: IncompleteReason | null;
}

/**
 * Minimum number of rows in a complete listing, as a share of the venue's total. It is below 1, because rows are added
 * and removed while pages are read.
 */
const TOTAL_SHARE_MIN = 0.95;
/** Number of rows that may be missing in addition to that share. */
const TOTAL_SLACK_ROWS = 25;

/**
 * Yields all pages. Ends early if the listing is incomplete: a cursor or a whole page is repeated, a page before the
 * last is empty, there are fewer rows than the total, or there are more than `pagesMax` pages. Rows repeated on a later
 * page are common in changing listings and are counted as `page_rows_repeated`.
 */
export async function* walkPages<Page extends { readonly rows: readonly unknown[] }>(
  options: PageWalkOptions<Page>,
): AsyncGenerator<WalkedPage<Page>> {
  const { fetch, nextOf, idField, pagesMax, countDrop } = options;
  const cursors = new Set<string>();
  const ids = new Set<string>();
  let rows = 0;
  let nextPage = fetch(null);
  for (let pageNumber = 1; ; pageNumber++) {
    const page: Page = await nextPage;
    const pageIds = idField === null ? [] : idsOf(page.rows, idField);
    const knownIdCount = ids.size;
    for (const id of pageIds) ids.add(id);
    const repeatedRows = pageIds.length - (ids.size - knownIdCount);
    rows += page.rows.length - repeatedRows;
    const nextCursor: string | null = nextOf(page);
    const total = options.totalOf?.(page) ?? null;
    const isRepeatedPage = pageIds.length > 0 && repeatedRows === pageIds.length && knownIdCount > 0;
    let incompleteReason: IncompleteReason | null = null;
    if (nextCursor !== null && (isRepeatedPage || cursors.has(nextCursor))) incompleteReason = "page_loop";
    else if (nextCursor !== null && page.rows.length === 0) incompleteReason = "page_empty";
    else if (nextCursor !== null && pageNumber >= pagesMax) incompleteReason = "page_limit";
    else if (nextCursor === null && total !== null && rows < total * TOTAL_SHARE_MIN - TOTAL_SLACK_ROWS)
      incompleteReason = "page_short";
    // If pages overlap by design, only rows repeated within one page are counted.
    const countedRepeats = options.pagesOverlap === true ? pageIds.length - new Set(pageIds).size : repeatedRows;
    if (incompleteReason !== null) countDrop(incompleteReason);
    else if (countedRepeats > 0) countDrop("page_rows_repeated", countedRepeats);
    const isLast = incompleteReason !== null || nextCursor === null;
    if (!isLast && options.prefetch === true) {
      nextPage = fetch(nextCursor);
      // Awaiting the page rethrows the error. If the caller stops earlier, this handler prevents an unhandled
      // rejection.
      nextPage.catch(() => {});
    }
    yield { page, incompleteReason };
    if (isLast) return;
    cursors.add(nextCursor);
    if (options.prefetch !== true) nextPage = fetch(nextCursor);
  }
}

/** Returns the values of the rows' id field. Rows without an id are skipped. */
export function idsOf(rows: readonly unknown[], field: string): string[] {
  const ids: string[] = [];
  for (const row of rows) {
    const id = isObject(row) ? row[field] : undefined;
    if (typeof id === "string" || typeof id === "number") ids.push(String(id));
  }
  return ids;
}
