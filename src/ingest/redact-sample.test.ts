import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redactSample } from "./redact-sample.ts";

test("displays numbers, enum values, decimals and times with their type", () => {
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

test("displays only the length of keys, tokens, wallet addresses, e-mail addresses and sentences", () => {
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

test("hides the value of a field whose name suggests a person, an id or a secret", () => {
  const ids = ["userId", "user_id", "apiKey", "proxyWallet", "handle", "ids", "id", "email"];
  for (const name of ["name", "displayName", "creatorName", ...ids]) {
    assert.equal(redactSample(`bet.${name}`, "alice"), "string: 5 characters", name);
    assert.equal(redactSample(`bet.${name}`, 12_345), "number: hidden", name);
  }
});

test("displays only the size of objects and arrays", () => {
  assert.deepEqual(
    [redactSample("a.b", { secret: "x", other: 1 }), redactSample("a.b", ["x"])],
    ["object: 2 fields", "array: 1 items"],
  );
});

test("a sample is at most 80 characters on one line and contains no text longer than an enum value", () => {
  fc.assert(
    fc.property(fc.string(), fc.anything(), (field, value) => {
      const sample = redactSample(field, value);
      assert.ok(sample.length <= 80, sample);
      assert.match(sample, /^[ -~]*$/);
      if (typeof value === "string" && sample === `string: ${value}`) assert.match(value, /^[\w+:.\- ]{1,67}$/);
    }),
  );
});
