import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Allowance, PLANS, type Plan } from "../../../domain/plan.ts";
import { randomBase32 } from "../../../lib/random-text.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { createKey, parseKey } from "./key-format.ts";
import { isActiveKeyOf, replaceKey } from "./queries.ts";

const FILE_NAME = "demo-keys.json";
const KEY_ID_LENGTH = 26;
/** Quota per tier of the enterprise demo key; too high to reach in manual tests of the sandbox. */
const CALLS_PER_MONTH = 1_000_000;
const CALLS_PER_MINUTE = 6_000;
const DEMO_ALLOWANCES: Readonly<Partial<Record<Plan, Allowance>>> = {
  enterprise: {
    quotas: { LISTING: CALLS_PER_MONTH, INSIGHT: CALLS_PER_MONTH, STRATEGY: CALLS_PER_MONTH, DEEP: CALLS_PER_MONTH },
    rateLimits: { general: CALLS_PER_MINUTE, strategy: CALLS_PER_MINUTE },
  },
};

/** Fixed ids, so that the demo customers keep their data when their keys are recreated. */
export const DEMO_CUSTOMER_IDS: Readonly<Record<Plan, string>> = {
  free: `cus-${"demofree".padEnd(26, "a")}`,
  pro: `cus-${"demopro".padEnd(26, "a")}`,
  enterprise: `cus-${"demoenterprise".padEnd(26, "a")}`,
};

export type DemoKeys = Readonly<Record<Plan, string>>;

async function readKeys(path: string): Promise<Partial<Record<Plan, string>>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof value !== "object" || value === null) return {};
    const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

async function isActive(database: AreaPorts["database"], plan: Plan, key: string | undefined): Promise<boolean> {
  const parsed = key === undefined ? null : parseKey(key);
  if (parsed === null || parsed.plan !== plan) return false;
  return isActiveKeyOf(database, parsed, { customerId: DEMO_CUSTOMER_IDS[plan], plan });
}

/**
 * Returns one demo key per plan from `<dataDir>/demo-keys.json`, which only its owner can read. A key that is missing
 * in the file or not active in the database is recreated, and the demo customer's previous key is revoked. A disabled
 * demo customer stays disabled and keeps its keys. The file is written after the database, so the next start repairs
 * the state after a crash between the two writes.
 */
export async function ensureDemoKeys(
  database: AreaPorts["database"],
  dataDir: string,
  dependencies: Pick<AreaPorts, "random" | "clock"> & {
    /** Name of the keys. Services that share the database but not the data directory need different names. */
    readonly name?: string;
  },
): Promise<DemoKeys> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE_NAME);
  const storedKeys = await readKeys(path);
  const keys: Record<Plan, string> = { free: "", pro: "", enterprise: "" };
  let isChanged = false;
  for (const plan of PLANS) {
    const storedKey = storedKeys[plan];
    if (storedKey !== undefined && (await isActive(database, plan, storedKey))) {
      keys[plan] = storedKey;
      continue;
    }
    const createdKey = createKey(dependencies.random, plan);
    const keyId = `key-${randomBase32(dependencies.random, KEY_ID_LENGTH)}`;
    const customer = { customerId: DEMO_CUSTOMER_IDS[plan], plan, customLimits: DEMO_ALLOWANCES[plan] };
    await replaceKey(
      database,
      customer,
      { ...createdKey, keyId, name: dependencies.name ?? "demo" },
      dependencies.clock.now(),
    );
    keys[plan] = createdKey.key;
    isChanged = true;
  }
  if (isChanged) {
    const temporaryPath = `${path}.new`;
    await writeFile(temporaryPath, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
    // `mode` applies only to new files, and a crashed process may have left the temporary file.
    await chmod(temporaryPath, 0o600);
    await rename(temporaryPath, path);
  }
  return keys;
}
