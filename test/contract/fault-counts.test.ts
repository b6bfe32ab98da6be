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

/** Spoilt at least this often at each venue before a switch is off again. */
const SPOILT_MIN = 3;
/** How a switch is thrown where it is not simply always on. */
const SETTINGS: Partial<Record<FaultName, object>> = {
  latency: { rate: 1, ms: 1, jitter_ms: 1 },
  half_page: { rate: 1, kind: "repeat" },
  price_out_of_range: { rate: 1, kind: "above" },
  // Where every message is lost or late there is none left whose number could tell, and no subscription is confirmed.
  socket_gap: { rate: 0.3 },
  socket_out_of_order: { rate: 0.3 },
};

let bench: FaultHarness;
/** What health had counted before the switch. */
let counted: ReturnType<FaultHarness["drops"]>;

before(async () => {
  bench = await openFaultHarness();
  await eventually(async () => (bench.areStreamsUp() ? true : null), "the streams");
});
after(() => bench.close());
beforeEach(async () => {
  await bench.clearFaults();
  counted = bench.drops();
});

/** What health has counted since, by venue and reason. */
function newDrops(): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(bench.drops()).map(([venue, drops]) => [
      venue,
      Object.fromEntries(
        Object.entries(drops).map(([reason, count]) => [reason, count - (counted[venue]?.[reason] ?? 0)]),
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
const tell = async () => `\n${faultCountTable(countFaults(await bench.happened(), newDrops()))}`;

for (const name of FAULT_NAMES) {
  const exact = venuesWith(name, "each");
  const bounded = venuesWith(name, "at_most");
  const counting = [...exact, ...bounded, ...venuesWith(name, "some")];
  if (counting.length === 0) continue;
  test(`${name}: what the sandbox says it spoilt, health has counted, at ${counting.join(", ")}`, async () => {
    bench.hurryDeadlines(name === "frozen");
    await bench.setFaults("all", { [name]: SETTINGS[name] ?? 1 });
    await eventually(async () => {
      const happened = await bench.happened();
      const isEnough = exact.every((venue) => (happened[venue]?.[name] ?? 0) >= SPOILT_MIN);
      return isEnough && counting.every((venue) => countOf(name, venue) > 0) ? true : null;
    }, `something counted for ${name}`).catch(async (error) => assert.fail(`${error}${await tell()}`));
    await bench.setFaults("all", {});
    bench.hurryDeadlines(false);
    // What was on its way when the switch went off still comes.
    await eventually(async () => {
      const happened = await bench.happened();
      return exact.every((venue) => countOf(name, venue) === happened[venue]?.[name]) ? true : null;
    }, `as many counted as spoilt by ${name}`).catch(async (error) => assert.fail(`${error}${await tell()}`));
    const happened = await bench.happened();
    for (const venue of bounded) {
      assert.ok(countOf(name, venue) <= (happened[venue]?.[name] ?? 0), await tell());
    }
  });
}

test("a switch that nothing need be counted for is one of latency, a lie without a trace, or what changes nothing", () => {
  const silent = FAULT_NAMES.filter((name) => venuesWith(name, "none").length === SANDBOX_VENUES.length);
  assert.deepEqual(silent, ["latency", "empty_book"]);
});

test("a switch that fired and was not counted where it must be is told as such; one that need not be is not", () => {
  const happened = { kalshi: { server_error: 3, cut_body: 2, latency: 5 } };
  const rows = countFaults(happened, { kalshi: { attempt_server_error: 3, attempt_network: 9 } });
  assert.deepEqual(
    rows.map(({ fault, faults, counted: reasons, isUncounted }) => [fault, faults, reasons, isUncounted]),
    [
      ["latency", 5, {}, false],
      ["server_error", 3, { attempt_server_error: 3 }, false],
      ["cut_body", 2, {}, true],
    ],
  );
  assert.match(faultCountTable(rows), /kalshi +cut_body +2 +- +NOT COUNTED/);
});
