import assert from "node:assert/strict";
import { test } from "node:test";
import { embeddedDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Database } from "../../../ports/database.ts";
import { createStoreProbe } from "./store-probe.ts";

/** A probe of a real store that fails while `state.isUp` is false. */
async function createTestProbe() {
  const store = await embeddedDatabase();
  const state = { isUp: true, queries: 0 };
  const responses: Promise<unknown>[] = [];
  const database: Database = {
    query<Row extends object>(text: string, parameters?: readonly unknown[]) {
      state.queries += 1;
      const response = state.isUp
        ? store.query<Row>(text, parameters)
        : Promise.reject(new AppError("store_unavailable", "down"));
      responses.push(response.catch(() => {}));
      return response;
    },
    transaction: (run) => store.transaction(run),
    close: async () => {},
  };
  const clock = new FakeClock();
  /** Advances the clock by a second and waits until the pending queries have settled. */
  const advanceSecond = async () => {
    await clock.advance(1_000);
    await Promise.all(responses);
    await clock.settle();
  };
  return { store, state, clock, probe: createStoreProbe({ database, clock }), advanceSecond };
}

test("the store counts as up until the first query responds", async () => {
  const { state, probe } = await createTestProbe();
  state.isUp = false;
  probe.start();
  assert.equal(probe.isUp, true);
  probe.stop();
});

test("detects a failure or a recovery of the store within a second", async () => {
  const { state, probe, advanceSecond } = await createTestProbe();
  probe.start();
  await advanceSecond();
  assert.equal(probe.isUp, true);
  state.isUp = false;
  await advanceSecond();
  assert.equal(probe.isUp, false);
  await advanceSecond();
  assert.equal(probe.isUp, false);
  state.isUp = true;
  await advanceSecond();
  assert.equal(probe.isUp, true);
  probe.stop();
});

test("a store that answers reads but rejects writes counts as down until a write succeeds", async () => {
  const { store, probe, advanceSecond } = await createTestProbe();
  probe.start();
  await advanceSecond();
  assert.equal(probe.fault, null);
  await store.query("set default_transaction_read_only = on");
  await advanceSecond();
  assert.deepEqual([probe.isUp, probe.fault], [false, "The store cannot be reached at the moment."]);
  await store.query("set default_transaction_read_only = off");
  await advanceSecond();
  assert.deepEqual([probe.isUp, probe.fault], [true, null]);
  probe.stop();
});

test("an internal database error is reported without its message", async () => {
  const { store, probe, advanceSecond } = await createTestProbe();
  await store.query("alter table meta add constraint broken check (key <> 'probed_at') not valid");
  probe.start();
  await advanceSecond();
  assert.equal(probe.fault, "A write to the store failed.");
  await store.query("alter table meta drop constraint broken");
  probe.stop();
});

test("a stopped probe sends no further query, even if a query was pending", async () => {
  const { state, clock, probe, advanceSecond } = await createTestProbe();
  probe.start();
  await clock.advance(1_000);
  probe.stop();
  for (let seconds = 0; seconds < 3; seconds++) await advanceSecond();
  assert.deepEqual([state.queries, clock.pending], [1, 0]);
});

test("a store that stops responding counts as down until it responds", async () => {
  const clock = new FakeClock();
  const pendingResponses: (() => void)[] = [];
  const store = await embeddedDatabase();
  const database: Database = {
    query: <Row extends object>() => new Promise<Row[]>((resolve) => pendingResponses.push(() => resolve([]))),
    transaction: (run) => store.transaction(run),
    close: async () => {},
  };
  const probe = createStoreProbe({ database, clock });
  probe.start();
  await clock.advance(3_900);
  assert.equal(probe.isUp, true);
  await clock.advance(200);
  assert.deepEqual([probe.isUp, probe.fault], [false, "The store does not respond."]);
  for (const respond of pendingResponses) respond();
  await clock.settle();
  assert.equal(probe.isUp, true);
  probe.stop();
});
