import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { openEmbeddedDatabase } from "../adapters/database/embedded-database.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Config } from "../config/config.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { describeDatabaseError, StartupError } from "./startup-errors.ts";

/**
 * Opens the bus that notifies other processes. It connects in the background, so an unavailable server does not delay
 * the start.
 */
export async function openBus(
  { redisUrl, databaseUrl, isReadOnly }: Pick<Config, "redisUrl" | "databaseUrl" | "isReadOnly">,
  log: Log,
): Promise<Bus> {
  // A process that checks a backup must not notify the processes of the running service.
  if (isReadOnly) return createInProcessBus(log);
  const ports = { clock: systemClock, random: systemRandom, log };
  if (redisUrl !== null) {
    const { openRedisBus } = await import("../adapters/bus/redis-bus.ts");
    return openRedisBus({ url: redisUrl, ...ports });
  }
  if (databaseUrl === null) return createInProcessBus(log);
  const { openPostgresBus } = await import("../adapters/bus/postgres-bus.ts");
  return openPostgresBus({ url: databaseUrl, ...ports });
}

/** Opens the PostgreSQL database if one is configured, else the embedded one. @throws StartupError */
export async function openDatabase(config: Config, log: Log): Promise<Database> {
  const { databaseUrl, dataDir, diskReserveMib, isReadOnly } = config;
  if (databaseUrl === null)
    return openEmbeddedDatabase({ dataDir, reserveBytes: diskReserveMib * 2 ** 20, isReadOnly, log });
  const { openPostgresDatabase } = await import("../adapters/database/postgres-database.ts");
  return openPostgresDatabase({ url: databaseUrl, isReadOnly, log }).catch((error: unknown) => {
    throw new StartupError(describeDatabaseError(databaseUrl, error));
  });
}
