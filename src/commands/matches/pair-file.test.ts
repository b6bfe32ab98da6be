import assert from "node:assert/strict";
import { test } from "node:test";
import { type PairDefaults, parsePairFile } from "./pair-file.ts";

const DEFAULTS: PairDefaults = { decision: "identical", note: null, decidedBy: "ada" };

const parse = (text: string, defaults: Partial<PairDefaults> = {}) =>
  parsePairFile(text, { ...DEFAULTS, ...defaults }, ({ markets }) => {
    if (markets.some((id) => !id.includes("/"))) throw new RangeError("A market has the form venue/market_id.");
    return markets.toSorted().join(" ");
  }).map(({ markets, decision, note }) => [...markets, decision, note]);

test("lines of two values are pairs with the decision and the note of the command line", () => {
  assert.deepEqual(parse("alpha/1,beta/2\r\n\r\nalpha/3, beta/4", { decision: "inverse", note: "Same rules" }), [
    ["alpha/1", "beta/2", "inverse", "Same rules"],
    ["alpha/3", "beta/4", "inverse", "Same rules"],
  ]);
});

test("a header names the columns in any order, and quoted values contain commas and quotes", () => {
  const text = 'market_b,note,market_a,decision\nbeta/2,"Rain, ""or snow""",alpha/1,inverse\n"beta/4,5",,alpha/3,\n';
  assert.deepEqual(parse(text, { note: "usual" }), [
    ["alpha/1", "beta/2", "inverse", 'Rain, "or snow"'],
    ["alpha/3", "beta/4,5", "identical", "usual"],
  ]);
});

test("lines of JSON have the fields of the CSV columns", () => {
  const lines = [
    { market_a: "alpha/1", market_b: "beta/2" },
    { market_a: "alpha/3", market_b: "beta/4", decision: "inverse", note: "Rain" },
  ];
  assert.deepEqual(parse(lines.map((line) => JSON.stringify(line)).join("\n")), [
    ["alpha/1", "beta/2", "identical", null],
    ["alpha/3", "beta/4", "inverse", "Rain"],
  ]);
});

test("every invalid line is named by its number in the file", () => {
  const json = (value: unknown) => JSON.stringify(value);
  for (const [text, defaults, faults] of [
    [
      'alpha/1,beta/2\n\nalpha/1\nalpha/3,beta\n"alpha/5,beta/6\nbeta/2,alpha/1',
      {},
      [/^Line 3: .*1 values/m, /^Line 4: A market/m, /^Line 5: .*quotes/m, /^Line 6: The pair of line 1/m],
    ],
    [
      ["{}", "[1]", "{", json({ market_a: 1 }), json({ a: "alpha/1" })].join("\n"),
      {},
      [
        /^Line 1: market_a: is missing/m,
        /^Line 2: .*not a JSON object/m,
        /^Line 3: .*not valid JSON/m,
        /^Line 4: market_a: must be a text/m,
        /^Line 5: There is no field a:/m,
      ],
    ],
    ["market_a,note\nalpha/1,x", {}, [/^Line 1: a header/]],
    ["market_a,market_b,decision\nalpha/1,beta/2,forbidden", {}, [/^Line 2: .*must be identical or inverse/m]],
    [
      "market_a,market_b,decision\nalpha/1,beta/2,inverse",
      { decision: "forbidden" },
      [/^Line 2: .*must be forbidden/m],
    ],
    ["\n \n", {}, [/no pairs/]],
    ["market_a,market_b\n", {}, [/no pairs/]],
    ["a/1,b/1\n".repeat(10_001), {}, [/more than 10000 pairs/]],
  ] as const)
    for (const fault of faults)
      assert.throws(
        () => parse(text, defaults),
        (error) => error instanceof RangeError && fault.test(error.message),
        text.slice(0, 100),
      );
});

test("an error names at most 20 lines and counts the others", () => {
  const text = Array.from({ length: 25 }, (_, index) => `alpha/${index}`).join("\n");
  assert.throws(() => parse(text), /Line 20: [^\n]*\n5 more lines are invalid\.$/);
});
