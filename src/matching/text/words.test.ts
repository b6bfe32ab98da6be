import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { createWordWeights } from "./word-weights.ts";
import { normaliseText, ordinalOf, stemOf, stemSimilarity, stemsOf, TEXT_LENGTH_MAX } from "./words.ts";

describe("normaliseText", () => {
  const cases: readonly (readonly [text: string, expected: string])[] = [
    ["Will Erdoğan visit Türkiye?", "will erdogan visit turkey ?"],
    ["[ACX 2026] Will it rain?", "will it rain?"],
    ["$1,250,000  or\tmore", "$1250000 or more"],
    ["May 11–17", "may 11-17"],
    ["Dogecoin up or down?", "dogecoin up?"],
    ["Hungary-367 seat", "hungary district 367 seat"],
    ["a by-election and a special election", "a specialelection and a specialelection"],
    ["takes the home district 12 seat", "win the home district 12 seat"],
    ["takes the stage", "takes the stage"],
    ["measurable rain", "rain"],
    ["the player’s club", "the player's club"],
    ["US inflation", "unitedstates consumerpriceindex"],
    ["United States of America", "unitedstates"],
    ["will one of us win", "will one of us win"],
    ["GOP and Dems", "republicanparty and democraticparty"],
    ["Core CPI month-over-month", "coreconsumerpriceindex mom"],
    ["CS2: A vs B", "counterstrike: a vs b"],
    ["the doge of Venice", "the doge of venice"],
    ["all the hype", "all the hype"],
    ["US inflation over the past 12 months", "unitedstates consumerpriceindex yoy"],
    ["annual CPI", "yoy consumerpriceindex"],
    ["annual report within 12 months", "annual report within 12 months"],
    ["No change", "ratehold"],
    ["Bank of England: no change", "bankofengland : ratehold"],
    ["Fed holds rates steady", "federalreserve ratehold"],
    ["Fed keeps the current interest rate", "federalreserve ratehold"],
    ["Fed makes no change in interest rates", "federalreserve ratehold"],
    ["Fed: any rate change?", "federalreserve : not ratehold?"],
    ["Fed: no rate changes", "federalreserve : ratehold"],
    ["Fed lowers its key rate by 25 bps", "federalreserve ratecut by 25 bps"],
    ["Fed rate hike", "federalreserve ratehike"],
    ["50+ bps decrease", "50 bps+ ratecut"],
    ["Hike of 25 bps or more", "ratehike of 25 bps or more"],
    ["The company cuts jobs and raises prices", "the company cuts jobs and raises prices"],
    ["Fed decision after the January meeting", "federalreserve decision the january meeting"],
    ["No Fed rate change in January?", "ratehold in january?"],
    ["Corporate tax rate change", "corporate tax rate change"],
    ["ECB deposit rate lower than 2%", "europeancentralbank deposit rate lower than 2%"],
    ["ECB cuts its inflation forecast", "europeancentralbank cuts its consumerpriceindex forecast"],
    ["Will USPS raise rates?", "will usps raise rates?"],
    ["Raises rates", "ratehike"],
    ["Interest rate cut", "ratecut"],
    ["three Fed cuts next year", "three federalreserve ratecut next year"],
    ["Tesla adds 10,000 jobs", "tesla adds 10000 jobs"],
    ["CPI rises in June", "consumerpriceindex rises in june"],
    ["GTA VI released at a price above $80", "gta vi released at a price above $80"],
    ["not above $1.5", "at most $1.5"],
    ["not to be above the rest", "not to be above the rest"],
    ["US adds over 175k jobs", "unitedstates nonfarmpayrolls over 175k"],
    ["Acme adds a dog to its list", "acme adds a dog to its list"],
    ["CPI has risen more than 2% over twelve months", "consumerpriceindex more than 2% yoy"],
    ["CPI, as released", "consumerpriceindex ,"],
    ["Acme releases a phone", "acme releases a phone"],
    ["Democrats maintain: no change in leadership", "democraticparty maintain: no change in leadership"],
    ["French legislative elections", "france parliamentary elections"],
    ["French presidential election", "france president election"],
    ["Acme goes public", "acme ipo"],
    ["Acme goes public with the list", "acme goes public with the list"],
  ];
  for (const [text, expected] of cases)
    test(`"${text}" becomes "${expected}"`, () => assert.equal(normaliseText(text), expected));

  test("the result has at most TEXT_LENGTH_MAX characters, for any text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 1_000 }),
      fc.constantFrom("mvp ", "cs2 ", "\ufdfa", "é", "us ").map((word) => word.repeat(1_000)),
    );
    fc.assert(fc.property(text, (value) => assert.ok(normaliseText(value).length <= TEXT_LENGTH_MAX)));
  });

  test("text beyond TEXT_LENGTH_MAX is not read", () => {
    const title = `${"a".repeat(TEXT_LENGTH_MAX)}`;
    assert.equal(normaliseText(`${title}${"b".repeat(100_000)}`), title);
  });
});

describe("stems", () => {
  test("inflected forms and synonyms of a word have the same stem", () => {
    for (const words of [
      ["election", "elections"],
      ["party", "parties"],
      ["launch", "launches", "launched", "launching"],
      ["win", "wins", "winner", "winning", "won"],
      ["resign", "resigns", "resigned", "ousted"],
    ])
      assert.equal(new Set(words.map(stemOf)).size, 1, words.join(" "));
  });

  test("names and demonyms of one country or party have the same stem", () => {
    for (const names of [
      ["Russia", "Russian", "Russians"],
      ["France", "French"],
      ["U.S.", "US", "USA", "United States", "American"],
      ["Democrats", "Democratic", "Democratic Party"],
    ])
      assert.equal(new Set(names.map((name) => stemsOf(normaliseText(name)).join(" "))).size, 1, names.join(" "));
  });

  test("reads ordinals that are written as words, as digits or with #", () => {
    assert.deepEqual(["sixth", "6th", "#6", "06th"].map(ordinalOf), ["6th", "6th", "6th", "6th"]);
    assert.equal(ordinalOf("six"), null);
  });

  test("leaves out stop words, and reads roman numerals and digits that follow letters", () => {
    assert.deepEqual(stemsOf("will the gta vi be out in x?"), ["gta", "6", "out"]);
    assert.deepEqual(stemsOf("gta6"), ["gta", "6"]);
    assert.deepEqual(stemsOf("the player's club (bo3)"), [stemOf("player"), "club"]);
  });

  test("the similarity of stems is symmetric and in [0, 1], and 1 for equal stems", () => {
    const stem = fc.string({ unit: fc.constantFrom("a", "b", "n", "1"), minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(stem, stem, (a, b) => {
        const similarity = stemSimilarity(a, b);
        assert.ok(similarity >= 0 && similarity <= 1);
        assert.equal(stemSimilarity(a, a), 1);
        assert.equal(stemSimilarity(b, a), similarity);
      }),
    );
  });

  test("names that differ in their ending or by one letter are similar, short words and numbers are not", () => {
    assert.equal(stemSimilarity("zelensky", "zelenskyy"), 0.8);
    assert.equal(stemSimilarity("khamenei", "khamenai"), 0.8);
    assert.equal(stemSimilarity("iran", "iraq"), 0);
    assert.equal(stemSimilarity("2026", "20261"), 0);
  });
});

test("rarer words have larger weights, filler words small weights, and all weights are in [0, 1]", () => {
  const weightOf = createWordWeights({ common: 1_000, frequent: 100, team: 10 }, 1_000);
  assert.equal(weightOf("common"), 0);
  assert.ok(weightOf("frequent") < weightOf("unseen"));
  assert.equal(weightOf("unseen"), 1);
  assert.ok(weightOf("team") < 0.2);
});
