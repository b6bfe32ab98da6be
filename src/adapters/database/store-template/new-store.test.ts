import assert from "node:assert/strict";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { initializeStore, readStoreFiles } from "../../../../test/support/initialize-store.ts";
import { createTestFolder } from "../../../../test/support/test-folder.ts";
import { createStoreFiles, readStoreTemplate } from "./new-store.ts";

/** Files that `initdb` writes with the time and a random number; all others are always the same. */
const CHANGING_FILES = ["global/pg_control", "pg_wal/000000010000000000000001"];
const SELECT_CONTROL_DATA = `select i.*, s.catalog_version_no, s.pg_control_version, c.timeline_id, c.next_xid, c.next_oid, c.redo_lsn
  from pg_control_init() i, pg_control_system() s, pg_control_checkpoint() c`;

async function readControlData(dataDir: string): Promise<unknown> {
  const engine = await PGlite.create({ dataDir });
  const { rows } = await engine.query(SELECT_CONTROL_DATA);
  await engine.close();
  return rows[0];
}

test("the template equals a store that the installed PGlite creates", async () => {
  const folder = await createTestFolder();
  const [initialized, created] = [join(folder, "initialized"), join(folder, "created")];
  const expected = await initializeStore(initialized);
  const template = readStoreTemplate();
  assert.deepEqual([...template.keys()], [...expected.keys()]);
  const differing = [...expected].filter(([path, content]) => {
    const own = template.get(path) ?? null;
    return content === null || own === null ? content !== own : !Buffer.from(content).equals(own);
  });
  assert.deepEqual(
    differing.map(([path]) => path),
    CHANGING_FILES,
    "the template is not that of this PGlite: run `npm run store-template`",
  );
  mkdirSync(created);
  createStoreFiles(created);
  assert.deepEqual(await readControlData(created), await readControlData(initialized));
});

test("a new store is private, and a start that was killed while it was created is repeated", async () => {
  const folder = join(await createTestFolder(), "store");
  // A kill before the files are renamed.
  mkdirSync(`${folder}.new`);
  writeFileSync(join(`${folder}.new`, "PG_VERSION"), "partial");
  mkdirSync(folder);
  createStoreFiles(folder);
  assert.deepEqual(readStoreFiles(folder), readStoreTemplate());
  assert.deepEqual(readdirSync(join(folder, "..")), ["store"]);
  const modes = [folder, join(folder, "global"), join(folder, "PG_VERSION")].map((path) => statSync(path).mode & 0o777);
  assert.deepEqual(modes, [0o700, 0o700, 0o600]);
});

test("an existing store is not replaced, and neither are other files in its folder", async () => {
  const folder = await createTestFolder();
  writeFileSync(join(folder, "notes"), "");
  assert.throws(() => createStoreFiles(folder), { code: "ENOTEMPTY" });
  writeFileSync(join(folder, "PG_VERSION"), "");
  createStoreFiles(folder);
  assert.deepEqual(readdirSync(folder), ["PG_VERSION", "notes"]);
});
