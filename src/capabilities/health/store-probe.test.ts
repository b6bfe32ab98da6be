import assert from "node:assert/strict";
import { test } from "node:test";
import { embeddedDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { AppError } from "../../domain/errors.ts";
import type { Database } from "../../ports/database.ts";
import { StoreProbe } from "./store-probe.ts";

/** A real store behind a switch. */
async function switchableStore() {
  const store = await embeddedDatabase();
  const state = { isUp: true, asked: 0 };
  const answered: Promise<unknown>[] = [];
  const database: Database = {
    query<Row extends Record<string, unknown>>(text: string, parameters?: readonly unknown[]) {
      state.asked += 1;
      const answer = state.isUp
        ? store.query<Row>(text, parameters)
        : Promise.reject(new AppError("store_unavailable", "gone"));
      answered.push(answer.catch(() => {}));
      return answer;
    },
    transaction: (run) => store.transaction(run),
    close: async () => {},
  };
  const clock = new FakeClock();
  /** A second passes and the store has answered. */
  const second = async () => {
    await clock.advance(1_000);
    await Promise.all(answered);
    await clock.settle();
  };
  return { state, clock, probe: new StoreProbe(database, clock), second };
}

test("the store counts as there until an answer says otherwise", async () => {
  const { state, probe } = await switchableStore();
  state.isUp = false;
  probe.start();
  assert.equal(probe.isUp, true);
  probe.stop();
});

test("a store that goes away is noticed within a second, and so is one that comes back", async () => {
  const { state, probe, second } = await switchableStore();
  probe.start();
  await second();
  assert.equal(probe.isUp, true);
  state.isUp = false;
  await second();
  assert.equal(probe.isUp, false);
  await second();
  assert.equal(probe.isUp, false);
  state.isUp = true;
  await second();
  assert.equal(probe.isUp, true);
  probe.stop();
});

test("a stopped probe asks no more, even when stopped while an answer is under way", async () => {
  const { state, clock, probe, second } = await switchableStore();
  probe.start();
  await clock.advance(1_000);
  probe.stop();
  for (let turn = 0; turn < 3; turn++) await second();
  assert.deepEqual([state.asked, clock.pending], [1, 0]);
});

test("a store that hangs without a word is noticed, and believed again when it answers", async () => {
  const clock = new FakeClock();
  const held: (() => void)[] = [];
  const store = await embeddedDatabase();
  const database: Database = {
    query: <Row extends Record<string, unknown>>() => new Promise<Row[]>((resolve) => held.push(() => resolve([]))),
    transaction: (run) => store.transaction(run),
    close: async () => {},
  };
  const probe = new StoreProbe(database, clock);
  probe.start();
  await clock.advance(3_900);
  assert.equal(probe.isUp, true);
  await clock.advance(200);
  assert.equal(probe.isUp, false);
  for (const release of held) release();
  await clock.settle();
  assert.equal(probe.isUp, true);
  probe.stop();
});
