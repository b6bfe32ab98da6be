import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { idsOf, walkPages } from "./page-walk.ts";

interface Page {
  readonly ids: readonly string[];
  readonly next: string | null;
  readonly total?: number;
}

/** Walks pages given by cursor; the first stands under "". */
async function walk(pageAt: (cursor: string) => Page, options: { pagesMax?: number; overlap?: boolean } = {}) {
  const drops: Record<string, number> = {};
  const cuts: (string | null)[] = [];
  const seen: string[] = [];
  let asked = 0;
  const pages = walkPages<Page>({
    async fetch(cursor) {
      asked += 1;
      return pageAt(cursor ?? "");
    },
    nextOf: ({ next }) => next,
    idsOf: ({ ids }) => ids,
    rowsOf: ({ ids }) => ids.length,
    totalOf: ({ total }) => total ?? null,
    pagesMax: options.pagesMax ?? 100,
    overlap: options.overlap ?? false,
    drop(reason, count = 1) {
      drops[reason] = (drops[reason] ?? 0) + count;
    },
  });
  for await (const { page, cut } of pages) {
    cuts.push(cut);
    seen.push(...page.ids);
  }
  return { drops, cut: cuts.at(-1), cuts, seen, asked };
}

const ids = (from: number, count: number) => Array.from({ length: count }, (_, index) => `id-${from + index}`);
const numbered = (make: (number: number) => Page) => (cursor: string) => make(Number(cursor || 0));

test("a whole sequence is walked to its end and nothing is counted", async () => {
  const { drops, cut, seen } = await walk(
    numbered((number) => ({ ids: ids(number * 10, 10), next: number < 4 ? String(number + 1) : null, total: 50 })),
  );
  assert.deepEqual([seen.length, cut, drops], [50, null, {}]);
});

test("a walk ahead asks for the next page before this one is worked on, for none behind the last, and fails in its place", async () => {
  const asked: (string | null)[] = [];
  const whole = walkPages<Page>({
    async fetch(cursor) {
      asked.push(cursor);
      return numbered((number) => ({ ids: ids(number * 10, 10), next: String(number + 1) }))(cursor ?? "");
    },
    nextOf: ({ next }) => next,
    idsOf: (page) => page.ids,
    rowsOf: (page) => page.ids.length,
    ahead: true,
    pagesMax: 2,
    drop() {},
  });
  const askedAtPage: number[] = [];
  for await (const _ of whole) askedAtPage.push(asked.length);
  assert.deepEqual(askedAtPage, [2, 2]);
  const failing = walkPages<Page>({
    async fetch(cursor) {
      if (cursor !== null) throw new Error("the next page failed");
      return { ids: ids(0, 10), next: "1" };
    },
    nextOf: ({ next }) => next,
    idsOf: (page) => page.ids,
    rowsOf: (page) => page.ids.length,
    ahead: true,
    pagesMax: 9,
    drop() {},
  });
  assert.equal((await failing.next()).done, false);
  await assert.rejects(async () => failing.next(), /the next page failed/);
});

test("a cursor that comes again ends the walk, though the rows are new each time", async () => {
  let turn = 0;
  const { drops, cut, asked } = await walk(() => ({ ids: ids(10 * turn++, 10), next: "again" }));
  assert.deepEqual([cut, asked, drops], ["page_loop", 2, { page_loop: 1 }]);
});

test("a page whose rows were all told before ends the walk, though the cursor is new each time", async () => {
  const { drops, cut, asked } = await walk(numbered((number) => ({ ids: ids(0, 10), next: String(number + 1) })));
  assert.deepEqual([cut, asked, drops], ["page_loop", 2, { page_loop: 1 }]);
});

test("a loop over several pages is noticed when it closes", async () => {
  const { cut, asked } = await walk(
    numbered((number) => ({ ids: ids((number % 3) * 10, 10), next: String(number + 1) })),
  );
  assert.deepEqual([cut, asked], ["page_loop", 4]);
});

test("an empty page that promises more ends the walk", async () => {
  const { drops, cut, asked } = await walk(() => ({ ids: [], next: "more" }));
  assert.deepEqual([cut, asked, drops], ["page_empty", 1, { page_empty: 1 }]);
});

test("a sequence that never ends is left after the most pages allowed", async () => {
  const endless = numbered((number) => ({ ids: ids(number * 10, 10), next: String(number + 1) }));
  const { drops, cut, asked } = await walk(endless, { pagesMax: 7 });
  assert.deepEqual([cut, asked, drops], ["page_limit", 7, { page_limit: 1 }]);
});

test("an end well before the venue's own total is short, one that moving rows explain is not", async () => {
  const short = await walk(() => ({ ids: ids(0, 400), next: null, total: 1_000 }));
  assert.deepEqual([short.cut, short.drops], ["page_short", { page_short: 1 }]);
  const moved = await walk(() => ({ ids: ids(0, 960), next: null, total: 1_000 }));
  assert.deepEqual([moved.cut, moved.drops], [null, {}]);
});

test("rows told twice do not make up for those that are missing", async () => {
  const { cut } = await walk(
    numbered((number) => ({
      ids: number === 0 ? ids(0, 100) : [...ids(0, 99), "new"],
      next: number === 0 ? "1" : null,
      total: 200,
    })),
  );
  assert.equal(cut, "page_short");
});

test("rows that moved to a later page are counted and no fault; where pages overlap by design, not even counted", async () => {
  const overlapping = numbered((number) => ({
    ids: ids(number * 9, 10),
    next: number < 2 ? String(number + 1) : null,
  }));
  const { drops, cut } = await walk(overlapping);
  assert.deepEqual([cut, drops], [null, { page_rows_repeated: 2 }]);
  assert.deepEqual((await walk(overlapping, { overlap: true })).drops, {});
});

test("a row that stands on one page twice is counted, also where pages overlap by design", async () => {
  const doubled = numbered((number) => ({
    ids: [...ids(number * 9, 10), ...ids(number * 9 + 4, 2)],
    next: number < 1 ? "1" : null,
  }));
  assert.deepEqual((await walk(doubled, { overlap: true })).drops, { page_rows_repeated: 4 });
});

test("whatever a venue answers, the walk ends, and every cut is counted once and stands on the last page only", async () => {
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
        const { cuts, drops, asked } = await walk(
          (cursor) => pages[Number(cursor || 0) % pages.length] ?? { ids: [], next: null },
          { pagesMax: 9 },
        );
        assert.ok(asked <= 9);
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

test("rows are told apart by text or number, and what is no row or has neither is left out", () => {
  assert.deepEqual(idsOf([{ id: "a" }, { id: 7 }, {}, null, "x", { id: {} }], "id"), ["a", "7"]);
});
