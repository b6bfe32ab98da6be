import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { idsOf, walkPages } from "./page-walk.ts";

interface Page {
  readonly ids: readonly string[];
  readonly next: string | null;
  readonly total?: number;
}

const toRows = (page: Page) => ({ ...page, rows: page.ids.map((id) => ({ id })) });

/** Walks the pages that `pageAt` returns for each cursor. The cursor of the first page is "". */
async function walk(pageAt: (cursor: string) => Page, options: { pagesMax?: number; pagesOverlap?: boolean } = {}) {
  const { countDrop, drops } = countDrops();
  const incompleteReasons: (string | null)[] = [];
  const seenIds: string[] = [];
  let requests = 0;
  const pages = walkPages<ReturnType<typeof toRows>>({
    async fetch(cursor) {
      requests += 1;
      return toRows(pageAt(cursor ?? ""));
    },
    nextOf: ({ next }) => next,
    idField: "id",
    totalOf: ({ total }) => total ?? null,
    pagesMax: options.pagesMax ?? 100,
    pagesOverlap: options.pagesOverlap ?? false,
    countDrop,
  });
  for await (const { page, incompleteReason } of pages) {
    incompleteReasons.push(incompleteReason);
    seenIds.push(...page.ids);
  }
  return { drops, incompleteReason: incompleteReasons.at(-1), incompleteReasons, seenIds, requests };
}

const createIds = (from: number, count: number) => Array.from({ length: count }, (_, index) => `id-${from + index}`);
/** Returns a `pageAt` function whose cursors are page numbers. */
const pageAtNumber = (createPage: (number: number) => Page) => (cursor: string) => createPage(Number(cursor || 0));

test("walks a complete listing to its end without counting a drop", async () => {
  const { drops, incompleteReason, seenIds } = await walk(
    pageAtNumber((number) => ({
      ids: createIds(number * 10, 10),
      next: number < 4 ? String(number + 1) : null,
      total: 50,
    })),
  );
  assert.deepEqual([seenIds.length, incompleteReason, drops], [50, null, {}]);
});

test("prefetch requests the next page before yielding a page, requests none after the last page, and throws an error at the page that failed", async () => {
  const walkWithPrefetch = (pageAt: (cursor: string | null) => Page, pagesMax: number) =>
    walkPages<ReturnType<typeof toRows>>({
      fetch: async (cursor) => toRows(pageAt(cursor)),
      nextOf: ({ next }) => next,
      idField: "id",
      prefetch: true,
      pagesMax,
      countDrop() {},
    });
  let requests = 0;
  const pages = walkWithPrefetch(() => {
    requests += 1;
    return { ids: createIds(requests * 10, 10), next: String(requests) };
  }, 2);
  const requestsAtPage: number[] = [];
  for await (const _ of pages) requestsAtPage.push(requests);
  assert.deepEqual(requestsAtPage, [2, 2]);
  const failingPages = walkWithPrefetch((cursor) => {
    if (cursor !== null) throw new Error("the next page failed");
    return { ids: createIds(0, 10), next: "1" };
  }, 9);
  assert.equal((await failingPages.next()).done, false);
  await assert.rejects(async () => failingPages.next(), /the next page failed/);
});

test("the walk ends if a cursor is repeated, even if the rows are new", async () => {
  let page = 0;
  const { drops, incompleteReason, requests } = await walk(() => ({ ids: createIds(10 * page++, 10), next: "again" }));
  assert.deepEqual([incompleteReason, requests, drops], ["page_loop", 2, { page_loop: 1 }]);
});

test("the walk ends if all rows of a page are repeated, even if the cursor is new", async () => {
  const { drops, incompleteReason, requests } = await walk(
    pageAtNumber((number) => ({ ids: createIds(0, 10), next: String(number + 1) })),
  );
  assert.deepEqual([incompleteReason, requests, drops], ["page_loop", 2, { page_loop: 1 }]);
});

test("detects a loop over several pages at its first repeated page", async () => {
  const { incompleteReason, requests } = await walk(
    pageAtNumber((number) => ({ ids: createIds((number % 3) * 10, 10), next: String(number + 1) })),
  );
  assert.deepEqual([incompleteReason, requests], ["page_loop", 4]);
});

test("the walk ends at an empty page, even if the page has a next cursor", async () => {
  const { drops, incompleteReason, requests } = await walk(() => ({ ids: [], next: "more" }));
  assert.deepEqual([incompleteReason, requests, drops], ["page_empty", 1, { page_empty: 1 }]);
});

test("the walk ends after the maximum number of pages", async () => {
  const endlessPages = pageAtNumber((number) => ({ ids: createIds(number * 10, 10), next: String(number + 1) }));
  const { drops, incompleteReason, requests } = await walk(endlessPages, { pagesMax: 7 });
  assert.deepEqual([incompleteReason, requests, drops], ["page_limit", 7, { page_limit: 1 }]);
});

test("reports `page_short` if a listing is well below the venue's total, but not if the difference is small", async () => {
  const shortWalk = await walk(() => ({ ids: createIds(0, 400), next: null, total: 1_000 }));
  assert.deepEqual([shortWalk.incompleteReason, shortWalk.drops], ["page_short", { page_short: 1 }]);
  const nearlyCompleteWalk = await walk(() => ({ ids: createIds(0, 960), next: null, total: 1_000 }));
  assert.deepEqual([nearlyCompleteWalk.incompleteReason, nearlyCompleteWalk.drops], [null, {}]);
});

test("does not count repeated rows towards the total", async () => {
  const { incompleteReason } = await walk(
    pageAtNumber((number) => ({
      ids: number === 0 ? createIds(0, 100) : [...createIds(0, 99), "new"],
      next: number === 0 ? "1" : null,
      total: 200,
    })),
  );
  assert.equal(incompleteReason, "page_short");
});

test("counts rows repeated on a later page and continues; if pages overlap by design, does not count them", async () => {
  const overlappingPages = pageAtNumber((number) => ({
    ids: createIds(number * 9, 10),
    next: number < 2 ? String(number + 1) : null,
  }));
  const { drops, incompleteReason } = await walk(overlappingPages);
  assert.deepEqual([incompleteReason, drops], [null, { page_rows_repeated: 2 }]);
  assert.deepEqual((await walk(overlappingPages, { pagesOverlap: true })).drops, {});
});

test("counts a row repeated within one page even if pages overlap by design", async () => {
  const pagesWithRepeatedRows = pageAtNumber((number) => ({
    ids: [...createIds(number * 9, 10), ...createIds(number * 9 + 4, 2)],
    next: number < 1 ? "1" : null,
  }));
  assert.deepEqual((await walk(pagesWithRepeatedRows, { pagesOverlap: true })).drops, { page_rows_repeated: 4 });
});

test("for any pages, the walk ends, and counts and reports an incomplete listing once, on the last page", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          ids: fc.array(fc.integer({ min: 0, max: 30 }).map(String), { maxLength: 6 }),
          next: fc.option(fc.integer({ min: 0, max: 12 }).map(String)),
        }),
        { minLength: 1, maxLength: 12 },
      ),
      async (pages) => {
        const { incompleteReasons, drops, requests } = await walk(
          (cursor) => pages[Number(cursor || 0) % pages.length] ?? { ids: [], next: null },
          { pagesMax: 9 },
        );
        assert.ok(requests <= 9);
        const lastReason = incompleteReasons.at(-1) ?? null;
        assert.deepEqual(
          incompleteReasons.filter((incompleteReason) => incompleteReason !== null),
          lastReason === null ? [] : [lastReason],
        );
        const { page_rows_repeated: _, ...countedReasons } = drops;
        assert.deepEqual(countedReasons, lastReason === null ? {} : { [lastReason]: 1 });
      },
    ),
  );
});

test("`idsOf` returns text and numeric ids and skips values without an id", () => {
  assert.deepEqual(idsOf([{ id: "a" }, { id: 7 }, {}, null, "x", { id: {} }], "id"), ["a", "7"]);
});
