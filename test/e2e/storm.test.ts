import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../support/service-process.ts";
import {
  everySwitch,
  type FaultStorm,
  findWrongMarkets,
  openFaultStorm,
  watchAnswers,
} from "../support/venues/fault-storm.ts";

const KINDS_MET = 8;

let storm: FaultStorm;

before(async () => {
  storm = await openFaultStorm({ marketCount: 60 });
});
after(() => storm.end());

test("with every fault at a rate of 25% every response is valid, and all quotes are correct after the faults end", async () => {
  const watch = watchAnswers(storm.service);
  // A hanging response lasts until its timeout. At 25% it would take up the whole test, so its rate is lower.
  await storm.setFaults("all", { ...(await everySwitch(storm, 0.25)), frozen: 0.02, socket_frozen: 0.02 });
  await eventually(async () => {
    const kinds = Object.values(await storm.happened()).map((faults) => Object.keys(faults).length);
    return kinds.every((count) => count >= KINDS_MET) ? true : null;
  }, "every venue's faults");
  await storm.setFaults("all", {});
  const since = Date.now();
  await eventually(
    async () => ((await findWrongMarkets(storm, since)).wrong.length === 0 ? true : null),
    "all quotes to be correct",
  );
  const { answers, violations } = await watch.stop();
  assert.deepEqual(violations, []);
  assert.ok((answers[200] ?? 0) > 100, JSON.stringify(answers));

  const happened = await storm.happened();
  const { venues } = (await storm.service.get("/v1/health")).json.checks;
  for (const [venue, faults] of Object.entries(happened)) {
    assert.ok(Object.keys(faults).length >= KINDS_MET, venue);
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
