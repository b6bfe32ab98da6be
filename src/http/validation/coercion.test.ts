import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseBooleanText, parseFloatText, parseIntegerText } from "./coercion.ts";

/** For this length, quadratic time takes hours, so the test would time out. */
const LENGTH = 1024 * 1024;

test("texts of 1 MiB that are almost a number are rejected in linear time", () => {
  const runs = ["1", "0", "_", "1_", " ", "+", "-", ".", "1.", "e", "1e", "é"];
  for (const run of runs)
    for (const [prefix, suffix] of [
      ["", "x"],
      ["1", "x"],
      ["1.", "x"],
      ["1.1e", "x"],
      [".", "x"],
      ["x", ""],
      [" ", "x "],
    ] as const) {
      const text = `${prefix}${run.repeat(LENGTH / run.length)}${suffix}`;
      for (const parse of [parseFloatText, parseIntegerText, parseBooleanText]) assert.equal(parse(text), null);
    }
});

test("the notation of a decimal number does not change its value", () => {
  const digits = fc.stringMatching(/^\d{1,5}$/);
  const fraction = fc.constantFrom("", ".", ".5", ".250");
  const exponent = fc.constantFrom("", "e3", "E-2", "e+1");
  fc.assert(
    fc.property(fc.constantFrom("", "+", "-"), digits, fraction, exponent, (sign, whole, part, power) => {
      const text = `${sign}${whole}${part}${power}`;
      assert.equal(parseFloatText(text), Number(text) || 0);
      assert.equal(parseFloatText(` ${text}\n`), Number(text) || 0);
    }),
  );
  for (const [text, value] of [
    [".5", 0.5],
    ["-.5e1", -5],
    ["5.", 5],
    ["INF", Infinity],
    ["-Infinity", -Infinity],
  ] as const)
    assert.equal(parseFloatText(text), value);
  for (const text of ["", ".", "e5", "1e", "1.e", "1..2", "1.2.3", "--1", "1e5.5", "0x1", "infinit", "1 2"])
    assert.equal(parseFloatText(text), null, text);
});
