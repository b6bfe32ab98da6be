import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { normaliseText, stemsOf } from "../text/words.ts";
import { compareScopes, findScopes, type ScopeDimension, type Scopes } from "./scopes.ts";

function read(text: string, eventTitle = ""): Scopes {
  const normalised = normaliseText(text);
  return findScopes(normalised, stemsOf(normalised), { eventTitle: normaliseText(eventTitle) });
}
const valuesOf = (text: string, dimension: ScopeDimension): string[] => [...(read(text).get(dimension) ?? [])];

describe("findScopes", () => {
  const cases: readonly (readonly [text: string, dimension: ScopeDimension, value: string])[] = [
    ["Will Ann Lee win the Ohio Senate race?", "office", "senate"],
    ["Next Prime Minister of Norway", "office", "primeminister"],
    ["Who wins NC-01?", "seat", "nc-1"],
    ["Group C winner", "group", "c"],
    ["Map 2 winner", "part", "2"],
    ["Republican nominee for president", "stage", "nominee"],
    ["Will Ghana reach the final?", "stage", "final"],
    ["Will Ghana reach the semi-finals?", "stage", "semifinal"],
    ["Leading at halftime", "segment", "half"],
    ["Exact score 2-1", "bet", "exact-score"],
    ["Both teams to score", "bet", "both-score"],
    ["Core CPI", "reading", "core"],
    ["Will Acme announce a phone?", "trigger", "announce"],
    ["Will the Fed cut rates?", "direction", "down"],
    ["Fed leaves rates unchanged", "direction", "hold"],
    ["Will he not run?", "polarity", "not"],
    ["Will she remain chair?", "polarity", "remain"],
    ["Who finishes third?", "ordinal", "3th"],
    ["GTA VI", "number", "6"],
  ];
  for (const [text, dimension, value] of cases)
    test(`"${text}" has the ${dimension} ${value}`, () => assert.deepEqual(valuesOf(text, dimension), [value]));

  test("a plain title has no scopes", () => assert.equal(read("Will Ann Lee marry Bo Chen?").size, 0));

  test("total corners are read only as corners, and a semi-final only as a semi-final", () => {
    assert.deepEqual(valuesOf("Total corners over/under", "bet"), ["corners"]);
    assert.deepEqual(valuesOf("Will Ghana reach the semi final?", "stage"), ["semifinal"]);
  });

  test("reads the stage, but not the bet, from the event's title", () => {
    const scopes = read("Ann Lee", "Democratic nominee: total votes");
    assert.deepEqual([...(scopes.get("stage") ?? [])], ["nominee"]);
    assert.equal(scopes.has("bet"), false);
  });
});

describe("compareScopes", () => {
  const relate = (a: string, b: string, areFixtures = false) => compareScopes(read(a), read(b), areFixtures);

  test("counts scopes that are equal, different or present on one side only", () => {
    assert.equal(relate("Ohio Senate race", "Ohio Senator").same, 1);
    assert.deepEqual(relate("Ohio Senate race", "Ohio governor").vetoed, ["office"]);
    assert.equal(relate("Ohio Senate race", "Ohio race").looseOneSided, 1);
    assert.deepEqual(relate("Republican nominee", "Democratic primary, first place").vetoed, ["stage"]);
    assert.deepEqual(relate("Ohio", "Texas").vetoed, []);
  });

  test("a scope on one side only is a veto in a strict dimension, and not in a loose one", () => {
    for (const title of ["Leading at halftime", "Core CPI", "Exact score", "Group C", "Map 2", "NC-01", "If it rains"])
      assert.equal(relate(title, "Ohio").vetoed.length, 1, title);
    assert.deepEqual(relate("Ohio Senate race", "Ohio race").vetoed, []);
  });

  test("an additional stage or office is a veto", () => {
    assert.deepEqual(relate("first place in the primary", "wins the primary").vetoed, ["stage"]);
    assert.deepEqual(relate("senate and house", "senate").vetoed, ["office"]);
  });

  test("a group on one side is a veto, except for two fixtures", () => {
    assert.deepEqual(relate("Group C: A", "A", true).vetoed, []);
    assert.deepEqual(relate("Group C: A", "A", false).vetoed, ["group"]);
  });

  test("a different polarity is reported separately and is not a veto", () => {
    const { vetoed, isPolarityFlipped } = relate("Will he not run?", "Will he run?");
    assert.equal(isPolarityFlipped, true);
    assert.deepEqual(vetoed, []);
    assert.equal(relate("Will he not run?", "Will he not run?").isPolarityFlipped, false);
  });
});
