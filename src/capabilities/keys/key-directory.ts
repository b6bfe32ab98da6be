import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { keyName, type ParsedKey, parseKey } from "./key-format.ts";
import { findKeyOwner, type KeyOwner } from "./queries.ts";

/** How long an answer may be reused: a revoked key lives on for at most this long. */
const ENTRY_MS_MAX = 1_000;
const KEY_ENTRIES_MAX = 10_000;

export interface KeyDirectory {
  /**
   * Whom this key speaks for; null when it is malformed, unknown, revoked or of a canceled customer. Throws
   * `store_unavailable` rather than guess. Answers at once, without a promise, where the key was asked for just now.
   */
  find(key: string): Promise<KeyOwner | null> | KeyOwner | null;
}

interface Entry {
  readonly asOf: number;
  /** The answer, or where it is still on its way the promise of it. */
  owner: Promise<KeyOwner | null> | KeyOwner | null;
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

  const lookUp = async (name: string, parsed: ParsedKey): Promise<KeyOwner | null> => {
    try {
      const owner = await findKeyOwner(database, parsed.hash);
      // The prefix names the plan for the reader's sake; one that contradicts the store is not a key of ours.
      return owner?.plan === parsed.plan ? owner : null;
    } catch (error) {
      // A failure is no answer: the next call asks again.
      entries.delete(name);
      throw error;
    }
  };

  return {
    find(key) {
      const name = keyName(key);
      if (name === null) return null;
      const known = entries.get(name);
      entries.delete(name);
      if (known !== undefined && clock.monotonic() - known.asOf < ENTRY_MS_MAX) {
        entries.set(name, known);
        return known.owner;
      }
      const parsed = parseKey(key);
      if (parsed === null) return null;
      const owner = lookUp(name, parsed);
      const entry: Entry = { owner, asOf: clock.monotonic() };
      entries.set(name, entry);
      owner.then(
        (found) => {
          entry.owner = found;
        },
        () => {},
      );
      if (entries.size > entriesMax) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      return owner;
    },
  };
}
