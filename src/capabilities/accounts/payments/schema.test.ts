import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../domain/errors.ts";
import { parsePaymentHeader } from "./schema.ts";

const AUTHORIZATION = {
  from: `0x${"Ab".repeat(20)}`,
  to: `0x${"cd".repeat(20)}`,
  value: "10000",
  validAfter: "0",
  validBefore: "1795255500",
  nonce: `0x${"0F".repeat(32)}`,
};
const PAYLOAD = { signature: `0x${"1a".repeat(65)}`, authorization: AUTHORIZATION };
const V2 = { x402Version: 2, accepted: { scheme: "exact", network: "eip155:8453" }, payload: PAYLOAD };

const base64 = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
const isMalformed = (header: string) => {
  try {
    parsePaymentHeader(header);
    return false;
  } catch (error) {
    if (error instanceof AppError && error.code === "malformed_payment") return true;
    throw error;
  }
};

test("parses payments of both versions and converts wallet addresses to lower case", () => {
  const payment = parsePaymentHeader(base64({ ...V2, resource: { url: "x" }, extensions: { a: { b: 1 } } }));
  assert.deepEqual([payment.version, payment.scheme, payment.network], [2, "exact", "eip155:8453"]);
  assert.equal(payment.authorization.from, `0x${"ab".repeat(20)}`);
  assert.equal(payment.authorization.nonce, `0x${"0f".repeat(32)}`);
  const old = parsePaymentHeader(base64({ x402Version: 1, scheme: "exact", network: "base", payload: PAYLOAD }));
  assert.deepEqual([old.version, old.network, old.accepted], [1, "base", null]);
  assert.equal(isMalformed(base64(V2).replace(/=+$/, "")), false, "padding is optional");
});

test("accepts numbers only as plain decimal digits", () => {
  const withValue = (value: unknown) =>
    base64({ ...V2, payload: { ...PAYLOAD, authorization: { ...AUTHORIZATION, value } } });
  for (const value of ["0", "1", String(2n ** 256n - 1n)]) assert.equal(isMalformed(withValue(value)), false, value);
  const wrong = ["", "01", "+1", "-1", "1.0", "1e4", "0x10", " 1", "1 ", "1\n", "１", "1_000", String(2n ** 256n)];
  for (const value of [...wrong, 10_000, 1.5, null, true, [], {}, ["10000"]])
    assert.equal(isMalformed(withValue(value)), true, JSON.stringify(value));
});

test("rejects headers that are too long, too deep, ambiguous or not standard base64", () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  const long = { ...V2, extensions: { a: "x".repeat(8_000) } };
  // The last four bits before "==" are padding bits. This payment sets them to a non-zero value.
  const json = JSON.stringify(V2);
  const oneOver = base64(json.padEnd(json.length + ((4 - (json.length % 3)) % 3)));
  const nonZeroPadding = oneOver.replace(/.==$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}==`);
  assert.deepEqual([isMalformed(oneOver), oneOver === nonZeroPadding], [false, false]);
  const cases: readonly [string, string][] = [
    ["longer than 8 KiB", base64(long)],
    ["deeper than 8 levels", base64({ ...V2, extensions: deep(8) })],
    ["a duplicate key", base64(JSON.stringify(V2).replace("{", '{"x402Version":1,'))],
    ["a key __proto__", base64(JSON.stringify(V2).replace("{", '{"__proto__":{},'))],
    [
      "URL-safe base64",
      base64({ ...V2, extensions: { a: "???>>>" } })
        .replaceAll("/", "_")
        .replaceAll("+", "-"),
    ],
    ["whitespace", ` ${base64(V2)}`],
    ["two joined headers", `${base64(V2)}, ${base64(V2)}`],
    ["non-zero padding bits", nonZeroPadding],
    ["invalid UTF-8", Buffer.from([0x22, 0xff, 0x22]).toString("base64")],
    ["JSON without base64", JSON.stringify(V2)],
    ["an empty header", ""],
    ["an unknown version", base64({ ...V2, x402Version: 3 })],
    ["a version as a string", base64({ ...V2, x402Version: "2" })],
    [
      "an unknown field",
      base64({ ...V2, payload: { ...PAYLOAD, authorization: { ...AUTHORIZATION, spender: "0x" } } }),
    ],
    ["a contract signature", base64({ ...V2, payload: { ...PAYLOAD, signature: `0x${"1a".repeat(96)}` } })],
  ];
  for (const [name, header] of cases) assert.equal(isMalformed(header), true, name);
  assert.equal(isMalformed(base64({ ...V2, extensions: deep(6) })), false);
});

test("generated headers are either parsed or rejected as malformed", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 200 }), fc.base64String(), fc.json().map(base64)), (header) => {
      isMalformed(header);
    }),
    { numRuns: 5_000 },
  );
  // Changes one character of a valid header.
  const valid = base64(V2);
  fc.assert(
    fc.property(fc.nat(valid.length - 1), fc.constantFrom(..."ABab01+/=-_ {\u00e9"), (at, character) => {
      const changed = `${valid.slice(0, at)}${character}${valid.slice(at + 1)}`;
      if (!isMalformed(changed)) assert.equal(typeof parsePaymentHeader(changed).authorization.value, "string");
    }),
    { numRuns: 5_000 },
  );
});
