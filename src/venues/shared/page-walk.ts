import type { DropCounter, IncompleteReason } from "../../ports/venue.ts";

export interface PageWalkOptions<Page> {
  /** @param cursor what `nextOf` gave of the page before; null for the first */
  readonly fetch: (cursor: string | null) => Promise<Page>;
  /** The cursor of the next page, or null where the venue says that this is the last. */
  readonly nextOf: (page: Page) => string | null;
  /** What tells the rows of a page apart, in any stable form; rows without are left out. */
  readonly idsOf: (page: Page) => readonly string[];
  readonly rowsOf: (page: Page) => number;
  /** How many rows the venue says there are in all; null where it does not say. */
  readonly totalOf?: (page: Page) => number | null;
  /** Pages are asked for so that they overlap: rows of an earlier page told again say nothing. */
  readonly overlap?: boolean;
  /** The next page is asked for while this one is worked on: for walks that are followed to their end. */
  readonly ahead?: boolean;
  readonly pagesMax: number;
  readonly drop: DropCounter;
}

export interface WalkedPage<Page> {
  readonly page: Page;
  /** On the last page of a sequence that is not whole: why; also counted. */
  readonly cut: IncompleteReason | null;
}

/** Rows come and go while pages are read: an end this near to the venue's own total is the end. */
const TOTAL_SHARE_MIN = 0.95;
const TOTAL_SLACK_ROWS = 25;

/**
 * Walks pages until the venue says that there are no more, and notices by counting where that is not so: cursors and whole
 * pages that come again, empty pages before the end, an end before the total, no end at all. Rows told again on a later page
 * are usual where listings move; they are counted as `page_rows_repeated`.
 */
export async function* walkPages<Page>(options: PageWalkOptions<Page>): AsyncGenerator<WalkedPage<Page>> {
  const { fetch, nextOf, idsOf, rowsOf, pagesMax, drop } = options;
  const cursors = new Set<string>();
  const ids = new Set<string>();
  let rows = 0;
  let coming = fetch(null);
  for (let number = 1; ; number++) {
    const page: Page = await coming;
    const pageIds = idsOf(page);
    const before = ids.size;
    for (const id of pageIds) ids.add(id);
    const repeated = pageIds.length - (ids.size - before);
    rows += rowsOf(page) - repeated;
    const next: string | null = nextOf(page);
    const total = options.totalOf?.(page) ?? null;
    const isAllRepeated = pageIds.length > 0 && repeated === pageIds.length && before > 0;
    let cut: IncompleteReason | null = null;
    if (next !== null && (isAllRepeated || cursors.has(next))) cut = "page_loop";
    else if (next !== null && rowsOf(page) === 0) cut = "page_empty";
    else if (next !== null && number >= pagesMax) cut = "page_limit";
    else if (next === null && total !== null && rows < total * TOTAL_SHARE_MIN - TOTAL_SLACK_ROWS) cut = "page_short";
    // No overlap explains a row that stands on one page twice.
    const unexplained = options.overlap === true ? pageIds.length - new Set(pageIds).size : repeated;
    if (cut !== null) drop(cut);
    else if (unexplained > 0) drop("page_rows_repeated", unexplained);
    const isLast = cut !== null || next === null;
    if (!isLast && options.ahead === true) {
      coming = fetch(next);
      // Whoever asks for the page sees the failure; nobody asking, after an early end, must not end the process.
      coming.catch(() => {});
    }
    yield { page, cut };
    if (isLast) return;
    cursors.add(next);
    if (options.ahead !== true) coming = fetch(next);
  }
}

/** The rows' values of a field that tells them apart; rows without it are left out. */
export function idsOf(rows: readonly unknown[], field: string): string[] {
  const ids: string[] = [];
  for (const row of rows) {
    if (typeof row !== "object" || row === null) continue;
    const id = (row as Readonly<Record<string, unknown>>)[field];
    if (typeof id === "string" || typeof id === "number") ids.push(String(id));
  }
  return ids;
}
