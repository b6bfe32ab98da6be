import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS } from "../lib/durations.ts";
import { createEventFingerprint } from "./event-fingerprint.ts";
import { createFingerprint, findFixture } from "./fingerprint.ts";
import { Interner, internFingerprint } from "./intern.ts";
import { stemsOf } from "./text/words.ts";

const NEAR = Date.UTC(2026, 5, 30);

const read = (title: string, outcomeLabel: string | null = null, eventTitle: string | null = null) =>
  createFingerprint({ title, outcomeLabel, eventTitle, closeAt: NEAR, expectedResolutionAt: null });

describe("createFingerprint", () => {
  const subjects: readonly (readonly [title: string, subject: string])[] = [
    ["Will Ann Lee win the Ohio Senate race?", "ann lee"],
    ["Will the Lakers beat the Heat?", "lakers"],
    ["Norway wins Eurovision 2026", "norway"],
    ["Will the match end in a draw?", "draw"],
    ["Is Bo Chen resigning?", ""],
    ["Highest temperature in Paris on June 3", ""],
  ];
  for (const [title, subject] of subjects)
    test(`the subject of "${title}" is "${subject}"`, () => assert.deepEqual(read(title).subject, stemsOf(subject)));

  test("the outcome label is the subject, if there is one", () => {
    assert.deepEqual(read("Eurovision winner", "Norway").subject, ["norway"]);
    assert.deepEqual(read("Who wins?", "Person B").subject, ["person", "b"]);
  });

  test("the subject is the text after the prefix that the market's title shares with the event's title", () => {
    assert.deepEqual(read("Group A winner: Mexico", null, "Group A winner").subject, ["mexico"]);
  });

  test("stems contain no dates and no quantities", () => {
    const { stems, periods, quantities } = read("Will Bitcoin reach $100k by June 30, 2026?");
    assert.deepEqual(stems, ["bitcoin"]);
    assert.equal(periods.length, 1);
    assert.equal(quantities.length, 1);
  });

  test("a name that ends in the name of a month has no date, and a label that is a month has a date", () => {
    for (const label of ["Theresa May", "Del Mar"]) assert.deepEqual(read("Who wins?", label).periods, [], label);
    assert.equal(read("Fed rate cut: which month?", "May").periods.length, 1);
    assert.equal(read("Fed decision May").periods.length, 1);
  });

  test("takes the date from the event's title if the market's title has none", () => {
    assert.deepEqual(read("Ann Lee", null, "Winner by June 30, 2026").periods, [
      { from: null, to: NEAR / DAY_MS, kind: "deadline" },
    ]);
  });

  test("a side of a fixture is not a place", () => {
    const { fixture, places } = read("France vs Brazil: winner");
    assert.deepEqual(fixture, [stemsOf("france"), stemsOf("brazil")]);
    assert.deepEqual(places, []);
  });

  test("the end is the expected resolution, or else the close", () => {
    const market = { title: "A", outcomeLabel: null, eventTitle: null };
    assert.equal(createFingerprint({ ...market, closeAt: 2, expectedResolutionAt: 1 }).endAt, 1);
    assert.equal(createFingerprint({ ...market, closeAt: 2, expectedResolutionAt: null }).endAt, 2);
    assert.equal(createFingerprint({ ...market, closeAt: null, expectedResolutionAt: null }).endAt, null);
  });
});

describe("findFixture", () => {
  const sides = (text: string) => findFixture(text)?.map((side) => side.join(" ")) ?? null;
  test("reads both sides of a contest", () => {
    for (const text of [
      "lakers vs heat",
      "lakers vs. heat winner?",
      "nba: lakers v heat",
      "lakers @ heat: totals",
      "lakers at heat: totals",
      "will the lakers vs the heat end in a draw?",
    ])
      assert.deepEqual(sides(text), ["laker", "heat"], text);
  });

  test("finds no two sides in a time of day, a part of a game, an award or a placeholder name", () => {
    for (const text of [
      "ethereum price at may 13, 2026 at 5pm edt?",
      "ethereum price at 5pm",
      "lakers leading at halftime?",
      "will ann lee win at the oscar?",
      "will person v be the next chair?",
      "will candidate v win the primary?",
    ])
      assert.equal(sides(text), null, text);
  });
});

describe("createEventFingerprint", () => {
  const readEvent = (title: string, legs: readonly string[], legCount: number | null = legs.length) =>
    createEventFingerprint({ title, legs, legCount, closeAt: NEAR, expectedResolutionAt: null });

  test("an event named by its first market has the part that all markets share as its title", () => {
    const event = readEvent("Group A winner: Mexico", ["Group A winner: Mexico", "Group A winner: Norway"]);
    assert.deepEqual(event.stems, readEvent("Group A winner", []).stems);
    assert.deepEqual(event.outcomes, [["mexico"], ["norway"]]);
  });

  test("has the deadline and the stage that all markets share, and no others", () => {
    const shared = readEvent("Ohio Senate", [
      "Will Ann Lee be the nominee by June 30?",
      "Will Bo Chen be the nominee by June 30?",
    ]);
    assert.deepEqual([...(shared.scopes.get("stage") ?? [])], ["nominee"]);
    assert.equal(shared.periods.length, 1);
    const mixed = readEvent("Ohio Senate", ["Will Ann Lee be the nominee by June 30?", "Will Bo Chen win by July 31?"]);
    assert.equal(mixed.scopes.has("stage"), false);
    assert.deepEqual(mixed.periods, []);
  });

  test("takes the fixture from a market if the title has none", () => {
    assert.deepEqual(readEvent("Week 3", ["Lakers vs Heat: winner"]).fixture, [["laker"], ["heat"]]);
  });

  test("an event with at most one market, or an unknown number, is single", () => {
    assert.equal(readEvent("A", [], null).isSingle, true);
    assert.equal(readEvent("A", ["B"], 1).isSingle, true);
    assert.equal(readEvent("A", ["B", "C"], 2).isSingle, false);
  });
});

describe("internFingerprint", () => {
  test("interning changes no value, even if a name of two words is both a place and two stems", () => {
    const interner = new Interner();
    for (const title of ["Will New Zealand win the World Cup?", "Will New Zealand or Italy host the World Cup?"]) {
      const fingerprint = read(title, null, "New Zealand");
      assert.deepEqual(internFingerprint(fingerprint, interner), fingerprint);
    }
  });

  test("equal parts of two fingerprints are one object", () => {
    const interner = new Interner();
    const [a, b] = [1, 2].map(() => internFingerprint(read("Will Norway win by June 30, 2026?"), interner));
    assert.ok(a !== undefined && b !== undefined);
    assert.equal(a.subject, b.subject);
    assert.equal(a.periods, b.periods);
  });
});
