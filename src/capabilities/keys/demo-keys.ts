import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Allowance, PLANS, type Plan } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import { createKey, parseKey, randomBase32 } from "./key-format.ts";
import { isActiveKeyOf, replaceKey } from "./queries.ts";

const FILE = "demo-keys.json";
const KEY_ID_LENGTH = 26;
/** So that trying things out never hits a wall. */
const CALLS_A_MONTH = 1_000_000;
const CALLS_A_MINUTE = 6_000;
const DEMO_ALLOWANCES: Readonly<Partial<Record<Plan, Allowance>>> = {
  enterprise: {
    quotas: { LISTING: CALLS_A_MONTH, INSIGHT: CALLS_A_MONTH, STRATEGY: CALLS_A_MONTH, DEEP: CALLS_A_MONTH },
    rateLimits: { general: CALLS_A_MINUTE, strategy: CALLS_A_MINUTE },
  },
};

/** The demo customers keep their ids, so that what they did is still theirs after their keys were made anew. */
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

async function isLiving(database: Database, plan: Plan, key: string | undefined): Promise<boolean> {
  const parsed = key === undefined ? null : parseKey(key);
  if (parsed === null || parsed.plan !== plan) return false;
  return isActiveKeyOf(database, parsed, { customerId: DEMO_CUSTOMER_IDS[plan], plan });
}

/**
 * The three keys to try the sandbox with, in `<dataDir>/demo-keys.json`, readable by its owner only. Keys that the store
 * still knows stay; a missing file, or a key the store does not know, is made anew and the demo customer's old one ends.
 * What an operator has disabled stays so, with the keys that it has. The file is written after the store, so a crash between the two is mended by the next start.
 */
export async function ensureDemoKeys(
  database: Database,
  dataDir: string,
  tools: {
    readonly random: Random;
    readonly clock: Clock;
    /** Of the keys: services that share a store and not the folder each need one of their own. */
    readonly name?: string;
  },
): Promise<DemoKeys> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE);
  const found = await readKeys(path);
  const keys: Record<Plan, string> = { free: "", pro: "", enterprise: "" };
  let isChanged = false;
  for (const plan of PLANS) {
    const known = found[plan];
    if (known !== undefined && (await isLiving(database, plan, known))) {
      keys[plan] = known;
      continue;
    }
    const made = createKey(tools.random, plan);
    const keyId = `key-${randomBase32(tools.random, KEY_ID_LENGTH)}`;
    const own = DEMO_ALLOWANCES[plan];
    const customer = { customerId: DEMO_CUSTOMER_IDS[plan], plan, ...(own === undefined ? {} : { own }) };
    await replaceKey(database, customer, { ...made, keyId, name: tools.name ?? "demo" }, tools.clock.now());
    keys[plan] = made.key;
    isChanged = true;
  }
  if (isChanged) {
    const draft = `${path}.new`;
    await writeFile(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
    // The mode above counts only for a new file, and a draft may have been left behind.
    await chmod(draft, 0o600);
    await rename(draft, path);
  }
  return keys;
}
