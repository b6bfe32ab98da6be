import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { selectHeapOptions } from "./sandbox-process.ts";

/** Allocates objects of which some survive, and prints the size of the heap in MiB. */
const MEASURE_HEAP = `
  let kept = [];
  for (let index = 0; index < 6_000_000; index++) {
    kept.push({ index, list: [index] });
    if (kept.length > 100_000) kept = [];
  }
  console.log(process.memoryUsage().heapTotal / 2 ** 20);`;

test("the process of a small simulated world has a smaller heap than that of a large one", () => {
  const measureHeapMib = (markets: number) => {
    const { stdout, stderr } = spawnSync(process.execPath, [...selectHeapOptions(markets), "--eval", MEASURE_HEAP], {
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    return Number(stdout);
  };
  const [smallMib, largeMib] = [measureHeapMib(1_000), measureHeapMib(1_001)];
  assert.ok(smallMib > 0 && smallMib < 100 && largeMib > 2 * smallMib, `${smallMib} and ${largeMib} MiB`);
});
