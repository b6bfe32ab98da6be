import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { eachDatabase, embeddedDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { AppError } from "../domain/errors.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database } from "../ports/database.ts";
import { appendEvents, createEventLog, EVENTS_TOPIC, type EventLog, followEvents } from "./index.ts";

const BURST_WAKE_UP_COUNT = 10_000;

const controllers: AbortController[] = [];
afterEach(() => {
  for (const controller of controllers.splice(0)) controller.abort();
});

/**
 * An event log on a real database, and followers of it that end after the test. Reads are counted and fail with
 * `state.failure` if set.
 */
function openHarness(database: Database) {
  const bus = createInProcessBus(quietLog);
  const clock = new FakeClock();
  const log = createEventLog({ database, bus });
  const state = { reads: 0, failure: null as Error | null };
  const readPromises: Promise<unknown>[] = [];
  const countingLog: Pick<EventLog, "readAfter"> = {
    readAfter(after, options) {
      state.reads += 1;
      const read = state.failure === null ? log.readAfter(after, options) : Promise.reject(state.failure);
      readPromises.push(read.catch(() => {}));
      return read;
    },
  };
  const controller = new AbortController();
  controllers.push(controller);
  const follow = (options: Partial<Parameters<typeof followEvents>[0]> = {}) =>
    followEvents({ log: countingLog, bus, clock, after: 0, signal: controller.signal, ...options });
  const append = (...keys: string[]) =>
    database.transaction((transaction) =>
      appendEvents(
        transaction,
        keys.map((key) => ({
          type: key.startsWith("w") ? "whale_alert" : "price_shift",
          key,
          occurredAt: 0,
          venue: null,
          marketId: null,
          payload: { key },
        })),
      ),
    );
  /** Waits until no read is pending and all followers are idle. */
  const waitUntilIdle = async () => {
    for (let count = -1; count !== readPromises.length; ) {
      count = readPromises.length;
      await Promise.all(readPromises);
      await yieldToEventLoop();
      await yieldToEventLoop();
    }
  };
  return { bus, clock, log, state, controller, follow, append, waitUntilIdle };
}

const joinKeys = (result: Awaited<ReturnType<ReturnType<typeof followEvents>["next"]>>) =>
  result.done === true ? "done" : result.value.events.map(({ payload }) => payload.key).join(",");

eachDatabase("yields existing events in batches, then each new event right after its wake-up", async (database) => {
  const { log, controller, follow, append, waitUntilIdle, clock } = openHarness(database);
  await append("1", "2", "3");
  const events = follow({ batchMax: 2 });
  assert.equal(joinKeys(await events.next()), "1,2");
  assert.equal(joinKeys(await events.next()), "3");
  const pendingNext = events.next();
  await waitUntilIdle();
  await append("4");
  log.announce();
  assert.equal(joinKeys(await pendingNext), "4");
  assert.equal(clock.monotonic(), 0);
  controller.abort();
  assert.equal(joinKeys(await events.next()), "done");
});

eachDatabase("polls once a second if there is no wake-up", async (database) => {
  const { clock, state, follow, append, waitUntilIdle } = openHarness(database);
  const events = follow();
  const pendingNext = events.next();
  await waitUntilIdle();
  await append("lost wake-up");
  const readsBefore = state.reads;
  await clock.advance(999);
  await waitUntilIdle();
  assert.equal(state.reads, readsBefore);
  await clock.advance(1);
  assert.equal(joinKeys(await pendingNext), "lost wake-up");
});

eachDatabase("a wake-up during a read causes another read", async (database) => {
  const { clock, log, follow, append } = openHarness(database);
  let duringRead: () => Promise<unknown> = async () => {};
  const events = follow({
    log: {
      async readAfter(after, options) {
        const page = await log.readAfter(after, options);
        await duringRead();
        return page;
      },
    },
  });
  duringRead = async () => {
    duringRead = async () => {};
    await append("late");
    log.announce();
    await yieldToEventLoop();
    await yieldToEventLoop();
  };
  assert.equal(joinKeys(await events.next()), "late");
  assert.equal(clock.monotonic(), 0);
});

test("a burst of wake-ups causes few reads, and no reads before the consumer requests the next batch", async () => {
  const database = await embeddedDatabase();
  await database.query("truncate event_log, event_log_head");
  const { log, state, follow, append, waitUntilIdle } = openHarness(database);
  await append("1");
  const events = follow();
  assert.equal(joinKeys(await events.next()), "1");
  const readsBefore = state.reads;
  await append("2");
  for (let number = 0; number < BURST_WAKE_UP_COUNT; number++) {
    log.announce();
    if (number % 100 === 0) await yieldToEventLoop();
  }
  await waitUntilIdle();
  assert.equal(state.reads, readsBefore);
  assert.equal(joinKeys(await events.next()), "2");
  void events.next();
  await waitUntilIdle();
  assert.ok(state.reads - readsBefore <= 3, `${state.reads - readsBefore} reads`);
});

eachDatabase("a filtered follower yields only matching events and reports the last scanned id", async (database) => {
  const { follow, append } = openHarness(database);
  await append("1", "2", "w3", "4");
  const events = follow({ filter: { types: ["whale_alert"] } });
  const { value } = await events.next();
  assert.deepEqual([value?.events.map(({ id }) => id), value?.through], [[3], 4]);
});

eachDatabase("reports a gap once if events after the position have been deleted", async (database) => {
  const { log, follow, append, waitUntilIdle } = openHarness(database);
  await append("1", "2", "3");
  await database.query("update event_log set appended_at = now() - interval '8 days' where id <= 2");
  await log.applyRetention(7);
  const events = follow({ after: 1 });
  const firstResult = await events.next();
  assert.deepEqual([joinKeys(firstResult), firstResult.value?.hasGap], ["3", true]);
  const pendingNext = events.next();
  await waitUntilIdle();
  await append("4");
  log.announce();
  const secondResult = await pendingNext;
  assert.deepEqual([joinKeys(secondResult), secondResult.value?.hasGap], ["4", false]);

  const aheadResult = await follow({ after: 99 }).next();
  assert.deepEqual([joinKeys(aheadResult), aheadResult.value?.hasGap, aheadResult.value?.through], ["", true, 4]);
});

eachDatabase("if the database is unavailable, waits and ignores wake-ups", async (database) => {
  const { clock, log, state, follow, append, waitUntilIdle } = openHarness(database);
  state.failure = new AppError("store_unavailable", "unavailable");
  const events = follow();
  const pendingNext = events.next();
  await waitUntilIdle();
  for (let number = 0; number < 100; number++) {
    log.announce();
    await yieldToEventLoop();
  }
  assert.equal(state.reads, 1);
  await clock.advance(1_000);
  await waitUntilIdle();
  assert.equal(state.reads, 2);
  state.failure = null;
  await append("recovered");
  await clock.advance(1_000);
  assert.equal(joinKeys(await pendingNext), "recovered");
});

eachDatabase("an error except `store_unavailable` ends the follower, its subscription and timers", async (database) => {
  const { bus, clock, state, follow } = openHarness(database);
  const unsubscribedTopics: string[] = [];
  const observedBus: Bus = {
    ...bus,
    subscribe(topic, wake) {
      const unsubscribe = bus.subscribe(topic, wake);
      return () => {
        unsubscribedTopics.push(topic);
        unsubscribe();
      };
    },
  };
  state.failure = new Error("internal error");
  await assert.rejects(follow({ bus: observedBus }).next(), /internal error/);
  assert.deepEqual([unsubscribedTopics, clock.pending], [[EVENTS_TOPIC], 0]);
});

eachDatabase("an abort ends the follower immediately, both before its start and while it waits", async (database) => {
  const { clock, state, controller, follow, waitUntilIdle } = openHarness(database);
  const pendingNext = follow().next();
  await waitUntilIdle();
  assert.equal(clock.pending, 1);
  controller.abort();
  assert.equal(joinKeys(await pendingNext), "done");
  assert.equal(clock.pending, 0);
  const readsBefore = state.reads;
  assert.equal(joinKeys(await follow().next()), "done");
  assert.equal(state.reads, readsBefore);
});
