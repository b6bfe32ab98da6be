import assert from "node:assert/strict";
import { test } from "node:test";
import { SchemaDriftLog } from "./schema-drift.ts";

test("counts drift by kind and name, with the redacted first value and the timestamps of the first and last occurrence", () => {
  const log = new SchemaDriftLog();
  log.note("unknown_value", "market.status", "LIMBO", 1_000);
  log.note("unknown_value", "market.status", "OTHER", 2_000);
  log.note("missing", "market.yes_bid_dollars", undefined, 3_000);
  log.note("new", "market.creatorEmail", "someone@example.com", 4_000);
  assert.deepEqual(log.list(), [
    {
      name: "market.status",
      kind: "unknown_value",
      count: 2,
      sample: "string: LIMBO",
      firstSeenAt: 1_000,
      lastSeenAt: 2_000,
    },
    {
      name: "market.yes_bid_dollars",
      kind: "missing",
      count: 1,
      sample: null,
      firstSeenAt: 3_000,
      lastSeenAt: 3_000,
    },
    {
      name: "market.creatorEmail",
      kind: "new",
      count: 1,
      sample: "string: 19 characters",
      firstSeenAt: 4_000,
      lastSeenAt: 4_000,
    },
  ]);
});

test("limits the number of names and counts further names as `other`, by kind", () => {
  const log = new SchemaDriftLog();
  const letters = "abcdefghij";
  for (let number = 0; number < 100; number++) {
    const name = `market.${letters[Math.floor(number / 10)]}${letters[number % 10]}`;
    log.note("new", name, 1, number);
  }
  log.note("missing", "market.late", undefined, 100);
  const entries = log.list();
  assert.equal(entries.length, 62);
  const others = entries.filter(({ name }) => name === "other");
  assert.deepEqual(
    others.map(({ kind, count, sample }) => [kind, count, sample]),
    [
      ["new", 40, null],
      ["missing", 1, null],
    ],
  );
});

test("counts names that could be ids, secrets or markup as `other`", () => {
  const log = new SchemaDriftLog();
  for (const name of [
    "market.user12345",
    "market.0x9aB4F0c2D31e6e0a1B5C7D8E9f00112233445566",
    "market.<script>",
    "market.a b",
    "market.__proto__.x",
    `market.${"a".repeat(60)}`,
    "market.a1b2c3d4e5f6",
  ]) {
    log.note("new", name, "value", 0);
  }
  assert.deepEqual(
    log.list().map(({ name, count, sample }) => [name, count, sample]),
    [["other", 7, null]],
  );
});
