import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DueHeap } from "./due-heap.ts";

test("things come out in the order in which they are due, each once, and none before its time", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 100 })), fc.integer({ min: 0, max: 100 }), (times, until) => {
      const heap = new DueHeap<number>();
      for (const [number, at] of times.entries()) heap.push(at, number);
      const out: number[] = [];
      const numbers = new Set<number>();
      for (let due = heap.pop(until); due !== null; due = heap.pop(until)) {
        assert.equal(times[due.item], due.at);
        out.push(due.at);
        numbers.add(due.item);
      }
      assert.deepEqual(
        out,
        times.filter((at) => at <= until).sort((a, b) => a - b),
      );
      assert.equal(numbers.size, out.length);
      assert.equal(heap.size, times.length - out.length);
    }),
  );
});
