import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { periodFeatures, scopeFeatures, withNothingDiffers } from "./common-features.ts";
import { comparePeriods } from "./facts/periods.ts";
import { compareScopes } from "./facts/scopes.ts";
import { createFingerprint } from "./fingerprint.ts";

const read = (title: string, closeAt: number | null = null) =>
  createFingerprint({ title, outcomeLabel: null, eventTitle: null, closeAt, expectedResolutionAt: null });

describe("periodFeatures", () => {
  const compare = (a: ReturnType<typeof read>, b: ReturnType<typeof read>) =>
    periodFeatures(a, b, comparePeriods(a.periods, b.periods));
  const dated = read("Will it rain in Paris on June 3, 2026?", Date.UTC(2026, 5, 4));

  test("a question about a day and one without a date are about other days if the second ends four days later", () => {
    for (const [day, otherDay] of [
      [5, 0],
      [7, 1],
    ] as const) {
      const undated = read("Will it rain in Paris?", Date.UTC(2026, 5, day));
      assert.equal(compare(dated, undated).other_day, otherDay);
      assert.equal(compare(undated, dated).other_day, otherDay);
    }
    assert.equal(compare(dated, read("Will it rain in Paris?")).other_day, 0);
  });

  test("the gap between two ends grows from 0 to 1, and counts only without dates", () => {
    const start = Date.UTC(2026, 0, 1);
    const gapOf = (days: number) => compare(read("Rain?", start), read("Rain?", start + days * 86_400_000)).close_gap;
    assert.equal(gapOf(0), 0);
    assert.ok(gapOf(7) < 0.2 && gapOf(180) > 0.2);
    assert.equal(gapOf(36_500), 1);
    assert.equal(compare(dated, read("Will it rain in Paris on June 3, 2026?", start)).close_gap, 0);
  });
});

describe("withNothingDiffers", () => {
  const isSame = (features: Readonly<Record<string, number>>) => withNothingDiffers(features).nothing_differs === 1;

  test("is 1 only if no fact differs, few words differ, and both markets end at about the same time", () => {
    assert.equal(isSame({ scopes_same: 2, coverage_min: 0.5 }), true);
    assert.equal(isSame({ words_both: 0.4, names_one: 0.4, close_gap: 0.2 }), true);
    for (const name of ["words_both", "names_one"]) assert.equal(isSame({ [name]: 0.5 }), false, name);
    assert.equal(isSame({ close_gap: 0.25 }), false);
    for (const name of ["names_both", "period_differs", "action_one_sided", "place_differs"])
      assert.equal(isSame({ [name]: 0.1 }), false, name);
  });
});

describe("scopeFeatures", () => {
  const compare = (a: string, b: string) => scopeFeatures(compareScopes(read(a).scopes, read(b).scopes, false), false);

  test("a value that both questions have beside one that only one has counts as one-sided", () => {
    const { action_one_sided: one, action_differs: differs } = compare(
      "Ann Lee resigns and runs for mayor",
      "Ann Lee resigns",
    );
    assert.deepEqual([one, differs], [1, 0]);
    assert.equal(compare("Ann Lee resigns", "Ann Lee is arrested").action_differs, 1);
  });

  test("a win that only one question names is not another action", () => {
    const features = compare("NBA champion: Boston", "NBA Finals: Boston");
    assert.deepEqual([features.action_one_sided, features.win_one_sided], [0, 1]);
  });
});
