import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../support/service-process.ts";
import {
  everySwitch,
  type FaultStorm,
  findWrongMarkets,
  openFaultStorm,
  watchResponses,
} from "../support/venues/fault-storm.ts";

const FAULT_KIND_COUNT_MIN = 8;
/** The faults stay on until more responses with status 200 have been checked. */
const RESPONSES_MIN = 100;

let storm: FaultStorm;

before(async () => {
  storm = await openFaultStorm({ marketCount: 60 });
});
after(() => storm.end());

test("every response is valid during faults at a rate of 25%, and all quotes are correct after the faults end", async () => {
  const watcher = watchResponses(storm.service);
  // The rate of frozen requests is lower, because each of them blocks until its timeout.
  await storm.setFaults("all", { ...(await everySwitch(storm, 0.25)), frozen: 0.02, socket_frozen: 0.02 });
  await eventually(async () => {
    const kinds = Object.values(await storm.injectedFaults()).map((faults) => Object.keys(faults).length);
    const hasAllKinds = kinds.every((count) => count >= FAULT_KIND_COUNT_MIN);
    return hasAllKinds && watcher.successCount() > RESPONSES_MIN ? true : null;
  }, `${FAULT_KIND_COUNT_MIN} kinds of faults at every venue and ${RESPONSES_MIN} checked responses`);
  await storm.setFaults("all", {});
  const faultsEndedAt = Date.now();
  await eventually(
    async () => ((await findWrongMarkets(storm, faultsEndedAt)).wrong.length === 0 ? true : null),
    "all quotes to be correct",
  );
  const { responses, violations } = await watcher.stop();
  assert.deepEqual(violations, []);
  assert.ok((responses[200] ?? 0) > RESPONSES_MIN, JSON.stringify(responses));

  const injected = await storm.injectedFaults();
  const { venues } = (await storm.service.get("/v1/health")).json.checks;
  for (const [venue, faults] of Object.entries(injected)) {
    assert.ok(Object.keys(faults).length >= FAULT_KIND_COUNT_MIN, venue);
    const countedReasons = Object.keys(venues[venue].drops);
    assert.ok(
      countedReasons.some((reason) => reason.startsWith("attempt_")),
      `${venue} counted ${countedReasons}`,
    );
  }
});

test("health counts each kind of failed response under a different drop reason", async () => {
  const cases = [
    [{ server_error: 1 }, "attempt_server_error"],
    [{ rate_limit: 1 }, "attempt_rate_limited"],
    [{ garbage: 1 }, "attempt_bad_body"],
    [{ cut_socket: 1 }, "attempt_network"],
    [{ price_out_of_range: { kind: "above" } }, "price_out_of_range"],
  ] as const;
  const readDrops = async () => (await storm.service.get("/v1/health")).json.checks.venues.limitless.drops;
  for (const [switches, reason] of cases) {
    const countBefore = (await readDrops())[reason] ?? 0;
    await storm.setFaults("limitless", switches);
    await eventually(async () => ((await readDrops())[reason] > countBefore ? true : null), reason);
  }
  await storm.setFaults("limitless", {});
});
