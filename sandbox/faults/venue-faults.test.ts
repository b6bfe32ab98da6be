import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { uniform } from "../world/random.ts";
import { FAULT_NAMES, type FaultName, parseFaults } from "./switches.ts";
import { VenueFaults } from "./venue-faults.ts";

const faultsOf = (seed: number, venue: "kalshi" | "manifold" = "kalshi") =>
  new VenueFaults(venue, (...keys) => uniform(seed, 1, ...keys));
const anyName = fc.constantFrom(...FAULT_NAMES);

test("the same questions in the same order meet the same faults, whatever is asked of other switches and venues", () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(fc.tuple(anyName, fc.boolean()), { maxLength: 200 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (seed, questions, rate) => {
        const settings = parseFaults(Object.fromEntries(FAULT_NAMES.map((name) => [name, rate])));
        const one = faultsOf(seed);
        one.replace(settings);
        const answers = questions.map(([name]) => one.draw(name) !== null);
        for (const only of new Set(questions.map(([name]) => name))) {
          // The same switch alone, on a venue whose other switches are never asked.
          const other = faultsOf(seed);
          other.replace(settings);
          const asked = questions.flatMap(([name], index) => (name === only ? [answers[index]] : []));
          assert.deepEqual(
            asked.map(() => other.draw(only) !== null),
            asked,
          );
        }
      },
    ),
  );
});

test("rate 0 never happens, rate 1 always, and others about as often as they say", () => {
  fc.assert(
    fc.property(fc.nat(), anyName, fc.double({ min: 0.05, max: 0.95, noNaN: true }), (seed, name, rate) => {
      const faults = faultsOf(seed);
      const share = (setting: number): number => {
        faults.replace(parseFaults({ [name]: setting }));
        return Array.from({ length: 1_000 }, () => faults.draw(name)).filter((drawn) => drawn !== null).length / 1_000;
      };
      assert.deepEqual([share(0), share(1)], [0, 1]);
      // Six standard deviations of a thousand draws.
      assert.ok(Math.abs(share(rate) - rate) < 6 * Math.sqrt((rate * (1 - rate)) / 1_000));
    }),
    { numRuns: 50 },
  );
});

test("venues are apart: the same seed gives each its own faults", () => {
  const draws = (venue: "kalshi" | "manifold"): boolean[] => {
    const faults = faultsOf(7, venue);
    faults.replace(parseFaults({ server_error: 0.5 }));
    return Array.from({ length: 64 }, () => faults.draw("server_error") !== null);
  };
  assert.notDeepEqual(draws("kalshi"), draws("manifold"));
});

test("a venue without a switch on draws nothing", () => {
  const faults = new VenueFaults("kalshi", () => {
    throw new Error("drawn");
  });
  assert.equal(faults.isQuiet, true);
  for (const name of FAULT_NAMES) assert.equal(faults.draw(name), null);
  faults.replace(parseFaults({ latency: 0 }));
  assert.equal(faults.isQuiet, true);
});

test("switches are replaced or changed, what happened is counted, and listeners hear of every change", () => {
  const faults = faultsOf(1);
  let changes = 0;
  const stop = faults.onChange(() => {
    changes += 1;
  });
  faults.replace(parseFaults({ frozen: 1, latency: 1 }));
  faults.change(parseFaults({ latency: 0, server_error: 1 }));
  const on = FAULT_NAMES.filter((name: FaultName) => faults.isOn(name));
  assert.deepEqual(on, ["server_error", "frozen"]);
  assert.notEqual(faults.draw("frozen"), null);
  assert.equal(faults.draw("latency"), null);
  assert.deepEqual(faults.happened, { frozen: 1 });
  stop();
  faults.replace({});
  assert.deepEqual([changes, faults.isQuiet], [2, true]);
});
