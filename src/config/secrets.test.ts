import assert from "node:assert/strict";
import { test } from "node:test";
import { configErrors, parseEnvironment } from "../../test/support/config.ts";

test("accepts one or two secret keys of 32 bytes", () => {
  const [newKey, oldKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const [newText, oldText] = [newKey.toString("base64"), oldKey.toString("base64")];
  assert.deepEqual(parseEnvironment({ PARALLAX_SECRET_KEY: newText }).secretKeys, [newKey]);
  assert.deepEqual(parseEnvironment({ PARALLAX_SECRET_KEY: `${newText}, ${oldText}` }).secretKeys, [newKey, oldKey]);
  for (const invalid of [
    "short",
    `${newText},`,
    `${newText},${oldText},${newText}`,
    Buffer.alloc(31, 1).toString("base64"),
    Buffer.alloc(33, 1).toString("base64"),
    newKey.toString("hex"),
    newText.replace("=", ""),
  ]) {
    const errors = configErrors({ PARALLAX_SECRET_KEY: invalid });
    assert.equal(errors.length, 1, invalid);
    assert.match(errors.join(), /^PARALLAX_SECRET_KEY: .*32 bytes/);
    assert.ok(!errors.join().includes(newText), "the message contains no key");
  }
});

test("accepts at most two marketplace secrets of at least 32 characters", () => {
  const [firstSecret, secondSecret] = ["a".repeat(32), "b".repeat(32)];
  assert.deepEqual(parseEnvironment({}).marketplaceSecrets, []);
  assert.deepEqual(parseEnvironment({ PARALLAX_MARKETPLACE_SECRET: "" }).marketplaceSecrets, []);
  assert.deepEqual(parseEnvironment({ PARALLAX_MARKETPLACE_SECRET: firstSecret }).marketplaceSecrets, [firstSecret]);
  assert.deepEqual(
    parseEnvironment({ PARALLAX_MARKETPLACE_SECRET: `${firstSecret}, ${secondSecret}` }).marketplaceSecrets,
    [firstSecret, secondSecret],
  );
  for (const invalid of [
    "short",
    `${firstSecret},`,
    ",",
    `${firstSecret},short`,
    `${firstSecret},${secondSecret},${firstSecret}`,
    " ",
  ]) {
    const errors = configErrors({ PARALLAX_MARKETPLACE_SECRET: invalid });
    assert.equal(errors.length, 1, invalid);
    assert.ok(!errors.join().includes(firstSecret), "the message contains no secret");
  }
});
