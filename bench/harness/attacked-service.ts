import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as EmbeddedDatabase from "../../src/adapters/database/embedded-database.ts";
import type * as Migrations from "../../src/adapters/database/migrations.ts";
import type * as SystemClock from "../../src/adapters/system/system-clock.ts";
import type * as SystemRandom from "../../src/adapters/system/system-random.ts";
import type * as KeyFormat from "../../src/capabilities/accounts/keys/key-format.ts";
import type * as KeyQueries from "../../src/capabilities/accounts/keys/queries.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../../test/support/service-process.ts";
import { UNREACHED_ALLOWANCE } from "../../test/support/venues/lifted-limits.ts";

/** With these thresholds, most trades of the sandbox cause an event that webhooks deliver. */
const EVENT_SETTINGS = {
  PARALLAX_WHALE_MIN_USD: "1",
  PARALLAX_WHALE_PERCENTILE: "50",
  PARALLAX_WHALE_VOLUME_SHARE: "0.001",
  PARALLAX_WHALE_SHARE_MIN_USD: "1",
};

export interface AttackedService extends ServiceProcess {
  /** API keys of the attackers, one per customer. */
  readonly attackerKeys: readonly string[];
  /** API key of the customer whose response times are measured. */
  readonly otherKey: string;
  close(): Promise<void>;
}

/**
 * Starts the service of a checkout as `npm start` does, with simulated venues and an empty store of that checkout.
 *
 * @param project        folder of the checkout; its dependencies are installed
 * @param attackerCount  number of customers whose keys the attackers use
 */
export async function startAttackedService(project: string, attackerCount: number): Promise<AttackedService> {
  const folder = await temporaryFolder();
  try {
    const keys = await createCustomers(project, folder.path, attackerCount + 1);
    const service = await startServiceProcess({
      dataDir: folder.path,
      project,
      createsStore: true,
      env: EVENT_SETTINGS,
    });
    const close = async () => {
      await service.end();
      await folder.release();
    };
    return { ...service, attackerKeys: keys.slice(1), otherKey: keys[0] ?? "", close };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

/** Creates the store with the code of the checkout, and customers in it. Returns one key per customer. */
async function createCustomers(project: string, dataDir: string, count: number): Promise<readonly string[]> {
  const load = (file: string) => import(pathToFileURL(join(project, "src", file)).href);
  const { openEmbeddedDatabase }: typeof EmbeddedDatabase = await load("adapters/database/embedded-database.ts");
  const { migrateDatabase }: typeof Migrations = await load("adapters/database/migrations.ts");
  const { systemClock }: typeof SystemClock = await load("adapters/system/system-clock.ts");
  const { systemRandom }: typeof SystemRandom = await load("adapters/system/system-random.ts");
  const { createKey }: typeof KeyFormat = await load("capabilities/accounts/keys/key-format.ts");
  const { replaceKey }: typeof KeyQueries = await load("capabilities/accounts/keys/queries.ts");
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    await migrateDatabase(database);
    const keys: string[] = [];
    for (let index = 0; index < count; index++) {
      const key = createKey(systemRandom, "enterprise");
      const letter = String.fromCharCode("a".charCodeAt(0) + index);
      const customer = {
        customerId: `cus-${`attack${letter}`.padEnd(26, "a")}`,
        plan: "enterprise",
        // No limit slows the attackers down, so that the defences against slow and endless responses are measured.
        customLimits: UNREACHED_ALLOWANCE,
      } as const;
      await replaceKey(
        database,
        customer,
        { ...key, keyId: `key-${`attack${letter}`.padEnd(26, "a")}`, name: "attack" },
        systemClock.now(),
      );
      keys.push(key.key);
    }
    return keys;
  } finally {
    await database.close();
  }
}
