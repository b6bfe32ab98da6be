import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { TEAMS } from "../knowledge/teams.ts";
import { normaliseText, stemsOf } from "../text/words.ts";
import { compareTeams, findTeams, inOneLeague, neverDraw, type TeamSet } from "./teams.ts";

const read = (text: string): TeamSet => findTeams(stemsOf(normaliseText(text)));
const namesOf = (teams: TeamSet): string[] => teams.map((index) => TEAMS[index]?.name ?? "");
const opponents = (a: string, b: string) => inOneLeague(read(a), read(b));

describe("findTeams", () => {
  const teams: readonly (readonly [text: string, teams: readonly string[]])[] = [
    ["Phoenix", ["Phoenix Suns", "Phoenix Mercury"]],
    ["the Lakers", ["Los Angeles Lakers"]],
    ["Phoenix Suns", ["Phoenix Suns"]],
    ["LA Lakers", ["Los Angeles Lakers"]],
    ["Los Angeles L", ["Los Angeles Lakers"]],
    ["Los Angeles C", ["Los Angeles Clippers", "Los Angeles Chargers"]],
    ["Georgia State", ["Georgia State Panthers"]],
    ["Washington State", ["Washington State Cougars"]],
    ["Duquesne", ["Duquesne Dukes"]],
    ["Man City", ["Manchester City"]],
    ["Manchester", []],
    ["Ann Lee", []],
    ["Lakers game", []],
  ];
  for (const [text, names] of teams)
    test(`"${text}" can mean ${names.join(" or ") || "no team"}`, () => assert.deepEqual(namesOf(read(text)), names));

  test("a text without stems means no team", () => assert.deepEqual(findTeams([]), []));

  test("each team is found by its full name", () => {
    const lost = TEAMS.filter(({ name }, index) => !read(name).includes(index)).map(({ name }) => name);
    assert.deepEqual(lost, []);
  });
});

describe("inOneLeague", () => {
  test("keeps the teams that play in a league of their opponent", () => {
    assert.deepEqual(opponents("Phoenix", "Los Angeles Lakers").map(namesOf), [
      ["Phoenix Suns"],
      ["Los Angeles Lakers"],
    ]);
    assert.deepEqual(opponents("Rangers", "Celtic").map(namesOf), [["Rangers"], ["Celtic"]]);
    assert.deepEqual(opponents("Rangers", "Bruins").map(namesOf), [["New York Rangers"], ["Boston Bruins"]]);
  });

  test("changes nothing if an opponent is unknown, or no league has both", () => {
    assert.deepEqual(opponents("Phoenix", "Ann Lee"), [read("Phoenix"), []]);
    assert.deepEqual(opponents("Phoenix", "Arsenal"), [read("Phoenix"), read("Arsenal")]);
  });
});

describe("compareTeams", () => {
  const cases: readonly (readonly [a: string, b: string, relation: string])[] = [
    ["Los Angeles Lakers", "Lakers", "same"],
    ["Los Angeles L", "LA Lakers", "same"],
    ["Phoenix", "Suns", "same"],
    ["Man Utd", "Manchester United", "same"],
    ["Lakers", "Clippers", "differs"],
    ["Manchester United", "Manchester City", "differs"],
    ["New York Giants", "New York Jets", "differs"],
    ["Michigan", "Michigan State", "differs"],
    ["Washington", "Washington State", "differs"],
    ["Georgia", "Georgia State", "differs"],
    ["Duke", "Duquesne", "differs"],
    ["Buffalo", "Colorado", "differs"],
    ["Lakers", "Ann Lee", "unknown"],
    ["Ann Lee", "Bo Chen", "unknown"],
  ];
  for (const [a, b, relation] of cases)
    test(`"${a}" and "${b}" have the relation ${relation}`, () => {
      assert.equal(compareTeams(read(a), read(b)), relation);
      assert.equal(compareTeams(read(b), read(a)), relation);
    });

  test("a club is the same team in each of its leagues", () => {
    const positions = TEAMS.flatMap(({ name }, index) => (name === "Wolverhampton Wanderers" ? [index] : []));
    assert.ok(positions.length > 1);
    for (const a of positions) for (const b of positions) assert.equal(compareTeams([a], [b]), "same");
  });
});

const set = fc
  .uniqueArray(fc.integer({ min: 0, max: TEAMS.length - 1 }), { maxLength: 8 })
  .map((teams) => teams.sort((a, b) => a - b));

test("swapping two sets of teams swaps the opponents and does not change the relation", () => {
  fc.assert(
    fc.property(set, set, (a, b) => {
      assert.equal(compareTeams(a, b), compareTeams(b, a));
      assert.deepEqual(inOneLeague(a, b), [...inOneLeague(b, a)].reverse());
    }),
  );
});

test("opponents in one league are subsets of the candidates, and empty only if the candidates are", () => {
  fc.assert(
    fc.property(set, set, (a, b) => {
      const [left, right] = inOneLeague(a, b);
      assert.ok(left.every((team) => a.includes(team)) && right.every((team) => b.includes(team)));
      assert.equal(left.length === 0, a.length === 0);
      assert.equal(right.length === 0, b.length === 0);
    }),
  );
});

test("a game never ends in a draw only if none of the teams can draw", () => {
  for (const text of ["Lakers", "Phoenix", "Los Angeles Kings"]) assert.equal(neverDraw(read(text)), true, text);
  for (const text of ["Arsenal", "Rangers", "Ann Lee"]) assert.equal(neverDraw(read(text)), false, text);
});
