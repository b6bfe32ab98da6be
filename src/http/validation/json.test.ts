import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JSON_DEPTH_MAX, parseJson } from "./json.ts";

test("parses every JSON text to the same value as JSON.parse", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      // The parser intentionally rejects the key `__proto__`.
      fc.pre(!text.includes("__proto__"));
      assert.deepEqual(parseJson(text), { ok: true, value: JSON.parse(text) });
    }),
    { numRuns: 500, seed: 7 },
  );
});

test("rejects every text that JSON.parse rejects", () => {
  const characters = fc.constantFrom(...'{}[]",:\\ \n0123456789.-+eEtrufalsn\u00e9x');
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
      const result = parseJson(text);
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      if (!isJson) assert.equal(result.ok, false);
      else if (!result.ok) assert.equal(result.error, "Duplicate key");
    }),
    { numRuns: 5_000, seed: 7 },
  );
});

test("reports error positions in code points, not in UTF-16 units", () => {
  assert.deepEqual(parseJson('["😀" 1]'), { ok: false, position: 5, error: "Expecting ',' delimiter" });
});

test("accepts 64 nesting levels and rejects the 65th", () => {
  const createNestedArray = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.equal(parseJson(createNestedArray(JSON_DEPTH_MAX)).ok, true);
  const result = parseJson(createNestedArray(JSON_DEPTH_MAX + 1));
  assert.deepEqual(result, { ok: false, position: JSON_DEPTH_MAX, error: "Nested deeper than 64 levels" });
});

test("rejects duplicate keys and the key `__proto__`, including keys written with escapes", () => {
  for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"x":{"b":1,"b":1}}']) {
    assert.equal(parseJson(text).ok, false, text);
  }
  assert.equal(parseJson('{"\\u005f_proto__":{"polluted":1}}').ok, false);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.equal(parseJson('{"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":2}').ok, true);
});
