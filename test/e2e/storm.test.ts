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

const FAULT_KINDS_MIN = 8;

let storm: FaultStorm;

before(async () => {
  storm = await openFaultStorm({ marketCount: 60 });
});
after(() => storm.end());

test("with every fault at a rate of 25% every response is valid, and all quotes are correct after the faults end", async () => {
  const watcher = watchResponses(storm.service);
  // A frozen request blocks until its timeout. At a rate of 25% the test would mostly wait, so the rate is lower.
  await storm.setFaults("all", { ...(await everySwitch(storm, 0.25)), frozen: 0.02, socket_frozen: 0.02 });
  await eventually(async () => {
    const kinds = Object.values(await storm.injectedFaults()).map((faults) => Object.keys(faults).length);
    return kinds.every((count) => count >= FAULT_KINDS_MIN) ? true : null;
  }, `${FAULT_KINDS_MIN} kinds of faults at every venue`);
  await storm.setFaults("all", {});
  const since = Date.now();
  await eventually(
    async () => ((await findWrongMarkets(storm, since)).wrong.length === 0 ? true : null),
    "all quotes to be correct",
  );
  const { responses, violations } = await watcher.stop();
  assert.deepEqual(violations, []);
  assert.ok((responses[200] ?? 0) > 100, JSON.stringify(responses));

  const injected = await storm.injectedFaults();
  const { venues } = (await storm.service.get("/v1/health")).json.checks;
  for (const [venue, faults] of Object.entries(injected)) {
    assert.ok(Object.keys(faults).length >= FAULT_KINDS_MIN, venue);
    const counted = Object.keys(venues[venue].drops);
    assert.ok(
      counted.some((reason) => reason.startsWith("attempt_")),
      `${venue} counted ${counted}`,
    );
  }
});

test("each kind of failed response is counted under its own reason", async () => {
  const cases = [
    [{ server_error: 1 }, "attempt_server_error"],
    [{ rate_limit: 1 }, "attempt_rate_limited"],
    [{ garbage: 1 }, "attempt_bad_body"],
    [{ cut_socket: 1 }, "attempt_network"],
    [{ price_out_of_range: { kind: "above" } }, "price_out_of_range"],
  ] as const;
  const counts = async () => (await storm.service.get("/v1/health")).json.checks.venues.limitless.drops;
  for (const [switches, reason] of cases) {
    const before = (await counts())[reason] ?? 0;
    await storm.setFaults("limitless", switches);
    await eventually(async () => ((await counts())[reason] > before ? true : null), reason);
  }
  await storm.setFaults("limitless", {});
});
