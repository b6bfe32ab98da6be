import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { recordingLog } from "../../../../test/support/test-app.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import type { EventLog } from "../../../event-log/index.ts";
import { LatestEstimates } from "./latest-estimates.ts";

test("an outage of the store is reported until the estimates are loaded, and logged once", async () => {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const state = { isUp: false, hasGap: false };
  const whenUp = <Value>(value: Value) => (state.isUp ? Promise.resolve(value) : Promise.reject(new Error("down")));
  const eventLog: EventLog = {
    latestId: () => whenUp(0),
    startOfNewest: () => whenUp(0),
    readAfter: () => whenUp({ events: [], through: 0, hasGap: state.hasGap, latestId: 0 }),
    applyRetention: () => whenUp(0),
    announce() {},
  };
  const unused = async () => assert.fail("unused");
  const database = { query: async () => [], transaction: unused, close: unused };
  const latest = new LatestEstimates({ database, eventLog, bus: createInProcessBus(quietLog), clock, log });
  latest.start();
  for (let outage = 1; outage <= 2; outage++) {
    state.isUp = false;
    await clock.advance(30_000);
    assert.deepEqual([latest.isFailing, lines.length], [true, outage]);
    state.isUp = true;
    await clock.advance(5_000);
    assert.deepEqual([latest.isFailing, lines.length], [false, outage]);
  }
  await clock.until(latest.stop());
});
