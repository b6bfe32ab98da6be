import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { normaliseText } from "../text/words.ts";
import { compareQuantities, findQuantities, type Quantity } from "./quantities.ts";

const read = (text: string): string[] =>
  findQuantities(normaliseText(text)).quantities.map(({ comparator, low, high, unit }) =>
    comparator === "between" ? `${comparator} ${low} ${high} ${unit}` : `${comparator} ${low} ${unit}`,
  );
const relate = (a: string, b: string) =>
  compareQuantities(findQuantities(normaliseText(a)).quantities, findQuantities(normaliseText(b)).quantities);

describe("findQuantities", () => {
  const forms: readonly (readonly [text: string, quantity: string])[] = [
    ["above $100k", "at_least 100000 $"],
    ["over 2.5 goals", "at_least 2.5 x"],
    ["at least 1,250,000 views", "at_least 1250000 x"],
    ["reach $1.5 trillion", "at_least 1500000000000 $"],
    ["hit (low) $80k", "at_most 80000 $"],
    ["hit (high) $80k", "at_least 80000 $"],
    ["more than 3 million", "at_least 3000000 x"],
    ["no more than 5 seats", "at_most 5 x"],
    ["no less than 5 seats", "at_least 5 x"],
    ["dip to 4%", "at_most 4 %"],
    ["below -0.5 percent", "at_most -0.5 %"],
    ["cut by 25 basis points", "exactly 0.25 %"],
    ["25bps", "exactly 0.25 %"],
    ["25 to 50 bps", "between 0.25 0.5 %"],
    ["a cut of more than 25 bps", "at_least 0.5 %"],
    ["at least 25 bps", "at_least 0.25 %"],
    ["25 bps or more", "at_least 0.25 %"],
    ["a cut of less than 50 bps", "at_most 0.25 %"],
    ["a spread of more than 25 bps", "at_least 0.25 %"],
    ["a quarter-point cut", "exactly 0.25 %"],
    ["over 10.5 points", "at_least 10.5 x"],
    ["over 220.5 points", "at_least 220.5 x"],
    ["75°f or higher", "at_least 75 °"],
    ["75 degrees or below", "at_most 75 °"],
    ["200+ points", "at_least 200 x"],
    ["≥ 30", "at_least 30 x"],
    ["<30", "at_most 30 x"],
    ["between 2.5% and 3%", "between 2.5 3 %"],
    ["2.5-3%", "between 2.5 3 %"],
    ["$90k to $95k", "between 90000 95000 $"],
    ["1-2 million", "between 1000000 2000000 x"],
    ["between 95 and 90", "between 90 95 x"],
    ["not above $1.5", "at_most 1.5 $"],
    ["no higher than $2", "at_most 2 $"],
    ["no lower than $2", "at_least 2 $"],
    ["at or below $1.5", "at_most 1.5 $"],
    ["at or above 3%", "at_least 3 %"],
    ["will not be below 3%", "at_least 3 %"],
    ["Fed raises rates", "at_least 0.25 %"],
    ["a Fed rate cut", "at_least 0.25 %"],
  ];
  for (const [text, quantity] of forms)
    test(`reads "${text}" as ${quantity}`, () => assert.deepEqual(read(text), [quantity]));

  test("a rate that does not move has no quantity", () => {
    for (const text of ["Fed keeps rates unchanged", "Fed decision", "Acme cuts jobs", "4 Fed rate cuts"])
      assert.deepEqual(read(text), []);
  });

  test("a number without a comparator, currency, scale or unit is not read as a quantity", () => {
    for (const text of ["GTA 6", "a 3-2 win", "Formula 1", "top 10", "round of 16"])
      assert.deepEqual(read(text), [], text);
  });

  test("a number too large for a double is no quantity", () => {
    const digits = "9".repeat(400);
    assert.deepEqual(findQuantities(`above ${digits}`), { quantities: [], rest: `above ${digits}` });
    assert.deepEqual(findQuantities(`between 1 and ${digits}`).quantities, []);
  });

  test("removes the quantities from the text", () => {
    assert.equal(findQuantities("will bitcoin reach $100k in june?").rest, "will bitcoin in june?");
  });

  test("`low` and `high` are finite and `low` is at most `high`, for any combination of words", () => {
    const word = fc.constantFrom(
      "above",
      "-",
      "$",
      "5",
      "99999999999",
      ".5",
      "1.5",
      "t",
      "%",
      "between",
      "and",
      "+",
      "or more",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        for (const { low, high } of findQuantities(words.join(" ")).quantities) {
          assert.ok(Number.isFinite(low) && Number.isFinite(high));
          assert.ok(low <= high);
        }
      }),
    );
  });
});

describe("compareQuantities", () => {
  const cases: readonly (readonly [a: string, b: string, relation: string])[] = [
    ["above $100k", "over $100,000", "same"],
    ["above 3%", "at least 3%", "same"],
    ["above 3", "at least 3%", "same"],
    ["above 3%", "at least $3", "conflict"],
    ["above $100k", "below $100k", "opposite"],
    ["70° or below", "71° or above", "opposite"],
    ["at least 3 goals", "at most 2 goals", "opposite"],
    ["more than 3 hurricanes", "fewer than 2 hurricanes", "conflict"],
    ["Fed cuts rates", "Fed cuts rates by 25 bps", "b_implies_a"],
    ["Fed cuts rates", "Fed cuts rates by 50 bps", "b_implies_a"],
    ["25 bps or more", "25 bps", "b_implies_a"],
    ["more than 25 bps", "25 bps", "conflict"],
    ["at least 4 goals", "at most 2 goals", "conflict"],
    ["at least $3", "at most $2", "conflict"],
    ["at least 3.5 goals", "at most 2.5 goals", "conflict"],
    ["above $120k", "above $100k", "a_implies_b"],
    ["above $100k", "above $120k", "b_implies_a"],
    ["below $80k", "below $100k", "a_implies_b"],
    ["below $100k", "below $80k", "b_implies_a"],
    ["above $100k", "between $100k and $105k", "overlap"],
    ["above $90k", "between $100k and $105k", "b_implies_a"],
    ["below $90k", "between $100k and $105k", "conflict"],
    ["above $90k", "below $100k", "overlap"],
    ["above $100k", "below $90k", "conflict"],
    ["$100k to $105k", "$100k to $110k", "overlap"],
    ["$101k to $105k", "$100k to $110k", "a_implies_b"],
    ["$100k to $105k", "$105k to $110k", "conflict"],
    ["exactly 25 bps", "10 to 50 bps", "a_implies_b"],
    ["$100k to $105k", "between $100k and $105k", "same"],
    ["25 bps", "50 bps", "conflict"],
    ["25 bps", "0.25%", "same"],
    ["a cut of more than 25 bps", "50 bps or more", "same"],
    ["above $100k", "Bitcoin", "missing"],
    ["Bitcoin", "Ethereum", "none"],
    ["above 3% and below $5", "above 3%", "missing"],
    ["above 3% and below $5", "above 4%", "conflict"],
    ["above 3% and below $5", "above 3% and below $6", "conflict"],
  ];
  for (const [a, b, relation] of cases)
    test(`"${a}" and "${b}" have the relation ${relation}`, () => assert.equal(relate(a, b), relation));

  test("swapping both sides swaps only the direction of implication", () => {
    const quantity: fc.Arbitrary<Quantity> = fc
      .record({
        comparator: fc.constantFrom("at_least" as const, "at_most" as const, "between" as const, "exactly" as const),
        low: fc.integer({ min: 0, max: 4 }),
        width: fc.integer({ min: 1, max: 3 }),
        unit: fc.constantFrom("x", "$", "%"),
      })
      .map(({ comparator, low, width, unit }) => ({
        comparator,
        low,
        high: comparator === "between" ? low + width : low,
        unit,
      }));
    const list = fc.array(quantity, { maxLength: 2 });
    const swapped: Readonly<Record<string, string>> = { a_implies_b: "b_implies_a", b_implies_a: "a_implies_b" };
    fc.assert(
      fc.property(list, list, (a, b) => {
        const relation = compareQuantities(a, b);
        assert.equal(compareQuantities(b, a), swapped[relation] ?? relation);
      }),
    );
  });
});
