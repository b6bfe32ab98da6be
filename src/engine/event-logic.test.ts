import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sumOf } from "../lib/numbers.ts";
import { coherentLogOdds, type LegEstimate, siblingGaps, toLogOdds, toProbability } from "./index.ts";

const LADDER = { kind: "ladder" } as const;
const EXCLUSIVE = { kind: "exclusive", isExhaustive: false } as const;
const EXHAUSTIVE = { kind: "exclusive", isExhaustive: true } as const;

const estimateAt = (probability: number, standardError = 0.1, isBound = false): LegEstimate => ({
  logOdds: toLogOdds(probability),
  standardError,
  isBound,
});
const probabilitiesOf = (logOdds: readonly number[]) => logOdds.map(toProbability);
const anyEstimates = fc.array(
  fc.record({
    logOdds: fc.double({ min: -9.2, max: 9.2, noNaN: true }),
    standardError: fc.double({ min: 0, max: 1, noNaN: true }),
    isBound: fc.boolean(),
  }),
  { minLength: 2, maxLength: 200 },
);

test("known value: two rungs of equal certainty that contradict each other meet at the mean of their log-odds", () => {
  const agreed = coherentLogOdds(LADDER, [estimateAt(0.2), estimateAt(0.8)]);
  assert.ok(agreed.every((logOdds) => Math.abs(logOdds) < 1e-9));
});

test("a one-sided quote is a bound: its estimate moves to those of the other rungs, which do not move", () => {
  const agreed = probabilitiesOf(
    coherentLogOdds(LADDER, [estimateAt(0.6), estimateAt(0.4), estimateAt(0.99, 0.001, true)]),
  );
  assert.ok(Math.abs((agreed[0] ?? 0) - 0.6) < 1e-6, `${agreed}`);
  assert.ok(Math.abs((agreed[1] ?? 0) - 0.4) < 1e-6, `${agreed}`);
  assert.ok(Math.abs((agreed[2] ?? 0) - 0.4) < 1e-6, `${agreed}`);
});

test("law: after the last step a ladder never increases, and consistent estimates do not change", () => {
  fc.assert(
    fc.property(anyEstimates, (estimates) => {
      const agreed = probabilitiesOf(coherentLogOdds(LADDER, estimates));
      for (const [index, probability] of agreed.entries())
        assert.ok(index === 0 || probability <= (agreed[index - 1] ?? 0) + 1e-12);
      const sorted = estimates.toSorted((a, b) => b.logOdds - a.logOdds);
      assert.deepEqual(
        coherentLogOdds(LADDER, sorted),
        sorted.map(({ logOdds }) => logOdds),
      );
    }),
  );
});

test("law: after the last step an exclusive set sums to at most 1, an exhaustive one to 1, and quotes of one kind keep their order", () => {
  fc.assert(
    fc.property(anyEstimates, (estimates) => {
      const before = probabilitiesOf(estimates.map(({ logOdds }) => logOdds));
      const exclusive = probabilitiesOf(coherentLogOdds(EXCLUSIVE, estimates));
      assert.ok(sumOf(exclusive) <= 1 + 1e-9, `${sumOf(exclusive)}`);
      if (sumOf(before) <= 1) assert.deepEqual(exclusive, before);
      const exhaustive = probabilitiesOf(coherentLogOdds(EXHAUSTIVE, estimates));
      assert.ok(Math.abs(sumOf(exhaustive) - 1) < 1e-9, `${sumOf(exhaustive)}`);
      for (const [index, value] of before.entries())
        if (
          index > 0 &&
          value > (before[index - 1] ?? 0) &&
          estimates[index]?.isBound === estimates[index - 1]?.isBound
        )
          assert.ok((exhaustive[index] ?? 0) >= (exhaustive[index - 1] ?? 0) - 1e-12);
    }),
  );
});

test("in an exclusive set, a one-sided quote lowers the other estimates only if they alone sum to more than 1", () => {
  for (const logic of [EXCLUSIVE, EXHAUSTIVE]) {
    const agreed = probabilitiesOf(
      coherentLogOdds(logic, [estimateAt(0.3), estimateAt(0.5), estimateAt(0.99, 0.1, true)]),
    );
    assert.deepEqual(
      agreed.map((probability) => Math.round(probability * 1e6) / 1e6),
      [0.3, 0.5, 0.2],
    );
    const over = probabilitiesOf(
      coherentLogOdds(logic, [estimateAt(0.6), estimateAt(0.6), estimateAt(0.99, 0.1, true)]),
    );
    assert.ok(Math.abs((over[0] ?? 0) - 0.49995) < 1e-9 && Math.abs((over[2] ?? 0) - 0.0001) < 1e-9, `${over}`);
  }
});

test("the gap of a consistent price is 0; that of another price is its distance to the nearest consistent price", () => {
  const leg = (yesPrice: number) => ({ yesPrice, spread: 0.02 });
  assert.deepEqual(siblingGaps(EXCLUSIVE, [leg(0.3), leg(0.4)]), [0, 0]);
  assert.deepEqual(siblingGaps(LADDER, [leg(0.6), leg(0.4)]), [0, 0]);
  assert.deepEqual(siblingGaps(EXHAUSTIVE, [leg(0.3)]), [0], "one market alone is compared with nothing");
  const [first = 0, second = 0] = siblingGaps(LADDER, [leg(0.4), leg(0.6)]);
  assert.ok(Math.abs(first - (toLogOdds(0.5) - toLogOdds(0.4))) < 1e-12);
  assert.ok(Math.abs(second - (toLogOdds(0.5) - toLogOdds(0.6))) < 1e-12);
  assert.ok(siblingGaps(EXHAUSTIVE, [leg(0.3), leg(0.4)]).every((gap) => gap > 0));
});
