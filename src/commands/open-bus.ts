import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { openPostgresBus } from "../adapters/bus/postgres-bus.ts";
import { openRedisBus } from "../adapters/bus/redis-bus.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Config } from "../config/config.ts";
import type { Bus } from "../ports/bus.ts";
import type { Log } from "../ports/log.ts";

/** Opens the bus that notifies other processes. It connects in the background: an unavailable server does not delay the start. */
export function openBus({ redisUrl, databaseUrl }: Pick<Config, "redisUrl" | "databaseUrl">, log: Log): Bus {
  const ports = { clock: systemClock, random: systemRandom, log };
  if (redisUrl !== null) return openRedisBus({ url: redisUrl, ...ports });
  return databaseUrl === null ? createInProcessBus(log) : openPostgresBus({ url: databaseUrl, ...ports });
}
