import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { InvalidRequestError } from "../domain/errors.ts";
import { decodeCursor, encodeCursor, nextPageLink } from "./pagination.ts";

const LISTING = { sort: "volume_24h", category: "politics", platform: undefined };

test("decodes an encoded cursor for the same listing", () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string(), fc.constant(null));
  fc.assert(
    fc.property(value, fc.string({ unit: "grapheme" }), (sortValue, id) => {
      const keyset = { value: Object.is(sortValue, -0) ? 0 : sortValue, id: id.toWellFormed() };
      assert.deepEqual(decodeCursor(encodeCursor(keyset, LISTING), LISTING), keyset);
    }),
    { seed: 7 },
  );
});

test("422: rejects cursors of another listing, modified cursors and malformed cursors with the location `query.cursor`", () => {
  const cursor = encodeCursor({ value: 12.5, id: "kalshi/A" }, LISTING);
  const forgedCursor = Buffer.from(Buffer.from(cursor, "base64url").toString().replace("12.5", "99.5")).toString(
    "base64url",
  );
  const malformedCursors = [
    "",
    "x",
    "e30",
    "W10",
    "bnVsbA",
    "[1,2,3]",
    "\u0000",
    "a".repeat(5_000),
    cursor.slice(0, -3),
    forgedCursor,
  ];
  malformedCursors.push(
    Buffer.from('[1e999,"a","x"]').toString("base64url"),
    Buffer.from('[{},"a","x"]').toString("base64url"),
  );
  for (const text of malformedCursors) assertRejected(() => decodeCursor(text, LISTING));
  assertRejected(() => decodeCursor(cursor, { ...LISTING, sort: "liquidity" }));
  assertRejected(() => decodeCursor(cursor, { ...LISTING, platform: "kalshi" }));
  assert.deepEqual(decodeCursor(cursor, { category: "politics", sort: "volume_24h" }), { value: 12.5, id: "kalshi/A" });
});

function assertRejected(decode: () => unknown): void {
  assert.throws(decode, (error: unknown) => {
    assert.ok(error instanceof InvalidRequestError);
    assert.deepEqual([error.errors[0]?.type, error.errors[0]?.loc], ["value_error", ["query", "cursor"]]);
    return true;
  });
}

test("the link to the next page keeps the caller's parameters and replaces the cursor", () => {
  const link = nextPageLink("/v1/markets?query=fed%20cut&cursor=old&limit=2", "new");
  assert.equal(link, '</v1/markets?query=fed+cut&cursor=new&limit=2>; rel="next"');
  assert.equal(nextPageLink("/v1/markets", "c"), '</v1/markets?cursor=c>; rel="next"');
  assert.equal(
    nextPageLink("/v1/markets?a=1", "c", "https://api.example.com/"),
    '<https://api.example.com/v1/markets?a=1&cursor=c>; rel="next"',
  );
});

test("the link never contains the host of the request line", () => {
  for (const url of ["http://evil.example/v1/markets?limit=1", "HTTPS://evil.example:8/v1/markets?limit=1"]) {
    assert.equal(nextPageLink(url, "c"), '</v1/markets?limit=1&cursor=c>; rel="next"');
  }
});

test("the link escapes every character that could end the URL", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      const link = nextPageLink(`/v1/markets${text.toWellFormed()}`, "c");
      assert.match(link, /^<\/v1\/markets[^<>"\s]*[?&]cursor=c[^<>"\s]*>; rel="next"$/);
    }),
    { numRuns: 500, seed: 7 },
  );
});
