import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "./frame.ts";
import { FrameRing } from "./frame-ring.ts";

const createFrame = (id: number, size: number): Frame => ({ id, typeBit: 1, market: null, bytes: Buffer.alloc(size) });
const idsIn = (ring: FrameRing): number[] => [...ring.after(ring.floor)].map(({ id }) => id);

test("holds the newest frames within the limits of their number and of their bytes", () => {
  const ring = new FrameRing({ countMax: 3, bytesMax: 100, position: 0 });
  ring.add([createFrame(2, 10), createFrame(4, 10), createFrame(5, 10), createFrame(7, 10)], 8);
  assert.deepEqual([ring.floor, ring.through, idsIn(ring)], [2, 8, [4, 5, 7]]);
  ring.add([createFrame(9, 85)], 9);
  assert.deepEqual([ring.floor, ring.through, idsIn(ring)], [5, 9, [7, 9]]);
  ring.add([createFrame(10, 101)], 10);
  assert.deepEqual([ring.floor, ring.through, idsIn(ring)], [10, 10, []]);
});

test("holds the newest frames after any number of batches", () => {
  const ring = new FrameRing({ countMax: 3, bytesMax: 100, position: 0 });
  for (let id = 1; id <= 50; id++) {
    ring.add([createFrame(id, 1)], id);
    assert.deepEqual(
      idsIn(ring),
      [id - 2, id - 1, id].filter((each) => each > 0),
    );
  }
});
