import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eachDatabase, embeddedDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { AppError } from "../domain/errors.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database } from "../ports/database.ts";
import { appendEvents, createEventLog, EVENTS_TOPIC, type EventFilter, type EventLog, followEvents } from "./index.ts";

const BURST = 10_000;

/** A log over a real store behind a switch, whose reads are counted, and a follower of it. */
function bench(database: Database) {
  const bus = createInProcessBus(quietLog);
  const clock = new FakeClock();
  const log = createEventLog({ database, bus });
  const state = { reads: 0, failure: null as Error | null };
  const answered: Promise<unknown>[] = [];
  const counted: Pick<EventLog, "readAfter"> = {
    readAfter(after, options) {
      state.reads += 1;
      const answer = state.failure === null ? log.readAfter(after, options) : Promise.reject(state.failure);
      answered.push(answer.catch(() => {}));
      return answer;
    },
  };
  const stopping = new AbortController();
  const follow = (options: { after?: number; filter?: EventFilter; batchMax?: number; bus?: Bus } = {}) =>
    followEvents({ log: counted, bus, clock, after: 0, signal: stopping.signal, ...options });
  const append = (...keys: string[]) =>
    database.transaction((transaction) =>
      appendEvents(
        transaction,
        keys.map((key) => ({
          ...{ type: key.startsWith("w") ? "whale_alert" : "price_shift", key, occurredAt: 0 },
          ...{ venue: null, marketId: null, payload: { key } },
        })),
      ),
    );
  /** Everything asked of the store is answered and everybody has gone as far as he can. */
  const settle = async () => {
    for (let count = -1; count !== answered.length; ) {
      count = answered.length;
      await Promise.all(answered);
      await nextTurn();
      await nextTurn();
    }
  };
  return { bus, clock, log, state, stopping, follow, append, settle };
}

const keysOf = (result: Awaited<ReturnType<ReturnType<typeof followEvents>["next"]>>) =>
  result.done === true ? "done" : result.value.events.map(({ payload }) => payload.key).join(",");

eachDatabase(
  "a follower gets what is there in batches, and then what comes as soon as it is woken",
  async (database) => {
    const { log, stopping, follow, append, settle, clock } = bench(database);
    await append("1", "2", "3");
    const events = follow({ batchMax: 2 });
    assert.equal(keysOf(await events.next()), "1,2");
    assert.equal(keysOf(await events.next()), "3");
    const next = events.next();
    await settle();
    await append("4");
    log.announce();
    assert.equal(keysOf(await next), "4");
    assert.equal(clock.monotonic(), 0);
    stopping.abort();
    assert.equal(keysOf(await events.next()), "done");
  },
);

eachDatabase("without a wake-up it looks by itself once a second", async (database) => {
  const { clock, state, stopping, follow, append, settle } = bench(database);
  const events = follow();
  const next = events.next();
  await settle();
  await append("lost wake-up");
  const before = state.reads;
  await clock.advance(999);
  await settle();
  assert.equal(state.reads, before);
  await clock.advance(1);
  assert.equal(keysOf(await next), "lost wake-up");
  stopping.abort();
});

eachDatabase("a wake-up during a read is not lost", async (database) => {
  const { bus, clock, log, stopping, append } = bench(database);
  let during: () => Promise<unknown> = async () => {};
  const events = followEvents({
    log: {
      async readAfter(after, options) {
        const page = await log.readAfter(after, options);
        await during();
        return page;
      },
    },
    ...{ bus, clock, after: 0, signal: stopping.signal },
  });
  during = async () => {
    during = async () => {};
    await append("late");
    log.announce();
    await nextTurn();
    await nextTurn();
  };
  assert.equal(keysOf(await events.next()), "late");
  assert.equal(clock.monotonic(), 0);
  stopping.abort();
});

test("a burst of wake-ups makes a slow taker read a few times, and never while he is busy", async () => {
  const database = await embeddedDatabase();
  await database.query("truncate event_log, event_log_head");
  const { log, state, stopping, follow, append, settle } = bench(database);
  await append("1");
  const events = follow();
  assert.equal(keysOf(await events.next()), "1");
  const before = state.reads;
  await append("2");
  for (let number = 0; number < BURST; number++) {
    log.announce();
    if (number % 100 === 0) await nextTurn();
  }
  await settle();
  assert.equal(state.reads, before);
  assert.equal(keysOf(await events.next()), "2");
  void events.next();
  await settle();
  assert.ok(state.reads - before <= 3, `${state.reads - before} reads`);
  stopping.abort();
});

eachDatabase("a filter's follower passes over what it does not want and says how far it has come", async (database) => {
  const { stopping, follow, append } = bench(database);
  await append("1", "2", "w3", "4");
  const events = follow({ filter: { types: ["whale_alert"] } });
  const { value } = await events.next();
  assert.deepEqual([value?.events.map(({ id }) => id), value?.through], [[3], 4]);
  stopping.abort();
});

eachDatabase("a position that is no longer kept is told once, with what is left", async (database) => {
  const { log, stopping, follow, append, settle } = bench(database);
  await append("1", "2", "3");
  await database.query("update event_log set appended_at = now() - interval '8 days' where id <= 2");
  await log.applyRetention(7);
  const events = follow({ after: 1 });
  const first = await events.next();
  assert.deepEqual([keysOf(first), first.value?.hasGap], ["3", true]);
  const next = events.next();
  await settle();
  await append("4");
  log.announce();
  const second = await next;
  assert.deepEqual([keysOf(second), second.value?.hasGap], ["4", false]);
  stopping.abort();

  const { stopping: stoppingToo, follow: followToo } = bench(database);
  const ahead = await followToo({ after: 99 }).next();
  assert.deepEqual([keysOf(ahead), ahead.value?.hasGap, ahead.value?.through], ["", true, 4]);
  stoppingToo.abort();
});

eachDatabase("a store that is away is waited for, and wake-ups do not hammer it", async (database) => {
  const { clock, log, state, stopping, follow, append, settle } = bench(database);
  state.failure = new AppError("store_unavailable", "gone");
  const events = follow();
  const next = events.next();
  await settle();
  for (let number = 0; number < 100; number++) {
    log.announce();
    await nextTurn();
  }
  assert.equal(state.reads, 1);
  await clock.advance(1_000);
  await settle();
  assert.equal(state.reads, 2);
  state.failure = null;
  await append("back");
  await clock.advance(1_000);
  assert.equal(keysOf(await next), "back");
  stopping.abort();
});

eachDatabase("any other failure ends it, and nothing stays behind", async (database) => {
  const { bus, clock, state, follow } = bench(database);
  const ended: string[] = [];
  const watched: Bus = {
    ...bus,
    subscribe(topic, wake) {
      const end = bus.subscribe(topic, wake);
      return () => {
        ended.push(topic);
        end();
      };
    },
  };
  state.failure = new Error("a fault of ours");
  await assert.rejects(follow({ bus: watched }).next(), /a fault of ours/);
  assert.deepEqual([ended, clock.pending], [[EVENTS_TOPIC], 0]);
});

eachDatabase("an abort ends it at once, while it waits or before it begins", async (database) => {
  const { clock, state, stopping, follow, settle } = bench(database);
  const next = follow().next();
  await settle();
  assert.equal(clock.pending, 1);
  stopping.abort();
  assert.equal(keysOf(await next), "done");
  assert.equal(clock.pending, 0);
  const reads = state.reads;
  assert.equal(keysOf(await follow().next()), "done");
  assert.equal(state.reads, reads);
});
