import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { AreaPorts } from "../../area-ports.ts";

const WRITE_INTERVAL_MS = 60_000;
/** Maximum number of keys per write. Uses of further keys in the same interval are not stored. */
const PENDING_KEYS_MAX = 10_000;

/**
 * Records when keys were last used, to the minute, without delaying requests: writes all uses of a minute in one
 * statement. Failed writes are retried after a minute.
 */
export function createKeyUsage({
  database,
  clock,
  log,
  keysMax = PENDING_KEYS_MAX,
}: Pick<AreaPorts, "database" | "clock" | "log"> & { readonly keysMax?: number }) {
  let lastUseTimes = new Map<string, number>();

  const recordUse = (keyId: string, at: number) => {
    if (lastUseTimes.size < keysMax || lastUseTimes.has(keyId))
      lastUseTimes.set(keyId, Math.max(at, lastUseTimes.get(keyId) ?? at));
  };

  const writePendingUses = async () => {
    if (lastUseTimes.size === 0) return;
    const batch = lastUseTimes;
    lastUseTimes = new Map();
    try {
      await database.query(
        `update api_keys set last_used_at = to_timestamp(used.at / 1000)
         from unnest($1::text[], $2::float8[]) as used (key_id, at)
         where api_keys.key_id = used.key_id
           and (last_used_at is null or last_used_at < to_timestamp(used.at / 1000))`,
        [[...batch.keys()], [...batch.values()]],
      );
    } catch (error) {
      log.warn({ err: error, keys: batch.size }, "could not store when keys were last used; retrying in a minute");
      for (const [keyId, at] of batch) recordUse(keyId, at);
    }
  };

  const schedule = { delayMs: WRITE_INTERVAL_MS, intervalMs: WRITE_INTERVAL_MS };
  const job = new PeriodicJob({ clock, ...schedule, run: writePendingUses });

  return {
    recordUse: (keyId: string) => recordUse(keyId, clock.now()),
    start: () => job.start(),
    /** Writes the pending uses. */
    async stop() {
      await job.stop();
      await writePendingUses();
    },
  };
}
