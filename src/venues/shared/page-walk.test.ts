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

/** Walks the pages that `pageAt` returns by cursor; the cursor of the first page is "". */
async function walk(pageAt: (cursor: string) => Page, options: { pagesMax?: number; overlap?: boolean } = {}) {
  const { drop: countDrop, drops } = countDrops();
  const cuts: (string | null)[] = [];
  const seen: string[] = [];
  let requests = 0;
  const pages = walkPages<Page>({
    async fetch(cursor) {
      requests += 1;
      return pageAt(cursor ?? "");
    },
    nextOf: ({ next }) => next,
    idsOf: ({ ids }) => ids,
    rowsOf: ({ ids }) => ids.length,
    totalOf: ({ total }) => total ?? null,
    pagesMax: options.pagesMax ?? 100,
    overlap: options.overlap ?? false,
    countDrop,
  });
  for await (const { page, cut } of pages) {
    cuts.push(cut);
    seen.push(...page.ids);
  }
  return { drops, cut: cuts.at(-1), cuts, seen, requests };
}

const ids = (from: number, count: number) => Array.from({ length: count }, (_, index) => `id-${from + index}`);
/** Pages whose cursor is their number. */
const numbered = (make: (number: number) => Page) => (cursor: string) => make(Number(cursor || 0));

test("walks a complete listing to its end without counting a drop", async () => {
  const { drops, cut, seen } = await walk(
    numbered((number) => ({ ids: ids(number * 10, 10), next: number < 4 ? String(number + 1) : null, total: 50 })),
  );
  assert.deepEqual([seen.length, cut, drops], [50, null, {}]);
});

test("requests the next page before yielding the current one, none after the last, and throws a failure at its page", async () => {
  const prefetched = (pageAt: (cursor: string | null) => Page, pagesMax: number) =>
    walkPages<Page>({
      fetch: async (cursor) => pageAt(cursor),
      nextOf: ({ next }) => next,
      idsOf: (page) => page.ids,
      rowsOf: (page) => page.ids.length,
      prefetch: true,
      pagesMax,
      countDrop() {},
    });
  let requests = 0;
  const pages = prefetched(() => {
    requests += 1;
    return { ids: ids(requests * 10, 10), next: String(requests) };
  }, 2);
  const requestsAtPage: number[] = [];
  for await (const _ of pages) requestsAtPage.push(requests);
  assert.deepEqual(requestsAtPage, [2, 2]);
  const failing = prefetched((cursor) => {
    if (cursor !== null) throw new Error("the next page failed");
    return { ids: ids(0, 10), next: "1" };
  }, 9);
  assert.equal((await failing.next()).done, false);
  await assert.rejects(async () => failing.next(), /the next page failed/);
});

test("ends at a repeated cursor even if the rows are new", async () => {
  let page = 0;
  const { drops, cut, requests } = await walk(() => ({ ids: ids(10 * page++, 10), next: "again" }));
  assert.deepEqual([cut, requests, drops], ["page_loop", 2, { page_loop: 1 }]);
});

test("ends at a page of repeated rows even if the cursor is new", async () => {
  const { drops, cut, requests } = await walk(numbered((number) => ({ ids: ids(0, 10), next: String(number + 1) })));
  assert.deepEqual([cut, requests, drops], ["page_loop", 2, { page_loop: 1 }]);
});

test("detects a loop over several pages at its first repeated page", async () => {
  const { cut, requests } = await walk(
    numbered((number) => ({ ids: ids((number % 3) * 10, 10), next: String(number + 1) })),
  );
  assert.deepEqual([cut, requests], ["page_loop", 4]);
});

test("ends at an empty page that has a next cursor", async () => {
  const { drops, cut, requests } = await walk(() => ({ ids: [], next: "more" }));
  assert.deepEqual([cut, requests, drops], ["page_empty", 1, { page_empty: 1 }]);
});

test("ends after the maximum number of pages", async () => {
  const endless = numbered((number) => ({ ids: ids(number * 10, 10), next: String(number + 1) }));
  const { drops, cut, requests } = await walk(endless, { pagesMax: 7 });
  assert.deepEqual([cut, requests, drops], ["page_limit", 7, { page_limit: 1 }]);
});

test("reports a listing well below the venue's total as short, but not a small difference", async () => {
  const short = await walk(() => ({ ids: ids(0, 400), next: null, total: 1_000 }));
  assert.deepEqual([short.cut, short.drops], ["page_short", { page_short: 1 }]);
  const nearlyComplete = await walk(() => ({ ids: ids(0, 960), next: null, total: 1_000 }));
  assert.deepEqual([nearlyComplete.cut, nearlyComplete.drops], [null, {}]);
});

test("does not count repeated rows towards the total", async () => {
  const { cut } = await walk(
    numbered((number) => ({
      ids: number === 0 ? ids(0, 100) : [...ids(0, 99), "new"],
      next: number === 0 ? "1" : null,
      total: 200,
    })),
  );
  assert.equal(cut, "page_short");
});

test("counts rows repeated on a later page without ending, and does not count them if pages overlap by design", async () => {
  const overlapping = numbered((number) => ({
    ids: ids(number * 9, 10),
    next: number < 2 ? String(number + 1) : null,
  }));
  const { drops, cut } = await walk(overlapping);
  assert.deepEqual([cut, drops], [null, { page_rows_repeated: 2 }]);
  assert.deepEqual((await walk(overlapping, { overlap: true })).drops, {});
});

test("counts a row repeated within one page even if pages overlap by design", async () => {
  const doubled = numbered((number) => ({
    ids: [...ids(number * 9, 10), ...ids(number * 9 + 4, 2)],
    next: number < 1 ? "1" : null,
  }));
  assert.deepEqual((await walk(doubled, { overlap: true })).drops, { page_rows_repeated: 4 });
});

test("always ends, and counts and reports a cut once, on the last page", async () => {
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
        const { cuts, drops, requests } = await walk(
          (cursor) => pages[Number(cursor || 0) % pages.length] ?? { ids: [], next: null },
          { pagesMax: 9 },
        );
        assert.ok(requests <= 9);
        const last = cuts.at(-1) ?? null;
        assert.deepEqual(
          cuts.filter((cut) => cut !== null),
          last === null ? [] : [last],
        );
        const { page_rows_repeated: _, ...counted } = drops;
        assert.deepEqual(counted, last === null ? {} : { [last]: 1 });
      },
    ),
  );
});

test("reads text and numeric ids and omits values without one", () => {
  assert.deepEqual(idsOf([{ id: "a" }, { id: 7 }, {}, null, "x", { id: {} }], "id"), ["a", "7"]);
});
