import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PriorityQueue } from "./priority-queue.ts";

test("pops every entry up to the given time exactly once, in time order", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 100 })), fc.integer({ min: 0, max: 100 }), (times, until) => {
      const queue = new PriorityQueue<number>();
      for (const [item, at] of times.entries()) queue.push(at, item);
      const poppedTimes: number[] = [];
      const poppedItems = new Set<number>();
      for (let entry = queue.pop(until); entry !== null; entry = queue.pop(until)) {
        assert.equal(times[entry.item], entry.at);
        poppedTimes.push(entry.at);
        poppedItems.add(entry.item);
      }
      assert.deepEqual(
        poppedTimes,
        times.filter((at) => at <= until).sort((a, b) => a - b),
      );
      assert.equal(poppedItems.size, poppedTimes.length);
      assert.equal(queue.size, times.length - poppedTimes.length);
    }),
  );
});
