import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { VenueError } from "../../domain/errors.ts";
import { VenueRequestQueue } from "./venue-request-queue.ts";

test("a request that waits behind longer ones ends at its own deadline, is not sent, and does not keep its place", async () => {
  const clock = new FakeClock();
  const queue = new VenueRequestQueue(clock);
  const sent: string[] = [];
  const run = (name: string, timeoutMs: number, responseMs: number) =>
    queue
      .run("alpha", timeoutMs, (signal) => {
        sent.push(name);
        return clock.sleep(responseMs, signal);
      })
      .then(
        () => `${name} answered`,
        (error: unknown) => `${name} ${error instanceof VenueError ? error.failure : error}`,
      );
  const long = ["a", "b", "c", "d"].map((name) => run(name, 8_000, 6_000));
  const short = run("e", 4_000, 10);
  await clock.advance(4_000);
  assert.equal(await short, "e timeout");
  await clock.advance(2_000);
  assert.deepEqual(await Promise.all(long), ["a answered", "b answered", "c answered", "d answered"]);
  const next = ["f", "g", "h", "i"].map((name) => run(name, 4_000, 10));
  await clock.advance(10);
  assert.deepEqual(await Promise.all(next), ["f answered", "g answered", "h answered", "i answered"]);
  assert.deepEqual(sent, ["a", "b", "c", "d", "f", "g", "h", "i"]);
  assert.equal(clock.pending, 0);
});
