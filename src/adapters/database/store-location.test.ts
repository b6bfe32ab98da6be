import assert from "node:assert/strict";
import { cp, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isStoreUnavailable } from "../../../test/support/asserts/error-code.ts";
import { eachDatabase, onPostgres } from "../../../test/support/databases.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { copyStoreTemplate } from "../../../test/support/store-template.ts";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import type { Database } from "../../ports/database.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";
import { openPostgresDatabase } from "./postgres-database.ts";
import { identifyStoreInstance, recordStoreInstance } from "./store-location.ts";

eachDatabase(
  "a store at another location counts as restored, and only one of two nodes handles the restore",
  async (database) => {
    const restores: string[] = [];
    const start = (location: string, isRestored: boolean | null = null) =>
      recordStoreInstance(database, location, {
        isRestored,
        async onRestored() {
          restores.push(location);
        },
      });
    await start("a");
    await start("a");
    assert.deepEqual(restores, []);
    await Promise.all([start("b"), start("b")]);
    assert.deepEqual(restores, ["b"]);
    // The operator says that the store was only moved, and then that it was restored in place.
    await start("c", false);
    await start("c", true);
    assert.deepEqual(restores, ["b", "c"]);
  },
);

test("a copied data directory is another location, and a renamed one is not", async () => {
  const folder = await createTestFolder();
  const [original, copy, renamed] = ["original", "copy", "renamed"].map((name) => join(folder, name));
  assert.ok(original !== undefined && copy !== undefined && renamed !== undefined);
  const unused = {} as Database;
  await mkdir(original);
  const location = await identifyStoreInstance(unused, original);
  await cp(original, copy, { recursive: true, preserveTimestamps: true });
  assert.notEqual(await identifyStoreInstance(unused, copy), location);
  await rename(original, renamed);
  assert.equal(await identifyStoreInstance(unused, renamed), location);
});

onPostgres("recreated tables count as another location", async (database) => {
  const location = await identifyStoreInstance(database, null);
  assert.equal(await identifyStoreInstance(database, null), location);
  await database.query("create table meta_copy (like meta including all)");
  await database.query("drop table meta");
  await database.query("alter table meta_copy rename to meta");
  assert.notEqual(await identifyStoreInstance(database, null), location);
});

async function assertReadOnly(database: Database): Promise<void> {
  assert.deepEqual(await database.query("select 1 as one"), [{ one: 1 }]);
  await assert.rejects(database.query("create table unwanted (id int4)"), isStoreUnavailable);
  await assert.rejects(
    database.transaction(({ query }) => query("create table unwanted (id int4)")),
    isStoreUnavailable,
  );
}

test("a read-only embedded store answers reads and refuses every write", async () => {
  const dataDir = await createTestFolder();
  await copyStoreTemplate(dataDir);
  const database = await openEmbeddedDatabase({ dataDir, isReadOnly: true, log: quietLog });
  try {
    await assertReadOnly(database);
  } finally {
    await database.close();
  }
});

onPostgres("a read-only connection to PostgreSQL answers reads and refuses every write", async () => {
  const database = await openPostgresDatabase({
    url: process.env.TEST_DATABASE_URL ?? "",
    isReadOnly: true,
    log: quietLog,
  });
  try {
    await assertReadOnly(database);
  } finally {
    await database.close();
  }
});
