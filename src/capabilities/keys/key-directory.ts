import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { hashOfKey, type ParsedKey, parseKey } from "./key-format.ts";
import { findKeyOwner, type KeyOwner } from "./queries.ts";

/** Bus topic for key changes; on a message, every node clears its cache. */
export const KEYS_TOPIC = "keys";
/** Maximum age of a cached result, which is also the longest time a revoked key can remain valid. */
const ENTRY_MS_MAX = 1_000;
/** Age at which a result is refreshed in the background, so that requests with a busy key never wait for the database. */
const REFRESH_FROM_MS = 500;
const KEY_ENTRIES_MAX = 10_000;

export interface KeyDirectory {
  /**
   * Returns the owner of a key, or null if the key is malformed, unknown or revoked or the customer is canceled.
   * Returns cached results synchronously. Throws `store_unavailable` if the database cannot be queried.
   *
   * @param assertMayLookUp  called before the database is queried for a key that was not valid at its last look-up; may
   *   throw
   */
  find(key: string, assertMayLookUp?: () => void): Promise<KeyOwner | null> | KeyOwner | null;
  /** Clears the cache after a change of any key. */
  clear(): void;
}

interface Lookup {
  /** When the query was sent, in monotonic milliseconds; the result is at least as recent. */
  readonly asOf: number;
  /** The result, or its promise while the query is pending. */
  owner: Promise<KeyOwner | null> | KeyOwner | null;
  /** Whether the query failed. A failed refresh is stored so that not every request repeats it. */
  hasFailed: boolean;
}

interface Entry {
  current: Lookup;
  /** The background refresh, if one has been started. */
  next: Lookup | null;
}

/**
 * A cache of key look-ups by hash, with at most two queries per key and second and LRU eviction.
 *
 * Hashing dominates the cost of a cached look-up, so entries are also indexed by the text of the key. All texts are
 * cleared together at most `ENTRY_MS_MAX` after the first one is added; only hashes stay in memory longer.
 */
export function createKeyDirectory(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly entriesMax?: number;
  /** Called about once a second for each key in use. */
  readonly onUsed?: (keyId: string) => void;
}): KeyDirectory {
  const { database, clock, entriesMax = KEY_ENTRIES_MAX, onUsed } = options;
  /** Entries by key hash in hex, least recently used first. */
  const entries = new Map<string, Entry>();
  /** Hashes of keys that were valid at their last look-up; `assertMayLookUp` is not called for them. */
  const validHashes = new Set<string>();
  /** The entries of `entries`, by the text of the key. */
  const entriesByText = new Map<string, Entry>();

  const indexText = (key: string, entry: Entry) => {
    if (entriesByText.size >= entriesMax) return;
    if (entriesByText.size === 0) clock.setTimeout(() => entriesByText.clear(), ENTRY_MS_MAX);
    entriesByText.set(key, entry);
  };

  const lookUp = (parsed: ParsedKey): Lookup => {
    const owner = findKeyOwner(database, parsed);
    const lookup: Lookup = { owner, asOf: clock.monotonic(), hasFailed: false };
    owner.then(
      (foundOwner) => {
        lookup.owner = foundOwner;
        const keyHash = Buffer.from(parsed.hash).toString("hex");
        validHashes.delete(keyHash);
        if (foundOwner === null) return;
        validHashes.add(keyHash);
        if (validHashes.size > entriesMax) validHashes.delete(validHashes.keys().next().value ?? "");
        onUsed?.(foundOwner.keyId);
      },
      () => {
        lookup.hasFailed = true;
      },
    );
    return lookup;
  };

  /** Returns the cached owner, or undefined if it is too old. Starts a refresh after `REFRESH_FROM_MS`. */
  const readCached = (key: string, entry: Entry): Lookup["owner"] | undefined => {
    const { next: nextLookup } = entry;
    const now = clock.monotonic();
    const isUsable = ({ asOf, hasFailed }: Lookup) => !hasFailed && now - asOf < ENTRY_MS_MAX;
    const hasArrived = nextLookup !== null && !(nextLookup.owner instanceof Promise);
    if (nextLookup !== null && (hasArrived || (!isUsable(entry.current) && isUsable(nextLookup)))) {
      entry.current = nextLookup;
      entry.next = null;
    }
    if (!isUsable(entry.current)) return undefined;
    if (entry.next === null && now - entry.current.asOf >= REFRESH_FROM_MS) {
      const parsed = parseKey(key);
      if (parsed !== null) entry.next = lookUp(parsed);
    }
    return entry.current.owner;
  };

  return {
    find(key, assertMayLookUp) {
      const recentEntry = entriesByText.get(key);
      if (recentEntry !== undefined) {
        const owner = readCached(key, recentEntry);
        if (owner !== undefined) return owner;
        entriesByText.delete(key);
      }
      const keyHash = hashOfKey(key);
      if (keyHash === null) return null;
      const cachedEntry = entries.get(keyHash);
      entries.delete(keyHash);
      if (cachedEntry !== undefined) {
        const owner = readCached(key, cachedEntry);
        if (owner !== undefined) {
          entries.set(keyHash, cachedEntry);
          indexText(key, cachedEntry);
          return owner;
        }
      }
      const parsed = parseKey(key);
      if (parsed === null) return null;
      if (!validHashes.has(keyHash)) assertMayLookUp?.();
      const current = lookUp(parsed);
      const entry: Entry = { current, next: null };
      entries.set(keyHash, entry);
      if (entries.size > entriesMax) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
        // The text of the evicted entry is unknown.
        entriesByText.clear();
      }
      indexText(key, entry);
      return current.owner;
    },
    clear() {
      // Pending queries may have read the old state, so only the callers that already wait for them receive their
      // results.
      entries.clear();
      entriesByText.clear();
    },
  };
}
