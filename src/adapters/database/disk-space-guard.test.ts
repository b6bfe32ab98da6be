import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import { copyStoreTemplate } from "../../../test/support/store-template.ts";
import { AppError } from "../../domain/errors.ts";
import { createDiskSpaceGuard, needsDiskSpace, readFreeBytes } from "./disk-space-guard.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";

const MIB = 2 ** 20;
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "store_unavailable";

test("statements that write need disk space; reads and statements that free space do not", () => {
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

test("checks the disk at most four times a second and logs each change once", async () => {
  let checks = 0;
  let free: number | null = 10 * MIB;
  let now = 0;
  const messages: string[] = [];
  const record = (_fields: unknown, message: string) => messages.push(message);
  const log = { ...quietLog, info: record, error: record };
  const assertDiskSpace = createDiskSpaceGuard({
    reserveBytes: 5 * MIB,
    freeBytes: async () => {
      checks += 1;
      return free;
    },
    monotonic: () => now,
    log,
  });
  const write = () => assertDiskSpace("insert into a values (1)");
  await Promise.all([write(), write(), write()]);
  assert.equal(checks, 1);
  free = 4 * MIB;
  now = 249;
  await write();
  now = 250;
  await assert.rejects(write(), isUnavailable);
  await assert.rejects(write(), isUnavailable);
  await assertDiskSpace("select 1");
  assert.equal(checks, 2);
  free = null;
  now = 500;
  await write();
  free = 5 * MIB;
  now = 750;
  await write();
  assert.deepEqual(
    messages.map((message) => /nearly full|again/.exec(message)?.[0]),
    ["nearly full", "again"],
  );
});

test("returns the free space of a folder, null if the folder does not exist", async () => {
  assert.ok(((await readFreeBytes(tmpdir())) ?? 0) > 0);
  assert.equal(await readFreeBytes(join(tmpdir(), "parallax-not-there")), null);
});

test("refuses writes while the disk is nearly full, continues to read, and accepts writes again without loss", async (t) => {
  const { path: dataDir, release } = await temporaryFolder();
  t.after(release);
  await copyStoreTemplate(dataDir);
  let free = 100 * MIB;
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog, freeBytes: async () => free });
  const numbers = async () => (await database.query<{ a: number }>("select a from t order by a")).map(({ a }) => a);
  try {
    await database.query("create table t (a int)");
    await database.query("insert into t values (1)");
    free = 63 * MIB;
    const refusal = async () => {
      // The disk is checked every 250 ms, so the first writes may still succeed.
      for (let number = 2; ; number++) await database.query("insert into t values ($1)", [number]);
    };
    await assert.rejects(refusal(), isUnavailable);
    const accepted = await numbers();
    assert.ok(accepted.length >= 1);
    const writing = database.transaction(async (transaction) => {
      await transaction.query("insert into meta (key, value) values ('late', '1')");
    });
    await assert.rejects(writing, isUnavailable);
    assert.deepEqual(await numbers(), accepted);
    free = 64 * MIB;
    const until = performance.now() + 10_000;
    while (performance.now() < until) {
      const isAccepted = await database.query("insert into t values (0)").then(
        () => true,
        (error: unknown) => {
          assert.ok(isUnavailable(error));
          return false;
        },
      );
      if (isAccepted) break;
    }
    assert.deepEqual(await numbers(), [0, ...accepted]);
  } finally {
    await database.close();
  }
});
