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
const INJECTED_FAULTS_MIN = 3;
/** The wait between two tests ends after this many consecutive polls without a newly counted lost connection. */
const UNCHANGED_POLL_COUNT = 10;
/** Generous, because the machine may be ten times slower. A test ends after 120 seconds. */
const COUNTED_MS_MAX = 100_000;
/** Fault settings other than a rate of 1. */
const FAULT_SETTINGS: Partial<Record<FaultName, object>> = {
  latency: { rate: 1, ms: 1, jitter_ms: 1 },
  half_page: { rate: 1, kind: "repeat" },
  price_out_of_range: { rate: 1, kind: "above" },
  // At a rate of 1 no message would arrive in order: sequence numbers would show no gap, and no subscription would be
  // confirmed.
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
  if (countLostConnections(harness.drops()) > countLostConnections(countsBefore)) await drainLostConnections();
  countsBefore = harness.drops();
});

const countLostConnections = (counts: ReturnType<FaultHarness["drops"]>): number =>
  SANDBOX_VENUES.reduce((sum, venue) => sum + (counts[venue]?.stream_connection_lost ?? 0), 0);

/** Waits until the lost connections of the previous test are counted; under load the adapters still queue their messages. */
async function drainLostConnections(): Promise<void> {
  let lostCount = countLostConnections(harness.drops());
  let unchangedPolls = 0;
  await eventually(() => {
    const currentCount = countLostConnections(harness.drops());
    unchangedPolls = currentCount === lostCount ? unchangedPolls + 1 : 0;
    lostCount = currentCount;
    return harness.areStreamsUp() && unchangedPolls >= UNCHANGED_POLL_COUNT ? true : null;
  }, "the end of lost connections");
}

/** Returns the drops counted since the fault was enabled, by venue and reason. */
function readNewDrops(): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(harness.drops()).map(([venue, drops]) => [
      venue,
      Object.fromEntries(
        Object.entries(drops).map(([reason, count]) => [reason, count - (countsBefore[venue]?.[reason] ?? 0)]),
      ),
    ]),
  );
}

const findVenues = (name: FaultName, relation: FaultExpectation["relation"]): readonly SandboxVenue[] =>
  SANDBOX_VENUES.filter((venue) => FAULT_EXPECTATIONS[name][venue].relation === relation);
const countDropsOf = (name: FaultName, venue: SandboxVenue): number => {
  const drops = readNewDrops()[venue] ?? {};
  return FAULT_EXPECTATIONS[name][venue].reasons.reduce((sum, reason) => sum + (drops[reason] ?? 0), 0);
};
const describeCounts = async () => `\n${faultCountTable(countFaults(await harness.injectedFaults(), readNewDrops()))}`;

for (const name of FAULT_NAMES) {
  const exactVenues = findVenues(name, "each");
  const boundedVenues = findVenues(name, "at_most");
  const countingVenues = [...exactVenues, ...boundedVenues, ...findVenues(name, "some")];
  if (countingVenues.length === 0) continue;
  test(`${name}: health counts the faults injected at ${countingVenues.join(", ")}`, async () => {
    harness.setShortDeadlines(name === "frozen");
    await harness.setFaults("all", { [name]: FAULT_SETTINGS[name] ?? 1 });
    await eventually(
      async () => {
        const injected = await harness.injectedFaults();
        const hasEnoughFaults = exactVenues.every((venue) => (injected[venue]?.[name] ?? 0) >= INJECTED_FAULTS_MIN);
        return hasEnoughFaults && countingVenues.every((venue) => countDropsOf(name, venue) > 0) ? true : null;
      },
      `drops counted for ${name}`,
      COUNTED_MS_MAX,
    ).catch(async (error) => assert.fail(`${error}${await describeCounts()}`));
    await harness.setFaults("all", {});
    harness.setShortDeadlines(false);
    // Responses with this fault may arrive after the switch is off; they are counted, too.
    await eventually(async () => {
      const injected = await harness.injectedFaults();
      return exactVenues.every((venue) => countDropsOf(name, venue) === injected[venue]?.[name]) ? true : null;
    }, `as many drops counted as faults injected by ${name}`).catch(async (error) =>
      assert.fail(`${error}${await describeCounts()}`),
    );
    const injected = await harness.injectedFaults();
    for (const venue of boundedVenues) {
      assert.ok(countDropsOf(name, venue) <= (injected[venue]?.[name] ?? 0), await describeCounts());
    }
  });
}

test("only the faults `latency` and `empty_book` require no drop count at any venue", () => {
  const uncountedFaults = FAULT_NAMES.filter((name) => findVenues(name, "none").length === SANDBOX_VENUES.length);
  assert.deepEqual(uncountedFaults, ["latency", "empty_book"]);
});

test("the fault table marks a fault as `NOT COUNTED` if its required drop count is missing", () => {
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
