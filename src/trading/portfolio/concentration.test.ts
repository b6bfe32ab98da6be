import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../test/support/asserts/assert-near.ts";
import { concentrationOf, type QuestionStake } from "./concentration.ts";

const stake = (question: number | null, stakeUsd: number, parts: Partial<QuestionStake> = {}): QuestionStake => ({
  question,
  stakeUsd,
  contracts: 2 * stakeUsd,
  paysOnYes: true,
  eventKey: `event ${question}`,
  ...parts,
});

test("known values: one question is 1, n equal questions are 1/n, no stakes are 0", () => {
  assertNear(concentrationOf([stake(0, 50)]), 1, 1e-12);
  assertNear(concentrationOf([0, 1, 2, 3].map((question) => stake(question, 25))), 0.25, 1e-12);
  assertNear(concentrationOf([stake(0, 30), stake(1, 10)]), 0.75 ** 2 + 0.25 ** 2, 1e-12);
  assertNear(concentrationOf([]), 0, 1e-12);
});

test("the same question on two venues is one stake, although its events differ", () => {
  const twins = [stake(0, 50, { eventKey: "a" }), stake(0, 50, { eventKey: "b" })];
  assertNear(concentrationOf(twins), 1, 1e-12);
  assertNear(concentrationOf([...twins, stake(1, 100, { eventKey: "b" })]), 1, 1e-12);
});

test("stakes on both answers of a question cancel out, except for the part of their cost above the payout", () => {
  const hedged = [stake(0, 50, { contracts: 100 }), stake(0, 48, { contracts: 100, paysOnYes: false })];
  assertNear(concentrationOf([...hedged, stake(1, 20)]), 1, 1e-12);
  const costly = [stake(0, 60, { contracts: 100 }), stake(0, 60, { contracts: 100, paysOnYes: false })];
  assertNear(concentrationOf([...costly, stake(1, 20)]), 0.5, 1e-12);
});

test("law: the index is in [0, 1] and does not depend on the order or the unit of the stakes", () => {
  const stakes = fc.array(
    fc.record({
      question: fc.option(fc.integer({ min: 0, max: 4 })),
      paysOnYes: fc.boolean(),
      stakeUsd: fc.double({ min: 0, max: 1e4, noNaN: true }),
      contracts: fc.double({ min: 0, max: 1e4, noNaN: true }),
      eventKey: fc.constantFrom("a", "b", "c"),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(stakes, (all) => {
      const index = concentrationOf(all);
      assert.ok(index >= 0 && index <= 1 + 1e-9);
      assert.ok(Math.abs(concentrationOf(all.toReversed()) - index) < 1e-9);
      const doubled = all.map((each) =>
        stake(each.question, 2 * each.stakeUsd, {
          ...each,
          stakeUsd: 2 * each.stakeUsd,
          contracts: 2 * each.contracts,
        }),
      );
      assert.ok(Math.abs(concentrationOf(doubled) - index) < 1e-9);
    }),
  );
});
