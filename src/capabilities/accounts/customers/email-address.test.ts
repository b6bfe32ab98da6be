import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isDisposable, parseEmail } from "./email-address.ts";

const CANONICAL_ADDRESSES: readonly (readonly [string, string])[] = [
  ["ada@example.org", "ada@example.org"],
  ["  ADA@Example.ORG ", "ada@example.org"],
  ["ada@example.org.", "ada@example.org"],
  ["ａｄａ@ｅｘａｍｐｌｅ.org", "ada@example.org"],
  ["ada@example。org", "ada@example.org"],
  ["ada@exam\u200bple.org\n", "ada@example.org"],
  ["ada@BÜCHER.example", "ada@xn--bcher-kva.example"],
  ["ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"],
  ["ada+news@example.org", "ada+news@example.org"],
  ["a.d.a!#$%&'*+/=?^_`{|}~-@sub.example.org", "a.d.a!#$%&'*+/=?^_`{|}~-@sub.example.org"],
];

test("all spellings of an e-mail address parse to one canonical form, and a `+tag` makes a different address", () => {
  for (const [text, address] of CANONICAL_ADDRESSES) assert.equal(parseEmail(text)?.address, address, text);
});

const INVALID_ADDRESSES: readonly string[] = [
  ...["", "@", "ada", "ada@", "@example.org", "ada@localhost", "ada@example", "ada@example..org", "ada@.example.org"],
  ...["ada@-example.org", "ada@example-.org", "ada@[127.0.0.1]", "ada@127.0.0.1", "ada@1.2.3", "ada@0x7f.1"],
  ...["ada@@example.org", "a b@example.org", '"ada"@example.org', "ada@exam ple.org", "ada@example.org/x"],
  ...["ada@ex%61mple.org", "ada@example.org:25", "ada@example.org?x", "ada@example.org#x", "ada@example.123"],
  ...["ada@example.o", ".ada@example.org", "ada.@example.org", "a..da@example.org", "ada\r\nBcc: eve@example.org"],
  ...["ada@example.org\r\nX: y", "ada\u0000@example.org", "адa@example.org", "ada\u202e@example.org"],
  ...["<ada@example.org>", "Ada <ada@example.org>", "ada@example.org,eve@example.org"],
  ...["ada@example.org;eve@example.org", `${"a".repeat(65)}@example.org`, `a@${"b".repeat(64)}.org`],
  ...[`ada@${"b.".repeat(130)}org`],
];

test("invalid and ambiguous e-mail addresses are rejected", () => {
  for (const text of INVALID_ADDRESSES) assert.equal(parseEmail(text), null, JSON.stringify(text));
});

test("parseEmail is idempotent and never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: "binary" }), fc.string()), (text) => {
      const email = parseEmail(text);
      if (email === null) return;
      assert.deepEqual(parseEmail(email.address), email);
      assert.match(email.address, /^[\x21-\x7e]+$/);
    }),
  );
});

test("isDisposable matches a listed domain and its subdomains, but no similar domain", () => {
  const disposableDomains = new Set(["tempmail.example", "co.example"]);
  for (const domain of ["tempmail.example", "sub.tempmail.example", "a.b.co.example"])
    assert.equal(isDisposable(domain, disposableDomains), true, domain);
  for (const domain of ["nottempmail.example", "tempmail.example.org", "example"])
    assert.equal(isDisposable(domain, disposableDomains), false, domain);
  for (const text of ["a@sub.tempmail.example.", "a@TempMail.Example", "a@ｔempmail.example"])
    assert.equal(isDisposable(parseEmail(text)?.domain ?? "", disposableDomains), true, text);
});
