import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { parseKey } from "./key-format.ts";
import { findKeyOwner, type KeyOwner } from "./queries.ts";

/** How long an answer may be reused: a revoked key lives on for at most this long. */
const ENTRY_MS_MAX = 1_000;
const KEY_ENTRIES_MAX = 10_000;

export interface KeyDirectory {
  /**
   * Whom this key speaks for; null when it is malformed, unknown, revoked or of a canceled customer. Throws
   * `store_unavailable` rather than guess.
   */
  find(key: string): Promise<KeyOwner | null>;
}

interface Entry {
  readonly owner: Promise<KeyOwner | null>;
  readonly asOf: number;
}

/** Keys looked up by hash, each at most once a second; the least recently used are forgotten beyond the bound. */
export function createKeyDirectory(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly entriesMax?: number;
}): KeyDirectory {
  const { database, clock, entriesMax = KEY_ENTRIES_MAX } = options;
  /** By hash in hex, least recently used first; the keys themselves are not kept even here. */
  const entries = new Map<string, Entry>();

  const lookUp = async (hash: Uint8Array, name: string): Promise<KeyOwner | null> => {
    try {
      return await findKeyOwner(database, hash);
    } catch (error) {
      // A failure is no answer: the next call asks again.
      entries.delete(name);
      throw error;
    }
  };

  return {
    async find(key) {
      const parsed = parseKey(key);
      if (parsed === null) return null;
      const name = Buffer.from(parsed.hash).toString("hex");
      let entry = entries.get(name);
      entries.delete(name);
      if (entry === undefined || clock.monotonic() - entry.asOf >= ENTRY_MS_MAX) {
        entry = { owner: lookUp(parsed.hash, name), asOf: clock.monotonic() };
      }
      entries.set(name, entry);
      if (entries.size > entriesMax) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      const owner = await entry.owner;
      // The prefix names the plan for the reader's sake; one that contradicts the store is not a key of ours.
      return owner?.plan === parsed.plan ? owner : null;
    },
  };
}
