import { openEmbeddedDatabase } from "../../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../../src/adapters/database/migrations.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { ensureDemoKeys } from "../../../src/capabilities/accounts/keys/index.ts";
import type { Allowance } from "../../../src/domain/plan.ts";
import type { Database } from "../../../src/ports/database.ts";
import { quietLog } from "../quiet-log.ts";
import { copyStoreTemplate } from "../store-template.ts";

const CALLS_PER_MONTH = 1e12;
const CALLS_PER_MINUTE = 1e8;
/** Limits that no test reaches. Requests are still counted. */
export const UNREACHED_ALLOWANCE: Allowance = {
  quotas: {
    LISTING: CALLS_PER_MONTH,
    INSIGHT: CALLS_PER_MONTH,
    STRATEGY: CALLS_PER_MONTH,
    DEEP: CALLS_PER_MONTH,
  },
  rateLimits: { general: CALLS_PER_MINUTE, strategy: CALLS_PER_MINUTE },
};

/** Sets the limits of enterprise customers to `UNREACHED_ALLOWANCE`. */
export async function liftLimits(database: Database): Promise<void> {
  const { quotas, rateLimits } = UNREACHED_ALLOWANCE;
  await database.query(
    "update customers set quotas = $1::text::jsonb, rate_limits = $2::text::jsonb where plan = 'enterprise'",
    [JSON.stringify(quotas), JSON.stringify(rateLimits)],
  );
}

/** Creates an embedded store in `folder` whose demo enterprise key never reaches a limit. */
export async function prepareStore(folder: string): Promise<void> {
  const isMigrated = await copyStoreTemplate(folder);
  const database = await openEmbeddedDatabase({ dataDir: folder, log: quietLog });
  try {
    if (!isMigrated) await migrateDatabase(database);
    await ensureDemoKeys(database, folder, { random: systemRandom, clock: systemClock });
    await liftLimits(database);
  } finally {
    await database.close();
  }
}
