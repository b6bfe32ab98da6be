import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { uniform } from "../world/random.ts";
import { FAULT_NAMES, type FaultName, parseFaults } from "./switches.ts";
import { VenueFaults } from "./venue-faults.ts";

const createVenueFaults = (seed: number, venue: "kalshi" | "manifold" = "kalshi") =>
  new VenueFaults(venue, (...keys) => uniform(seed, 1, ...keys));
const faultNameArbitrary = fc.constantFrom(...FAULT_NAMES);

test("the draws of a switch depend only on the seed and the number of previous draws of that switch", () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(faultNameArbitrary, { maxLength: 200 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (seed, draws, rate) => {
        const settings = parseFaults(Object.fromEntries(FAULT_NAMES.map((name) => [name, rate])));
        const faults = createVenueFaults(seed);
        faults.replace(settings);
        const results = draws.map((name) => faults.draw(name) !== null);
        for (const name of new Set(draws)) {
          // Draws only this switch.
          const separateFaults = createVenueFaults(seed);
          separateFaults.replace(settings);
          const expected = results.filter((_, index) => draws[index] === name);
          assert.deepEqual(
            expected.map(() => separateFaults.draw(name) !== null),
            expected,
          );
        }
      },
    ),
  );
});

test("a fault never occurs at rate 0, always occurs at rate 1, and otherwise occurs approximately at its rate", () => {
  fc.assert(
    fc.property(fc.nat(), faultNameArbitrary, fc.double({ min: 0.05, max: 0.95, noNaN: true }), (seed, name, rate) => {
      const faults = createVenueFaults(seed);
      const observedRate = (rateSetting: number): number => {
        faults.replace(parseFaults({ [name]: rateSetting }));
        return Array.from({ length: 1_000 }, () => faults.draw(name)).filter((drawn) => drawn !== null).length / 1_000;
      };
      assert.deepEqual([observedRate(0), observedRate(1)], [0, 1]);
      // Six standard deviations of the rate observed in 1,000 draws.
      assert.ok(Math.abs(observedRate(rate) - rate) < 6 * Math.sqrt((rate * (1 - rate)) / 1_000));
    }),
    { numRuns: 50 },
  );
});

test("venues with the same seed get different draws", () => {
  const draws = (venue: "kalshi" | "manifold"): boolean[] => {
    const faults = createVenueFaults(7, venue);
    faults.replace(parseFaults({ server_error: 0.5 }));
    return Array.from({ length: 64 }, () => faults.draw("server_error") !== null);
  };
  assert.notDeepEqual(draws("kalshi"), draws("manifold"));
});

test("draws no random number if all switches are off", () => {
  const faults = new VenueFaults("kalshi", () => {
    throw new Error("drawn");
  });
  assert.equal(faults.isInactive, true);
  for (const name of FAULT_NAMES) assert.equal(faults.draw(name), null);
  faults.replace(parseFaults({ latency: 0 }));
  assert.equal(faults.isInactive, true);
});

test("replaces and changes switches, counts occurrences and notifies listeners of every change", () => {
  const faults = createVenueFaults(1);
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
  assert.deepEqual(faults.counts, { frozen: 1 });
  stop();
  faults.replace({});
  assert.deepEqual([changes, faults.isInactive], [2, true]);
});
