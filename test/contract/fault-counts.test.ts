import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { FAULT_NAMES, type FaultName } from "../../sandbox/faults/switches.ts";
import { SANDBOX_VENUES, type SandboxVenue } from "../../sandbox/world/types.ts";
import { eventually } from "../support/service-process.ts";
import {
  countFaults,
  FAULT_EXPECTATIONS,
  type FaultExpectation,
  faultCountTable,
} from "../support/venues/fault-counts.ts";
import { type FaultHarness, openFaultHarness } from "../support/venues/fault-harness.ts";

/** Minimum number of injected faults per venue. */
const INJECTED_MIN = 3;
/** Consecutive polls without a newly counted lost connection that end the wait between two cases. */
const UNCHANGED_POLLS_MIN = 10;
/** Fault settings other than a rate of 1. */
const SETTINGS: Partial<Record<FaultName, object>> = {
  latency: { rate: 1, ms: 1, jitter_ms: 1 },
  half_page: { rate: 1, kind: "repeat" },
  price_out_of_range: { rate: 1, kind: "above" },
  // At a rate of 1 no message arrives in order: no sequence number reveals the gap, and no subscription is confirmed.
  socket_gap: { rate: 0.3 },
  socket_out_of_order: { rate: 0.3 },
};

let harness: FaultHarness;
/** Drop counts in health before the fault. */
let countsBefore: ReturnType<FaultHarness["drops"]>;

before(async () => {
  harness = await openFaultHarness();
  await eventually(async () => (harness.areStreamsUp() ? true : null), "the streams");
  countsBefore = harness.drops();
});
after(() => harness.close());
beforeEach(async () => {
  await harness.clearFaults();
  if (lostConnections(harness.drops()) > lostConnections(countsBefore)) await drainLostConnections();
  countsBefore = harness.drops();
});

const lostConnections = (counts: ReturnType<FaultHarness["drops"]>): number =>
  SANDBOX_VENUES.reduce((sum, venue) => sum + (counts[venue]?.stream_connection_lost ?? 0), 0);

/** Under load, lost connections of the previous case are still in the message queues of the adapters when it ends. */
async function drainLostConnections(): Promise<void> {
  let lost = lostConnections(harness.drops());
  let unchangedPolls = 0;
  await eventually(() => {
    const current = lostConnections(harness.drops());
    unchangedPolls = current === lost ? unchangedPolls + 1 : 0;
    lost = current;
    return harness.areStreamsUp() && unchangedPolls >= UNCHANGED_POLLS_MIN ? true : null;
  }, "the end of lost connections");
}

/** Drops counted by health since the fault was enabled, by venue and reason. */
function newDrops(): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(harness.drops()).map(([venue, drops]) => [
      venue,
      Object.fromEntries(
        Object.entries(drops).map(([reason, count]) => [reason, count - (countsBefore[venue]?.[reason] ?? 0)]),
      ),
    ]),
  );
}

const venuesWith = (name: FaultName, relation: FaultExpectation["relation"]): readonly SandboxVenue[] =>
  SANDBOX_VENUES.filter((venue) => FAULT_EXPECTATIONS[name][venue].relation === relation);
const countOf = (name: FaultName, venue: SandboxVenue): number => {
  const drops = newDrops()[venue] ?? {};
  return FAULT_EXPECTATIONS[name][venue].reasons.reduce((sum, reason) => sum + (drops[reason] ?? 0), 0);
};
const describeCounts = async () => `\n${faultCountTable(countFaults(await harness.injectedFaults(), newDrops()))}`;

for (const name of FAULT_NAMES) {
  const exactVenues = venuesWith(name, "each");
  const boundedVenues = venuesWith(name, "at_most");
  const countingVenues = [...exactVenues, ...boundedVenues, ...venuesWith(name, "some")];
  if (countingVenues.length === 0) continue;
  test(`${name}: health counts the faults that the sandbox injected at ${countingVenues.join(", ")}`, async () => {
    harness.setShortDeadlines(name === "frozen");
    await harness.setFaults("all", { [name]: SETTINGS[name] ?? 1 });
    await eventually(async () => {
      const injected = await harness.injectedFaults();
      const hasEnoughFaults = exactVenues.every((venue) => (injected[venue]?.[name] ?? 0) >= INJECTED_MIN);
      return hasEnoughFaults && countingVenues.every((venue) => countOf(name, venue) > 0) ? true : null;
    }, `drops counted for ${name}`).catch(async (error) => assert.fail(`${error}${await describeCounts()}`));
    await harness.setFaults("all", {});
    harness.setShortDeadlines(false);
    // Faults that were in flight when the fault was disabled are still counted.
    await eventually(async () => {
      const injected = await harness.injectedFaults();
      return exactVenues.every((venue) => countOf(name, venue) === injected[venue]?.[name]) ? true : null;
    }, `as many drops counted as faults injected by ${name}`).catch(async (error) =>
      assert.fail(`${error}${await describeCounts()}`),
    );
    const injected = await harness.injectedFaults();
    for (const venue of boundedVenues) {
      assert.ok(countOf(name, venue) <= (injected[venue]?.[name] ?? 0), await describeCounts());
    }
  });
}

test("only latency and empty_book need not be counted at any venue", () => {
  const uncounted = FAULT_NAMES.filter((name) => venuesWith(name, "none").length === SANDBOX_VENUES.length);
  assert.deepEqual(uncounted, ["latency", "empty_book"]);
});

test("the fault table marks injected faults whose required drop count is missing", () => {
  const injected = { kalshi: { server_error: 3, cut_body: 2, latency: 5 } };
  const rows = countFaults(injected, { kalshi: { attempt_server_error: 3, attempt_network: 9 } });
  assert.deepEqual(
    rows.map(({ fault, faults, counted, isUncounted }) => [fault, faults, counted, isUncounted]),
    [
      ["latency", 5, {}, false],
      ["server_error", 3, { attempt_server_error: 3 }, false],
      ["cut_body", 2, {}, true],
    ],
  );
  assert.match(faultCountTable(rows), /kalshi +cut_body +2 +- +NOT COUNTED/);
});
