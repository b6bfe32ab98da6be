import assert from "node:assert/strict";
import { test } from "node:test";
import { SecretSealError } from "../../ports/secret-box.ts";
import { createSecretBox } from "./secret-box.ts";
import { systemRandom } from "./system-random.ts";

const key = systemRandom.bytes(32);
const otherKey = systemRandom.bytes(32);
const seal = createSecretBox([key], systemRandom);

test("a sealed secret can be opened only for the owner for which it was sealed", () => {
  for (const secret of ["", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "é\0漢", "x".repeat(256)]) {
    const sealed = seal.seal(secret, "wh-1");
    assert.match(sealed, /^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
    assert.equal(seal.open(sealed, "wh-1"), secret);
    for (const owner of ["wh-2", "wh-", "wh-11", ""]) assert.throws(() => seal.open(sealed, owner), SecretSealError);
  }
});

test("the sealed text differs at each call and does not contain the secret or the key", () => {
  const texts = Array.from({ length: 1_000 }, () => seal.seal("canary-secret", "wh-1"));
  assert.equal(new Set(texts).size, texts.length);
  for (const text of texts) {
    const bytes = Buffer.from(text.split(".")[2] ?? "", "base64url");
    assert.equal(bytes.includes("canary-secret"), false);
    assert.equal(bytes.includes(Buffer.from(key)), false);
  }
});

test("a change of any character of a sealed secret is an error", () => {
  const sealed = seal.seal("secret", "wh-1");
  for (let index = 0; index < sealed.length; index++) {
    const character = sealed[index] === "0" ? "1" : "0";
    const changed = sealed.slice(0, index) + character + sealed.slice(index + 1);
    assert.throws(() => seal.open(changed, "wh-1"), SecretSealError, changed);
  }
  for (const text of ["", "v1", "v1.00000000.", "secret", sealed.slice(0, 40), sealed.slice(0, -4), `${sealed}AAAA`])
    assert.throws(() => seal.open(text, "wh-1"), SecretSealError, text);
});

test("opening a secret of another key throws an error with both key ids, and succeeds if that key is also given", () => {
  const sealed = createSecretBox([otherKey], systemRandom).seal("secret", "wh-1");
  assert.throws(() => seal.open(sealed, "wh-1"), /another key \([0-9a-f]{8}; this node has [0-9a-f]{8}\)/);
  const both = createSecretBox([key, otherKey], systemRandom);
  assert.equal(both.open(sealed, "wh-1"), "secret");
  assert.equal(seal.open(both.seal("secret", "wh-1"), "wh-1"), "secret");
});

test("rejects keys of another length, and an empty list of keys", () => {
  for (const keys of [[], [new Uint8Array(16)], [key, new Uint8Array(31)]])
    assert.throws(() => createSecretBox(keys, systemRandom), /32 bytes/);
});
