import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { allNames } from "../knowledge/names.ts";
import { replaceNames } from "./replace-names.ts";
import { foldText } from "./words.ts";

/** Returns the text with one space between words. */
const read = (text: string): string => replaceNames(foldText(text)).replace(/\s+/g, " ").trim();

type Cases = readonly (readonly [text: string, expected: string])[];
const check = (cases: Cases) => {
  for (const [text, expected] of cases)
    test(`"${text}" becomes "${expected}"`, () => assert.equal(read(text), expected));
};

describe("the longest spelling wins", () =>
  check([
    ["Virginia Senate", "virginia Senate"],
    ["West Virginia", "westvirginia"],
    ["New York Giants", "newyorkgiants"],
    ["New York mayor", "newyork mayor"],
    ["Papua New Guinea", "papuanewguinea"],
    ["Guinea", "guinea"],
    ["Club World Cup", "fifaclubworldcup"],
    ["World Cup", "fifaworldcup"],
    ["the South Korean won", "the southkorea won"],
  ]));

describe("other spellings of a name", () =>
  check([
    ["the French and the Swedish", "the france and the sweden"],
    ["Turkiye", "turkey"],
    ["NEW YORK", "newyork"],
    ["new york", "newyork"],
    ["Los Angeles L", "losangeleslakers"],
    ["Man Utd", "manchesterunited"],
    ["Donald Trump", "trump"],
  ]));

describe("abbreviations are names in upper case or as written", () =>
  check([
    ["The US and they beat us", "The unitedstates and they beat us"],
    ["GOP", "republicanparty"],
    ["a gop in the road", "a gop in the road"],
    ["BOE", "bankofengland"],
    ["BoE", "bankofengland"],
    ["PBoC", "peoplesbankofchina"],
    ["boe", "boe"],
    ["AfD", "alternativeforgermany"],
    ["AFD", "alternativeforgermany"],
    ["afd", "afd"],
    ["the link", "the link"],
  ]));

describe("`PM` after a time of day is no prime minister", () =>
  check([
    ["the PM of Norway", "the primeminister of norway"],
    ["the pm of Norway", "the pm of norway"],
    ["at 7 PM", "at 7 PM"],
    ["at 7PM", "at 7PM"],
    ["by 11:59 PM ET", "by 11:59 PM ET"],
    ["Will the PM resign at 7 PM?", "Will the primeminister resign at 7 PM?"],
    ["the 2026 PM race", "the 2026 primeminister race"],
    ["On June 7, PM Lee resigns", "On June 7, primeminister Lee resigns"],
  ]));

describe("spellings across punctuation", () =>
  check([
    ["U.S", "unitedstates"],
    ["S&P 500", "spfivezerozero"],
    ["S & P 500", "spfivezerozero"],
    ["S&P500", "spfivezerozero"],
    ["Cote d'Ivoire", "ivorycoast"],
    ["Côte d’Ivoire", "ivorycoast"],
    ["Guinea-Bissau", "guineabissau"],
    ["Bosnia-Herzegovina", "bosniaandherzegovina"],
    ["D.C. United", "dcunited"],
    ["St. Louis Cardinals", "stlouiscardinals"],
    ["New, York", "New, York"],
    ["South (Korea)", "South (Korea)"],
  ]));

describe("possessives", () =>
  check([
    ["France's president", "france 's president"],
    ["West Virginia’s governor", "westvirginia 's governor"],
    ["Donald Trump's approval", "trump 's approval"],
  ]));

test("`U.S.` and `U.K.` are names with and without their last point", () => {
  const words = (text: string) => read(text).match(/\p{L}+/gu);
  for (const text of ["U.S. trade", "U.S trade", "US trade", "USA trade", "U.S.A. trade", "United States trade"])
    assert.deepEqual(words(text), ["unitedstates", "trade"], text);
  assert.deepEqual(words("U.K. trade"), ["unitedkingdom", "trade"]);
  assert.deepEqual(words("U.S.-China"), ["unitedstates", "china"]);
});

test("a name inside another word is not replaced", () => {
  for (const text of ["Chadwick", "reUSe", "Fedora"]) assert.equal(read(text), text);
  assert.equal(read("Indiana"), "indiana");
  assert.equal(read("Romania"), "romania");
});

describe("all names of the tables", () => {
  const names = allNames();
  const words = new Set(names.map(({ word }) => word));
  /** Spellings such as "Loyola (CA)" and "Jeopardy!" are written differently in titles. */
  const spellings = names
    .flatMap((name) => [...name.spellings, ...name.abbreviations])
    .filter((spelling) => !/[(),!"#]|\.\./.test(spelling));

  test("each spelling is replaced by the word of a name, and by `win` if it is a title that is won", () => {
    const lost = spellings.filter((spelling) => !words.has(read(spelling).replace(/ win$|[. ]+$/, "")));
    assert.deepEqual(lost, []);
    assert.equal(read("NBA title"), `${read("NBA Finals")} win`);
  });

  test("the replaced text is not replaced again", () => {
    const again = spellings.filter((spelling) => read(read(spelling)) !== read(spelling));
    assert.deepEqual(
      again.map((spelling) => `${spelling}: ${read(spelling)}, ${read(read(spelling))}`),
      [],
    );
  });
});

test("a text without names is not changed, and no text makes the replacement fail", () => {
  const word = fc.constantFrom("zebra", "quickly", "of", "7", " ", ".", "-", "'", "&", "(", "é", "\u{1f642}");
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const text = words.join(" ");
      assert.equal(replaceNames(text), text);
    }),
  );
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof replaceNames(text) === "string"));
});
