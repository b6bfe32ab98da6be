import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redactSample } from "./redact-sample.ts";

test("numbers, single words, decimals and times are shown with their type", () => {
  assert.deepEqual(
    [47, "LIMBO", "half_open", "0.4200", "2026-11-21T00:00:00Z", true, null].map((value) =>
      redactSample("market.status", value),
    ),
    [
      ...["number: 47", "string: LIMBO", "string: half_open", "string: 0.4200", "string: 2026-11-21T00:00:00Z"],
      ...["boolean: true", "null"],
    ],
  );
});

test("keys, tokens, addresses, mail and sentences are shown by their length only", () => {
  for (const value of [
    "someone@example.com",
    "0x9aB4F0c2D31e6e0a1B5C7D8E9f00112233445566",
    "sk_live_abcdef123456",
    "71321045679252212594626385532706912750332728571942532289631379312455583992563",
    "Alice Smith of 5 Main Street",
    "-----BEGIN PRIVATE KEY-----",
    "",
  ]) {
    assert.equal(redactSample("market.thing", value), `string: ${value.length} characters`);
  }
});

test("a field whose name hints at a person, an id or a secret shows nothing of its value", () => {
  for (const name of ["creatorName", "userId", "user_id", "apiKey", "proxyWallet", "handle", "ids", "id", "email"]) {
    assert.equal(redactSample(`bet.${name}`, "alice"), "string: 5 characters", name);
    assert.equal(redactSample(`bet.${name}`, 12_345), "number: hidden", name);
  }
});

test("objects and arrays are shown by their size", () => {
  assert.deepEqual(
    [redactSample("a.b", { secret: "x", other: 1 }), redactSample("a.b", ["x"])],
    ["object: 2 fields", "array: 1 items"],
  );
});

test("whatever comes, a sample is short, on one line, and holds no text longer than an enumeration's word", () => {
  fc.assert(
    fc.property(fc.string(), fc.anything(), (field, value) => {
      const sample = redactSample(field, value);
      assert.ok(sample.length <= 80, sample);
      assert.match(sample, /^[ -~]*$/);
      if (typeof value === "string" && sample === `string: ${value}`) assert.match(value, /^[\w+:.\- ]{1,67}$/);
    }),
  );
});
