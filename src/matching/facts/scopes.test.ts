import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { normaliseText, stemsOf } from "../text/words.ts";
import { compareScopes, findScopes, type ScopeDimension, type ScopeRelation, type Scopes } from "./scopes.ts";

function read(text: string, eventTitle = ""): Scopes {
  const normalised = normaliseText(text);
  return findScopes(normalised, stemsOf(normalised), { eventTitle: normaliseText(eventTitle) });
}
const valuesOf = (text: string, dimension: ScopeDimension): string[] => [...(read(text).get(dimension) ?? [])];

describe("findScopes", () => {
  const cases: readonly (readonly [text: string, dimension: ScopeDimension, value: string])[] = [
    ["Will Ann Lee win the Ohio Senate race?", "office", "senat"],
    ["Will Ann Lee be a senator for Ohio?", "office", "senat"],
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
    ["Will Acme announce a phone?", "manner", "announce"],
    ["Will GTA VI be delayed?", "manner", "postpone"],
    ["Will Acme launch a phone?", "action", "release"],
    ["Will Democrats win the Senate and House?", "manner", "all offices"],
    ["Lakers -5.5", "bet", "spread"],
    ["Will Ann Lee step down as chair?", "action", "leave"],
    ["If it rains, who wins?", "manner", "if"],
    ["Will GTA VI be released before the Foo phone?", "condition", "before-other"],
    ["Will the GOP hold Ohio?", "party", "republicanparty"],
    ["Will the Fed cut rates?", "direction", "down"],
    ["Fed leaves rates unchanged", "direction", "hold"],
    ["Will he not run?", "polarity", "not"],
    ["Will she remain chair?", "polarity", "remain"],
    ["Who finishes third?", "rank", "3th"],
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
  const compare = (a: string, b: string, areFixtures = false) => compareScopes(read(a), read(b), areFixtures);
  const relate = (a: string, b: string, areFixtures = false) =>
    Object.fromEntries(compare(a, b, areFixtures).relations);

  const cases: readonly (readonly [a: string, b: string, relations: Partial<Record<ScopeDimension, ScopeRelation>>])[] =
    [
      ["Ohio Senate race", "Ohio senator", { office: "same" }],
      ["Ohio Senate race", "Ohio governor", { office: "differs" }],
      ["Ohio Senate race", "Ohio race", { office: "one_sided" }],
      ["Republican seat in NC-01", "Democratic seat in NC-1", { party: "differs", seat: "same", number: "same" }],
      ["Republican nominee", "Republican primary runoff", { party: "same", stage: "partial" }],
      ["Republican nominee", "Republican semifinal", { party: "same", stage: "differs" }],
      ["Ohio", "Texas", {}],
    ];
  for (const [a, b, relations] of cases)
    test(`"${a}" and "${b}" have the relations ${JSON.stringify(relations)}, in either order`, () => {
      assert.deepEqual(relate(a, b), relations);
      assert.deepEqual(relate(b, a), relations);
    });

  const ONE_SIDED: readonly (readonly [title: string, dimension: ScopeDimension])[] = [
    ["Leading at halftime", "segment"],
    ["Core inflation", "reading"],
    ["Exact score", "bet"],
    ["Group C", "group"],
    ["Map 2", "part"],
    ["NC-01", "seat"],
    ["If it rains", "manner"],
    ["The Senate", "office"],
  ];
  for (const [title, dimension] of ONE_SIDED)
    test(`a ${dimension} that only one title names is one-sided`, () =>
      assert.equal(relate(title, "Ohio")[dimension], "one_sided"));

  test("an additional stage, bet, segment or action is never the same", () => {
    for (const [a, b, dimension] of [
      ["primary runoff", "primary", "stage"],
      ["exact score and corners", "exact score", "bet"],
      ["first half of a part of the game", "first half of the game", "segment"],
      ["arrested and convicted", "arrested", "action"],
    ] as const) {
      assert.equal(relate(a, b)[dimension], "partial", a);
      assert.equal(relate(b, a)[dimension], "partial", a);
    }
  });

  test("other actions are those that only one question names", () => {
    const { otherActions } = compare("Will she be arrested and convicted?", "Will she be arrested or win?");
    assert.deepEqual([...otherActions].sort(), ["convict", "win"]);
    assert.deepEqual([...compare("Will she win?", "Will she win?").otherActions], []);
  });

  test("a group that only one of two fixtures names is ignored", () => {
    assert.deepEqual(relate("Group C: A", "A", true), {});
    assert.deepEqual(relate("Group C: A", "A", false), { group: "one_sided" });
  });

  test("a different polarity is reported separately and is not a relation", () => {
    const { relations, isPolarityFlipped } = compare("Will he not run?", "Will he run?");
    assert.equal(isPolarityFlipped, true);
    assert.equal(relations.has("polarity"), false);
    assert.equal(compare("Will he not run?", "Will he not run?").isPolarityFlipped, false);
  });
});
