import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isStoreUnavailable } from "../../../test/support/asserts/error-code.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { copyStoreTemplate } from "../../../test/support/store-template.ts";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import { createDiskSpaceGuard, needsDiskSpace, readFreeBytes } from "./disk-space-guard.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";

const MIB = 2 ** 20;

test("statements that write need disk space; statements that read or free space do not", () => {
  for (const text of [
    "insert into a values (1)",
    "\n  with b as (select 1), c as (update a set x = 1 returning x) select * from c",
    "update a set x = 1",
    "delete from a",
    "create table a (x int)",
    "vacuum full a",
    "alter table a add y int",
  ]) {
    assert.equal(needsDiskSpace(text), true, text);
  }
  for (const text of [
    "select 1",
    "\nSELECT insert_count FROM a",
    "with b as (select 1) select * from b",
    "begin",
    "commit",
    "rollback",
    "drop table ticks_20261121",
    "truncate a",
  ]) {
    assert.equal(needsDiskSpace(text), false, text);
  }
});

test("checks the free space at most four times a second and logs each change between full and free once", async () => {
  let checkCount = 0;
  let freeBytesNow: number | null = 10 * MIB;
  let now = 0;
  const messages: string[] = [];
  const record = (_fields: unknown, message: string) => messages.push(message);
  const log = { ...quietLog, info: record, error: record };
  const assertDiskSpace = createDiskSpaceGuard({
    reserveBytes: 5 * MIB,
    freeBytes: async () => {
      checkCount += 1;
      return freeBytesNow;
    },
    monotonic: () => now,
    log,
  });
  const insertRow = () => assertDiskSpace("insert into a values (1)");
  await Promise.all([insertRow(), insertRow(), insertRow()]);
  assert.equal(checkCount, 1);
  freeBytesNow = 4 * MIB;
  now = 249;
  await insertRow();
  now = 250;
  await assert.rejects(insertRow(), isStoreUnavailable);
  await assert.rejects(insertRow(), isStoreUnavailable);
  await assertDiskSpace("select 1");
  assert.equal(checkCount, 2);
  freeBytesNow = null;
  now = 500;
  await insertRow();
  freeBytesNow = 5 * MIB;
  now = 750;
  await insertRow();
  assert.deepEqual(
    messages.map((message) => /nearly full|again/.exec(message)?.[0]),
    ["nearly full", "again"],
  );
});

test("returns the free bytes of a folder, or null if the folder does not exist", async () => {
  assert.ok(((await readFreeBytes(tmpdir())) ?? 0) > 0);
  assert.equal(await readFreeBytes(join(tmpdir(), "parallax-not-there")), null);
});

test("refuses only writes while the disk is nearly full, and accepts writes again when space is free", async () => {
  const dataDir = await createTestFolder();
  await copyStoreTemplate(dataDir);
  let freeBytesNow = 100 * MIB;
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog, freeBytes: async () => freeBytesNow });
  const readNumbers = async () => (await database.query<{ a: number }>("select a from t order by a")).map(({ a }) => a);
  try {
    await database.query("create table t (a int)");
    await database.query("insert into t values (1)");
    freeBytesNow = 63 * MIB;
    const writeUntilRefused = async () => {
      // The disk is checked every 250 ms, so the first writes may still succeed.
      for (let number = 2; ; number++) await database.query("insert into t values ($1)", [number]);
    };
    await assert.rejects(writeUntilRefused(), isStoreUnavailable);
    const acceptedNumbers = await readNumbers();
    assert.ok(acceptedNumbers.length >= 1);
    const failingTransaction = database.transaction(async (transaction) => {
      await transaction.query("insert into meta (key, value) values ('late', '1')");
    });
    await assert.rejects(failingTransaction, isStoreUnavailable);
    assert.deepEqual(await readNumbers(), acceptedNumbers);
    freeBytesNow = 64 * MIB;
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline) {
      const isAccepted = await database.query("insert into t values (0)").then(
        () => true,
        (error: unknown) => {
          assert.ok(isStoreUnavailable(error));
          return false;
        },
      );
      if (isAccepted) break;
    }
    assert.deepEqual(await readNumbers(), [0, ...acceptedNumbers]);
  } finally {
    await database.close();
  }
});
