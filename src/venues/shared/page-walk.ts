import type { DropCounter, IncompleteReason } from "../../ports/venue.ts";

export interface PageWalkOptions<Page> {
  /** @param cursor result of `nextOf` for the previous page; null for the first page */
  readonly fetch: (cursor: string | null) => Promise<Page>;
  /** The cursor of the next page, or null on the last page. */
  readonly nextOf: (page: Page) => string | null;
  /** Ids of the rows, without the rows that have none. */
  readonly idsOf: (page: Page) => readonly string[];
  readonly rowsOf: (page: Page) => number;
  /** Total number of rows according to the venue; null if it does not report one. */
  readonly totalOf?: (page: Page) => number | null;
  /** Pages overlap by design, so rows repeated from an earlier page are not counted. */
  readonly overlap?: boolean;
  /** Requests the next page while the caller processes the current one. Only for walks that are read to the end. */
  readonly prefetch?: boolean;
  readonly pagesMax: number;
  readonly countDrop: DropCounter;
}

export interface WalkedPage<Page> {
  readonly page: Page;
  /** On the last page of an incomplete listing: why it is incomplete. The reason is also counted. */
  readonly cut: IncompleteReason | null;
}

/** Tolerated difference from the venue's total, because rows are added and removed while pages are read. */
const TOTAL_SHARE_MIN = 0.95;
const TOTAL_SLACK_ROWS = 25;

/**
 * Yields pages until the last one, and ends early if the listing is incomplete: a cursor or a whole page is repeated, a
 * page before the last is empty, the rows fall short of the total, or there are more than `pagesMax` pages. Rows that
 * are repeated on a later page are common in changing listings and are counted as `page_rows_repeated`.
 */
export async function* walkPages<Page>(options: PageWalkOptions<Page>): AsyncGenerator<WalkedPage<Page>> {
  const { fetch, nextOf, idsOf, rowsOf, pagesMax, countDrop } = options;
  const cursors = new Set<string>();
  const ids = new Set<string>();
  let rows = 0;
  let nextPage = fetch(null);
  for (let pageNumber = 1; ; pageNumber++) {
    const page: Page = await nextPage;
    const pageIds = idsOf(page);
    const knownIds = ids.size;
    for (const id of pageIds) ids.add(id);
    const repeated = pageIds.length - (ids.size - knownIds);
    rows += rowsOf(page) - repeated;
    const next: string | null = nextOf(page);
    const total = options.totalOf?.(page) ?? null;
    const isAllRepeated = pageIds.length > 0 && repeated === pageIds.length && knownIds > 0;
    let cut: IncompleteReason | null = null;
    if (next !== null && (isAllRepeated || cursors.has(next))) cut = "page_loop";
    else if (next !== null && rowsOf(page) === 0) cut = "page_empty";
    else if (next !== null && pageNumber >= pagesMax) cut = "page_limit";
    else if (next === null && total !== null && rows < total * TOTAL_SHARE_MIN - TOTAL_SLACK_ROWS) cut = "page_short";
    // Overlapping pages do not explain a row that is repeated within one page.
    const unexplained = options.overlap === true ? pageIds.length - new Set(pageIds).size : repeated;
    if (cut !== null) countDrop(cut);
    else if (unexplained > 0) countDrop("page_rows_repeated", unexplained);
    const isLast = cut !== null || next === null;
    if (!isLast && options.prefetch === true) {
      nextPage = fetch(next);
      // A failure is thrown when the page is awaited. If the walk ends before that, it must not be an unhandled
      // rejection.
      nextPage.catch(() => {});
    }
    yield { page, cut };
    if (isLast) return;
    cursors.add(next);
    if (options.prefetch !== true) nextPage = fetch(next);
  }
}

/** The values of the rows' id field, without the rows that have none. */
export function idsOf(rows: readonly unknown[], field: string): string[] {
  const ids: string[] = [];
  for (const row of rows) {
    if (typeof row !== "object" || row === null) continue;
    const id = (row as Readonly<Record<string, unknown>>)[field];
    if (typeof id === "string" || typeof id === "number") ids.push(String(id));
  }
  return ids;
}
