import assert from "node:assert/strict";
import { test } from "node:test";
import { PageSize } from "./page-size.ts";

/** Records successes until the size changes. Returns their number, or null if it does not change. */
function successesUntilChange(pageSize: PageSize): number | null {
  const before = pageSize.current;
  for (let count = 1; count <= 1_000; count++) {
    pageSize.recordSuccess();
    if (pageSize.current !== before) return count;
  }
  return null;
}

test("starts at 100 events, the venue's maximum, and shrinks to 10", () => {
  const pageSize = new PageSize();
  const sizes = [pageSize.current];
  while (pageSize.shrink()) sizes.push(pageSize.current);
  assert.deepEqual(sizes, [100, 50, 25, 10]);
  assert.equal(successesUntilChange(new PageSize()), null);
});

test("tries the next larger size after 20 successful pages", () => {
  const pageSize = new PageSize();
  pageSize.shrink();
  pageSize.shrink();
  assert.deepEqual([successesUntilChange(pageSize), pageSize.current], [20, 50]);
  assert.deepEqual([successesUntilChange(pageSize), pageSize.current], [20, 100]);
});

test("waits twice as long, at most 640 pages, each time the larger size fails again", () => {
  const pageSize = new PageSize();
  const waits: (number | null)[] = [];
  for (let round = 0; round < 8; round++) {
    pageSize.shrink();
    waits.push(successesUntilChange(pageSize));
    // Fewer than 20 successes do not confirm the larger size.
    for (let page = 0; page < 3; page++) pageSize.recordSuccess();
  }
  assert.deepEqual(waits, [20, 40, 80, 160, 320, 640, 640, 640]);
});

test("waits 20 pages again after the larger size has succeeded for 20 pages", () => {
  const pageSize = new PageSize();
  for (let round = 0; round < 3; round++) {
    pageSize.shrink();
    successesUntilChange(pageSize);
  }
  for (let page = 0; page < 20; page++) pageSize.recordSuccess();
  pageSize.shrink();
  assert.equal(successesUntilChange(pageSize), 20);
});
