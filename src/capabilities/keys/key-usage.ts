import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";

const WRITE_EVERY_MS = 60_000;
/** Maximum number of keys per write; the use of further keys is dropped until the next interval. */
const KEYS_MAX = 10_000;

/**
 * Records when keys were last used, to the minute, without delaying requests: writes all uses of a minute in one statement.
 * Failed writes are retried in the next minute.
 */
export function createKeyUsage(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keysMax?: number;
}) {
  const { database, clock, log, keysMax = KEYS_MAX } = options;
  let usedAt = new Map<string, number>();
  let cancel = () => {};
  let writing: Promise<void> = Promise.resolve();

  const recordUse = (keyId: string, at: number) => {
    if (usedAt.size < keysMax || usedAt.has(keyId)) usedAt.set(keyId, Math.max(at, usedAt.get(keyId) ?? at));
  };

  const write = async () => {
    if (usedAt.size === 0) return;
    const batch = usedAt;
    usedAt = new Map();
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

  const schedule = () => {
    cancel = clock.setTimeout(() => {
      writing = write().then(schedule);
    }, WRITE_EVERY_MS);
  };

  return {
    recordUse: (keyId: string) => recordUse(keyId, clock.now()),
    start: schedule,
    /** Writes the pending uses. */
    async stop() {
      cancel();
      await writing;
      cancel();
      await write();
    },
  };
}
