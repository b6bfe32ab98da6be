import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { VenueError } from "../../domain/errors.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import { VenueRequestQueue } from "./venue-request-queue.ts";

function setUp() {
  const clock = new FakeClock();
  const queue = new VenueRequestQueue(clock);
  const sent: string[] = [];
  /** Sends a request of a caller that is answered after `responseMs`. Resolves to what happened. */
  const run = (
    name: string,
    { venue = "alpha", caller = "ann", timeoutMs = 4_000, responseMs = 100, send = () => {} }: RunOptions = {},
    sentName = name,
  ): Promise<string> =>
    runForCaller(caller, () =>
      queue.run(venue, name, timeoutMs, async (signal) => {
        sent.push(sentName);
        await clock.sleep(responseMs, signal);
        send();
      }),
    ).then(
      () => `${name} answered`,
      (error: unknown) => `${name} ${error instanceof VenueError ? error.failure : error}`,
    );
  const runShared = (caller: string, id: string, options: RunOptions = {}) =>
    run(id, { ...options, caller }, `${id} by ${caller}`);
  return { clock, sent, run, runShared };
}

interface RunOptions {
  readonly venue?: string;
  readonly caller?: string;
  readonly timeoutMs?: number;
  readonly responseMs?: number;
  readonly send?: () => void;
}

const fail = (failure: VenueError["failure"]) => () => {
  throw new VenueError(failure, "the request failed", { retryable: true });
};

test("a request that has waited for half of its deadline fails, is not sent and frees its place", async () => {
  const { clock, sent, run } = setUp();
  const long = ["a", "b", "c", "d"].map((name) => run(name, { caller: name, timeoutMs: 8_000, responseMs: 6_000 }));
  const short = run("e");
  await clock.advance(2_000);
  assert.equal(await short, "e rate_limited");
  await clock.advance(4_000);
  assert.deepEqual(await Promise.all(long), ["a answered", "b answered", "c answered", "d answered"]);
  const next = ["f", "g", "h", "i"].map((name) => run(name, { caller: name }));
  await clock.advance(100);
  assert.deepEqual(await Promise.all(next), ["f answered", "g answered", "h answered", "i answered"]);
  assert.deepEqual(sent, ["a", "b", "c", "d", "f", "g", "h", "i"]);
  assert.equal(clock.pending, 0);
});

test("a caller with many requests leaves a place free, and callers take turns", async () => {
  const { clock, sent, run } = setUp();
  const all = Array.from({ length: 12 }, (_, index) => run(`ann${index}`));
  all.push(run("bob0", { caller: "bob" }), run("bob1", { caller: "bob" }), run("cid0", { caller: "cid" }));
  await clock.settle();
  assert.deepEqual(sent, ["ann0", "ann1", "ann2", "bob0"]);
  await clock.advance(100);
  assert.deepEqual(sent.slice(4, 8).sort(), ["ann3", "ann4", "bob1", "cid0"]);
  await clock.advance(1_000);
  assert.ok((await Promise.all(all)).every((outcome) => outcome.endsWith("answered")));
});

test("at most 100 requests of one caller wait, and those of other callers still do", async () => {
  const { clock, run } = setUp();
  const many = Array.from({ length: 110 }, (_, index) => run(`ann${index}`, { timeoutMs: 60_000 }));
  const other = run("bob0", { caller: "bob" });
  await clock.advance(200);
  assert.equal(await other, "bob0 answered");
  await clock.advance(60_000);
  const outcomes = await Promise.all(many);
  assert.equal(outcomes.filter((outcome) => outcome.endsWith("rate_limited")).length, 7);
});

test("after three failures in a row, one request per second is sent to a venue until it answers", async () => {
  const { clock, sent, run } = setUp();
  for (const name of ["a", "b", "c"]) {
    const failing = run(name, { send: fail("timeout") });
    await clock.advance(100);
    assert.equal(await failing, `${name} timeout`);
  }
  assert.equal(await run("d"), "d circuit_open");
  await clock.advance(1_000);
  const [probe, refused] = [run("e", { send: fail("network") }), run("f")];
  assert.equal(await refused, "f circuit_open");
  await clock.advance(100);
  assert.equal(await probe, "e network");
  await clock.advance(1_000);
  const success = run("g");
  await clock.advance(100);
  assert.equal(await success, "g answered");
  const after = run("h");
  await clock.advance(100);
  assert.equal(await after, "h answered");
  assert.deepEqual(sent, ["a", "b", "c", "e", "g", "h"]);
});

test("a venue answers at once while another venue is saturated or fails", async () => {
  const { clock, sent, run } = setUp();
  const assertAnswered = async () => {
    const request = run("a", { venue: "beta", responseMs: 0 });
    await clock.advance(0);
    assert.equal(await Promise.race([request, "a waits"]), "a answered");
  };
  const failing = ["a", "b", "c", "d", "e"].map((name) => run(name, { caller: name, send: fail("timeout") }));
  await clock.settle();
  assert.deepEqual(sent, ["a", "b", "c", "d"]);
  await assertAnswered();
  await clock.advance(200);
  await Promise.all(failing);
  assert.equal(await run("f"), "f circuit_open");
  await assertAnswered();
});

test("requests that wait while a venue keeps failing are not sent", async () => {
  const { clock, sent, run } = setUp();
  const all = Array.from({ length: 8 }, (_, index) => run(`r${index}`, { send: fail("network") }));
  await clock.advance(100);
  await clock.advance(100);
  assert.deepEqual(sent, ["r0", "r1", "r2", "r3", "r4"], "two had started before the third failure");
  assert.deepEqual((await Promise.all(all)).slice(5), ["r5 circuit_open", "r6 circuit_open", "r7 circuit_open"]);
});

test("requests that were not sent in time, and bad answers, do not count as failures of the venue", async () => {
  const { clock, run } = setUp();
  for (const failure of ["rate_limited", "client_error", "server_error", "bad_body"] as const)
    for (let index = 0; index < 5; index++) {
      const failing = run("a", { send: fail(failure) });
      await clock.advance(100);
      assert.equal(await failing, `a ${failure}`);
    }
  const next = run("b");
  await clock.advance(100);
  assert.equal(await next, "b answered");
});

test("callers of a shared request wait for their own turns, and the first whose turn comes sends it for all", async () => {
  const { clock, sent, run, runShared } = setUp();
  const many = ["a", "b", "c", "d", "e"].map((name) => run(name));
  const slow = runShared("ann", "x");
  const fast = runShared("bob", "x");
  await clock.advance(100);
  assert.deepEqual(await Promise.all([slow, fast]), ["x answered", "x answered"]);
  await clock.advance(100);
  await Promise.all(many);
  assert.deepEqual(sent, ["a", "b", "c", "x by bob", "d", "e"]);
  const again = runShared("ann", "x");
  await clock.advance(100);
  await again;
  assert.equal(sent.at(-1), "x by ann");
  assert.equal(clock.pending, 0);
});

test("a caller of a shared request waits until its own deadline, and the request goes on for the others", async () => {
  const { clock, sent, runShared } = setUp();
  const first = runShared("ann", "x", { timeoutMs: 8_000, responseMs: 3_000 });
  const hurried = runShared("bob", "x", { timeoutMs: 1_000 });
  await clock.advance(1_000);
  assert.equal(await hurried, "x timeout");
  await clock.advance(2_000);
  assert.equal(await first, "x answered");
  assert.deepEqual(sent, ["x by ann"]);
});

test("the failure of a shared request counts once, and all callers get it", async () => {
  const { clock, runShared, run } = setUp();
  const callers = ["ann", "bob", "cid", "dan"].map((caller) => runShared(caller, "x", { send: fail("network") }));
  await clock.advance(100);
  assert.deepEqual(await Promise.all(callers), Array(4).fill("x network"));
  const next = run("next");
  await clock.advance(100);
  assert.equal(await next, "next answered");
});
