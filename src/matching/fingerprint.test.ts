import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS } from "../lib/durations.ts";
import { combineLegs, createEventFingerprint } from "./event-fingerprint.ts";
import { createFingerprint, findFixture, type Side } from "./fingerprint.ts";
import { Interner, internFingerprint } from "./intern.ts";
import { TEAMS } from "./knowledge/teams.ts";
import { stemsOf } from "./text/words.ts";

const NEAR = Date.UTC(2026, 5, 30);

const read = (title: string, outcomeLabel: string | null = null, eventTitle: string | null = null) =>
  createFingerprint({ title, outcomeLabel, eventTitle, closeAt: NEAR, expectedResolutionAt: null });

const stemsOfSide = ({ stems }: Side): readonly string[] => stems;
const teamNamesOf = ({ teams }: Side): string[] => teams.map((index) => TEAMS[index]?.name ?? "");

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
    test(`the subject of "${title}" is "${subject}"`, () =>
      assert.deepEqual(read(title).subject.stems, stemsOf(subject)));

  test("the outcome label is the subject, if there is one", () => {
    assert.deepEqual(read("Eurovision winner", "Norway").subject.stems, ["norway"]);
    assert.deepEqual(read("Who wins?", "Person B").subject.stems, ["person", "b"]);
  });

  test("the subject is the text after the prefix that the market's title shares with the event's title", () => {
    assert.deepEqual(read("Group A winner: Mexico", null, "Group A winner").subject.stems, ["mexico"]);
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
    assert.deepEqual(fixture?.map(stemsOfSide), [stemsOf("france"), stemsOf("brazil")]);
    assert.deepEqual(places, []);
  });

  test("the end is the expected resolution, or else the close; a contest is decided only at an expected resolution", () => {
    const market = { title: "A", outcomeLabel: null, eventTitle: null };
    const timesOf = (closeAt: number | null, expectedResolutionAt: number | null) => {
      const { endAt, decidedAt } = createFingerprint({ ...market, closeAt, expectedResolutionAt });
      return { endAt, decidedAt };
    };
    assert.deepEqual(timesOf(2, 1), { endAt: 1, decidedAt: 1 });
    assert.deepEqual(timesOf(2, null), { endAt: 2, decidedAt: null });
    assert.deepEqual(timesOf(null, null), { endAt: null, decidedAt: null });
  });

  test("names are the sequences of capitalised words in title and outcome", () => {
    assert.deepEqual(read("Will Ann Lee win the race?", "Ohio").names, [["ann", "lee"], ["ohio"]]);
  });

  test("the opponent decides which teams of a city a side can mean", () => {
    const { fixture } = read("Phoenix vs. Los Angeles Lakers");
    assert.deepEqual(fixture?.map(teamNamesOf), [["Phoenix Suns"], ["Los Angeles Lakers"]]);
  });

  test("the teams of the subject are those that can be a side of the fixture", () => {
    const { subject, fixture } = read("Phoenix vs. Los Angeles Lakers", "Phoenix");
    assert.deepEqual(teamNamesOf(subject), ["Phoenix Suns"]);
    assert.deepEqual(subject.teams, fixture?.[0].teams);
    assert.ok(read("Will Phoenix win?").subject.teams.length > 1);
  });

  const yesSides: readonly (readonly [title: string, label: string | null, yesSide: 0 | 1 | null])[] = [
    ["Lakers vs. Heat - Lakers", null, 0],
    ["Lakers vs. Heat - Heat", null, 1],
    ["Los Angeles Lakers vs. Miami Heat", "Miami", 1],
    ["Ann Lee vs. Bo Chen: Chen to win", null, 1],
    ["Will the Lakers beat the Heat?", null, 0],
    ["Lakers vs. Heat", "Draw", null],
    ["Lakers vs. Heat", "Celtics", null],
    ["Lakers vs. Heat", null, null],
    ["Will the Lakers win the NBA Finals?", null, null],
  ];
  for (const [title, label, yesSide] of yesSides)
    test(`YES of "${title}"${label === null ? "" : ` (${label})`} stands for ${yesSide === null ? "no side" : `side ${yesSide}`}`, () =>
      assert.equal(read(title, label).yesSide, yesSide));

  test("a market has two sides if its title has the form `A vs. B - A`", () => {
    assert.equal(read("Ann Lee vs. Bo Chen - Ann Lee").isTwoSided, true);
    for (const title of ["Ann Lee vs. Bo Chen", "Ann Lee vs. Bo Chen: Ann Lee", "Will Ann Lee beat Bo Chen?", "A - B"])
      assert.equal(read(title).isTwoSided, false, title);
  });
});

describe("findFixture", () => {
  const sides = (text: string) => findFixture(text)?.map(({ stems }) => stems.join(" ")) ?? null;
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
    assert.deepEqual(event.outcomes.map(stemsOfSide), [["mexico"], ["norway"]]);
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
    const { fixture } = readEvent("Week 3", ["Lakers vs Heat: winner"]);
    assert.deepEqual(fixture?.map(stemsOfSide), [["laker"], ["heat"]]);
  });

  test("is the same from the texts of the markets and from their fingerprints", () => {
    const titles = ["Will Mexico win Group A?", "Will Norway win Group A?"];
    const event = {
      title: "World Cup 2026: Group A winner",
      legs: titles,
      legCount: 2,
      closeAt: NEAR,
      expectedResolutionAt: null,
    };
    const legs = titles.map((title) =>
      createFingerprint({ ...event, title, outcomeLabel: null, eventTitle: event.title }),
    );
    assert.deepEqual(combineLegs(event, legs), createEventFingerprint(event));
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
