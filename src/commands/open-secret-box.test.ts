import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eachDatabase } from "../../test/support/databases.ts";
import { createTestFolder } from "../../test/support/test-folder.ts";
import { SecretKeyMismatchError } from "../adapters/database/secret-key-id.ts";
import { secretKeyId } from "../adapters/system/secret-box.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Database } from "../ports/database.ts";
import { openSecretBox } from "./open-secret-box.ts";

const oldKey = systemRandom.bytes(32);
const newKey = systemRandom.bytes(32);
const configured = (...secretKeys: readonly Uint8Array[]) => ({ secretKeys, isSecretKeyLost: false, dataDir: "/none" });

async function readKeyId(database: Database): Promise<string | undefined> {
  const [row] = await database.query<{ value: string }>("select value from meta where key = 'secret_key_id'");
  return row?.value;
}

eachDatabase(
  "a service with another key for its secrets does not start until it has the key of the first service",
  async (database) => {
    const [first, second] = [await createTestFolder(), await createTestFolder()];
    const inFolder = (dataDir: string) => ({ ...configured(), dataDir });
    const sealed = (await openSecretBox(inFolder(first), database)).seal("secret", "wh-1");
    await assert.rejects(openSecretBox(inFolder(second), database), (error) => {
      assert.ok(error instanceof SecretKeyMismatchError);
      assert.match(error.message, /Set PARALLAX_SECRET_KEY to the key of the other processes/);
      assert.ok(error.message.includes(`key ${sealed.split(".")[1]},`));
      return true;
    });
    await writeFile(join(second, "secret-key"), await readFile(join(first, "secret-key")));
    assert.equal((await openSecretBox(inFolder(second), database)).open(sealed, "wh-1"), "secret");
  },
);

eachDatabase(
  "of processes that start concurrently with different keys, only those with the stored key start",
  async (database) => {
    const keys = Array.from({ length: 6 }, () => systemRandom.bytes(32));
    const results = await Promise.allSettled(
      [...keys, ...keys].map(async (key) => {
        await openSecretBox(configured(key), database);
        return secretKeyId(key);
      }),
    );
    const started = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    assert.equal(started.length, 2);
    assert.deepEqual([...new Set(started)], [await readKeyId(database)]);
  },
);

eachDatabase(
  "a new key listed before the old one replaces it, and a process with only the old key then does not start",
  async (database) => {
    await openSecretBox(configured(oldKey), database);
    await openSecretBox(configured(oldKey, newKey), database);
    assert.equal(await readKeyId(database), secretKeyId(oldKey));
    await assert.rejects(openSecretBox(configured(newKey), database), SecretKeyMismatchError);
    assert.equal(await readKeyId(database), secretKeyId(oldKey));
    await openSecretBox(configured(newKey, oldKey), database);
    await assert.rejects(openSecretBox(configured(oldKey), database), SecretKeyMismatchError);
    await openSecretBox(configured(newKey), database);
  },
);

eachDatabase("a lost key can be replaced explicitly", async (database) => {
  await openSecretBox(configured(oldKey), database);
  await openSecretBox({ ...configured(newKey), isSecretKeyLost: true }, database);
  await openSecretBox(configured(newKey), database);
  await assert.rejects(openSecretBox(configured(oldKey), database), SecretKeyMismatchError);
});

eachDatabase("the start writes nothing if the store has the key of the process", async (database) => {
  await openSecretBox(configured(oldKey), database);
  const queries: string[] = [];
  const reading: Database = {
    ...database,
    query(text, values) {
      queries.push(text);
      return database.query(text, values);
    },
  };
  await openSecretBox(configured(oldKey), reading);
  assert.deepEqual(
    queries.map((text) => text.split(" ")[0]),
    ["select"],
  );
});
