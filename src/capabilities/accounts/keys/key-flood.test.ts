import assert from "node:assert/strict";
import { openMeteredServer } from "../../../../test/support/customers/metered-server.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import type { Database } from "../../../ports/database.ts";
import { createKeyAuthenticator } from "./authenticator.ts";
import { createKeyDirectory } from "./key-directory.ts";
import { createKey } from "./key-format.ts";
import { replaceKey } from "./queries.ts";

async function storeNewKey(database: Database, keyId: string): Promise<string> {
  const createdKey = createKey(systemRandom, "pro");
  const customer = { customerId: `cus-${keyId}`, plan: "pro" } as const;
  await replaceKey(database, customer, { ...createdKey, keyId, name: "test" }, Date.UTC(2026, 10, 21));
  return createdKey.key;
}

/** A server with the production key look-up, as after a restart: no key is cached. */
async function openServer(database: Database) {
  const directory = createKeyDirectory({ database, clock: systemClock });
  const { app } = await openMeteredServer(database, [], {
    authentication: { authenticate: createKeyAuthenticator(directory) },
  });
  return async (key: string) => {
    const { statusCode } = await app.inject({ url: "/listing", headers: { authorization: `Bearer ${key}` } });
    return statusCode;
  };
}

eachDatabase(
  "new and rotated keys, and all keys after a restart, get 200 during a flood of invalid keys from the same address",
  async (database) => {
    const oldKey = await storeNewKey(database, "key-1");
    let send = await openServer(database);
    const flood = async () => {
      const statuses = await Promise.all(Array.from({ length: 200 }, () => send(createKey(systemRandom, "pro").key)));
      assert.ok(statuses.every((status) => status === 401 || status === 429));
      return statuses;
    };
    assert.ok((await flood()).includes(429), "the 401 responses are limited");
    const [status] = await Promise.all([send(oldKey), flood()]);
    assert.equal(status, 200, "a key that the process has not seen");
    const newKey = await storeNewKey(database, "key-2");
    const [newStatus] = await Promise.all([send(newKey), flood()]);
    assert.equal(newStatus, 200, "a key created during the flood");
    const rotatedKey = createKey(systemRandom, "pro");
    const customer = { customerId: "cus-key-1", plan: "pro" } as const;
    await replaceKey(database, customer, { ...rotatedKey, keyId: "key-3", name: "test" }, Date.UTC(2026, 10, 21));
    const [rotatedStatus] = await Promise.all([send(rotatedKey.key), flood()]);
    assert.equal(rotatedStatus, 200, "a rotated key");
    send = await openServer(database);
    const [, ...statuses] = await Promise.all([flood(), send(rotatedKey.key), send(newKey)]);
    assert.deepEqual(statuses, [200, 200], "all keys after a restart");
  },
);
