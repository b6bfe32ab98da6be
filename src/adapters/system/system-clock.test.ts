import assert from "node:assert/strict";
import { test } from "node:test";
import { atEndOfLoopIteration, systemClock } from "./system-clock.ts";

test("what a round of the event loop ends with goes before whoever waits for a turn", async () => {
  const order: string[] = [];
  const turns = Array.from({ length: 3 }, (_, index) =>
    systemClock.yieldToEventLoop().then(() => order.push(`turn ${index}`)),
  );
  // A turn is asked for first, and again in each round: what answers wait for passes them all.
  await turns[0];
  atEndOfLoopIteration(() => order.push("end of the first round"));
  await turns[1];
  atEndOfLoopIteration(() => order.push("end of the second round"));
  await turns[2];
  assert.deepEqual(order, ["turn 0", "end of the first round", "turn 1", "end of the second round", "turn 2"]);
});

test("with nobody waiting for a turn the round ends all the same, once and in order", async () => {
  const order: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  atEndOfLoopIteration(() => order.push(1));
  atEndOfLoopIteration(() => {
    order.push(2);
    resolve();
  });
  assert.deepEqual(order, []);
  await promise;
  await systemClock.yieldToEventLoop();
  assert.deepEqual(order, [1, 2]);
});

test("what is asked for at a round's end waits for the next", async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  atEndOfLoopIteration(() => {
    atEndOfLoopIteration(() => {
      order.push("next round");
      resolve();
    });
    order.push("this round");
  });
  atEndOfLoopIteration(() => order.push("this round too"));
  await promise;
  assert.deepEqual(order, ["this round", "this round too", "next round"]);
});
