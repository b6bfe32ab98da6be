import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { JsonBoundError } from "./json-depth.ts";
import { parseJsonInSlices } from "./json-slices.ts";

const VALUES_MAX = 2_000_000;
const LONG_TEXT = "x".repeat(140_000);

async function parse(json: string, valuesMax = VALUES_MAX): Promise<{ value: unknown; yields: number }> {
  let yields = 0;
  const value = await parseJsonInSlices(json, valuesMax, async () => {
    yields += 1;
  });
  return { value, yields };
}

/** Stands for a long string in a short text. */
const LONG_MARK = "long-mark";
const MARK = "\u0001";
const expand = (text: string) => text.replaceAll(MARK, LONG_TEXT);

/** Names have no escape sequences: with them, `JSON.parse` of Node 24 sometimes loses a member. */
const character = fc.constantFrom(..."ab19[]{},: é€");
const jsonOf = (maxDepth: number) => fc.jsonValue({ maxDepth, stringUnit: character });

/** JSON texts in which some strings are longer than a slice, so that the lists and objects around them are split. */
const longJson = fc
  .tuple(
    jsonOf(6),
    fc.letrec<{ value: unknown; long: unknown }>((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, jsonOf(2), tie("long")),
      long: fc.oneof(
        { maxDepth: 5 },
        fc.constant(LONG_MARK),
        fc.constantFrom('"', "\\", '\\"', '[{"', "\n"),
        fc.array(tie("value"), { minLength: 1, maxLength: 5 }),
        fc.dictionary(fc.oneof(fc.string({ unit: character }), fc.constantFrom("__proto__", "1")), tie("value"), {
          minKeys: 1,
          maxKeys: 5,
        }),
      ),
    })).long,
  )
  .map(([first, second]) =>
    JSON.stringify([first, LONG_MARK, second, LONG_MARK, first], null, 1).replaceAll(LONG_MARK, MARK),
  );

const CHARACTERS = ["[", "]", "{", "}", ",", ":", '"', "\\", " ", "0", "-", "null", "\u00a0", ""];

test("returns what JSON.parse returns, for texts that are split anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(longJson, async (shortJson) => {
      const json = expand(shortJson);
      const { value } = await parse(json);
      // Compares short texts, because a difference of long ones takes long to print.
      const shorten = (parsed: unknown) => JSON.stringify(parsed).replaceAll(LONG_TEXT, MARK);
      assert.equal(shorten(value), shorten(JSON.parse(json)));
      assert.ok(isDeepStrictEqual(value, JSON.parse(json)));
    }),
    { numRuns: 100, endOnFailure: true },
  );
});

test("accepts a changed text if and only if JSON.parse does", async () => {
  await fc.assert(
    fc.asyncProperty(
      longJson,
      fc.constantFrom(...CHARACTERS),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      async (json, character, share, isReplaced) => {
        const position = Math.floor(share * json.length);
        const changed = `${json.slice(0, position)}${character}${json.slice(position + (isReplaced ? 1 : 0))}`;
        const text = expand(changed);
        let expected: { value: unknown } | null = null;
        try {
          expected = { value: JSON.parse(text) };
        } catch {}
        const parsed = parse(text);
        if (expected === null) await assert.rejects(parsed, SyntaxError, changed);
        else assert.ok(isDeepStrictEqual((await parsed).value, expected.value), changed);
      },
    ),
    { numRuns: 200, endOnFailure: true },
  );
});

test("rejects missing and additional commas, names and brackets between slices", async () => {
  const long = JSON.stringify(Array(50_000).fill("abc"));
  const longObject = JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`n${index}`, 1])));
  for (const value of [long, longObject]) {
    assert.deepEqual((await parse(` [ ${value} , ${value} ] `)).value, [JSON.parse(value), JSON.parse(value)]);
    const wrongTexts = [
      `[${value} ${value}]`,
      `[${value},]`,
      `[,${value}]`,
      `[${value},,${value}]`,
      `[1 ${value},${value}]`,
      `[${value} 1,${value}]`,
      `[${value},${value}}`,
      `[${value},${value}]]`,
      `[${value},${value}] 1`,
      `1 [${value},${value}]`,
      `[${value},${value}`,
      `{"a":${value},"b":${value},}`,
      `{${value}:${value}}`,
      `{"a" ${value},"b":${value}}`,
      `{"a":-${value},"b":${value}}`,
      `{"a":1,${value}}`,
      `[${value},${value}],`,
      `\ufeff[${value},${value}]`,
    ];
    for (const text of wrongTexts) await assert.rejects(parse(text), SyntaxError, text.slice(0, 20));
  }
});

test("parses a long text in slices, wherever its long list or object is", async () => {
  const list = Array.from({ length: 200_000 }, (_, index) => index);
  const object = Object.fromEntries(list.map((index) => [`n${index}`, index]));
  for (const value of [list, object, { data: list, cursor: null }, { a: [{ b: object }] }]) {
    const json = JSON.stringify(value);
    const longest = trackParsedLengths();
    const { value: parsed, yields } = await parse(json).finally(longest.stop);
    assert.deepEqual(parsed, value);
    assert.ok(yields >= Math.floor(json.length / (128 * 1024)));
    assert.ok(longest.value <= 300 * 1024, `parsed ${longest.value} characters at once`);
  }
});

test("parses a text up to 256 Ki characters at once", async () => {
  assert.equal((await parse(JSON.stringify("x".repeat(256 * 1024 - 2)))).yields, 0);
  assert.notEqual((await parse(JSON.stringify("x".repeat(256 * 1024 - 1)))).yields, 0);
});

test("refuses more values than the bound, and a deeper text, without parsing the rest", async () => {
  const listOf = (length: number) => `[${Array(length).fill("0 ").join()}]`;
  assert.equal(((await parse(listOf(200_000), 200_000)).value as unknown[]).length, 200_000);
  await assert.rejects(parse(listOf(200_001), 200_000), JsonBoundError);
  await assert.rejects(parse(`${"[".repeat(65)}"${LONG_TEXT}${LONG_TEXT}"`), JsonBoundError);
  await assert.rejects(parse("[".repeat(65)), JsonBoundError);
});

/** Records the length of the longest text that `JSON.parse` gets, until `stop`. */
function trackParsedLengths() {
  const { parse: original } = JSON;
  const longest = {
    value: 0,
    stop() {
      JSON.parse = original;
    },
  };
  JSON.parse = (text, reviver) => {
    longest.value = Math.max(longest.value, text.length);
    return original(text, reviver);
  };
  return longest;
}
