import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { findNames } from "./names.ts";

/** Names as text: the stems of each name, joined by spaces. */
const read = (title: string): string[] => findNames(title).map((stems) => stems.join(" "));

type Cases = readonly (readonly [title: string, names: readonly string[]])[];
const check = (cases: Cases) => {
  for (const [title, names] of cases)
    test(`"${title}" has ${names.length === 0 ? "no names" : `the names ${names.join(", ")}`}`, () =>
      assert.deepEqual(read(title), names));
};

describe("a name is a sequence of capitalised words", () =>
  check([
    ["Will Ann Lee meet Bo Chen?", ["ann lee", "bo chen"]],
    ["Ann Lee, Bo Chen", ["ann lee", "bo chen"]],
    ["Ann Lee: Acme", ["ann lee", "acme"]],
    ["Ann Lee/Bo Chen", ["ann lee", "bo chen"]],
    ["Ann Lee and Bo Chen", ["ann lee", "bo chen"]],
    ["Jean-Luc Picard’s tour", ["jean luc picard"]],
    ["D'Angelo O’Brien", ["dangelo obrien"]],
    ["Zoë Müller", ["zoe muller"]],
    ["GTA VI", ["gta vi"]],
    ["will it rain?", []],
    ["", []],
  ]));

describe("particles are part of the name around them", () =>
  check([
    ["Ana da Costa", ["ana costa"]],
    ["Ludwig van Beethoven", ["ludwig beethoven"]],
    ["Jan van der Berg", ["jan berg"]],
    ["Ann the Lee", ["ann", "lee"]],
    ["Will de Jong play?", ["jong"]],
  ]));

describe("common words in title case are no names", () =>
  check([
    ["Who Will Win The Ohio Race?", ["ohio"]],
    ["Will The Price Of Acme Rise?", ["acme"]],
    ["Will Ann Lee Announce The Record Price?", ["ann lee"]],
  ]));

describe("a word of the tables is one name, also in lower case", () =>
  check([
    ["Ann Lee of South Korea", ["ann lee", "southkorea"]],
    ["the swedish minister", ["sweden"]],
    ["Los Angeles Lakers Heat", ["losangeleslaker", "heat"]],
    ["Norwegian Ann Lee", ["norway", "ann lee"]],
  ]));

describe("an ordinary word that is also the word of a name is no name in lower case", () =>
  check([
    ["will the court block it?", []],
    ["will it hit the target?", []],
    ["will it win the field?", []],
  ]));

test("names of any text have no empty stem and are in the order of the text", () => {
  const word = fc.constantFrom("Ann", "Lee", "da", "van", "US", "U.S.", "the", "-", "'", ".", "Ohio", "é", "7", "PM");
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      for (const stems of findNames(words.join(" "))) {
        assert.ok(stems.length > 0);
        for (const stem of stems) assert.notEqual(stem, "");
      }
    }),
  );
  assert.deepEqual(read("Bo Chen and Ann Lee"), ["bo chen", "ann lee"]);
});
