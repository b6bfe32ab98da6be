import { rateLimitPrefix } from "../../../lib/ip-prefix.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { hashOfKey, planOfKey } from "./key-format.ts";
import { createLookUpQueue } from "./look-up-queue.ts";
import { findKeyOwners, type KeyDigest, type KeyOwner } from "./queries.ts";

/** Bus topic for key changes; on a message, every node clears its cache. */
export const KEYS_TOPIC = "keys";
/** Maximum age of a cached result, which is also the longest time a revoked key can remain valid. */
const ENTRY_MS_MAX = 1_000;
/** Age at which a result is refreshed in the background, so that requests with a busy key never wait for the database. */
const REFRESH_FROM_MS = 500;
const KEY_ENTRIES_MAX = 10_000;

export type KeyDirectory = ReturnType<typeof createKeyDirectory>;

interface Lookup {
  /** When the look-up was requested, in monotonic milliseconds; the result is at least as recent. */
  readonly asOf: number;
  /** The result, or its promise while the look-up is pending. */
  owner: Promise<KeyOwner | null> | KeyOwner | null;
  /** Whether the look-up failed. A failed refresh is stored so that not every request repeats it. */
  hasFailed: boolean;
}

/** A key that was valid at its first look-up. */
interface Entry {
  current: Lookup;
  /** The background refresh, if one has been started. */
  next: Lookup | null;
}

/**
 * Caches key look-ups by hash, with at most two look-ups per key and second. Keys that were never valid have a cache of
 * their own, so that a flood of them evicts no valid key.
 *
 * Hashing dominates the cost of a cached look-up, so entries are also indexed by the text of the key. All texts are
 * cleared together at most `ENTRY_MS_MAX` after the first one is added; only hashes stay in memory longer.
 */
export function createKeyDirectory({
  database,
  clock,
  entriesMax = KEY_ENTRIES_MAX,
  onUsed,
}: Pick<AreaPorts, "database" | "clock"> & {
  readonly entriesMax?: number;
  /** Called about once a second for each key in use. */
  readonly onUsed?: (keyId: string) => void;
}) {
  const lookUps = createLookUpQueue(clock, (keys: readonly KeyDigest[]) => findKeyOwners(database, keys));
  /** Entries by key hash in hex, least recently used first. */
  const entries = new Map<string, Entry>();
  /** The same entries by key text. */
  const entriesByText = new Map<string, Entry>();
  /** Pending look-ups of keys without an entry, by hash. The queue bounds their number. */
  const pendingLookups = new Map<string, Lookup>();
  /** The look-ups of unknown keys by hash, oldest first. */
  const unknownKeys = new Map<string, Lookup>();

  const isUsable = ({ asOf, hasFailed }: Lookup) => !hasFailed && clock.monotonic() - asOf < ENTRY_MS_MAX;

  const indexText = (key: string, entry: Entry) => {
    if (entriesByText.size >= entriesMax) return;
    if (entriesByText.size === 0) clock.setTimeout(() => entriesByText.clear(), ENTRY_MS_MAX);
    entriesByText.set(key, entry);
  };

  const startLookup = (key: KeyDigest, lane: string | null): Lookup => {
    const owner = lookUps.find(key, lane);
    const lookup: Lookup = { owner, asOf: clock.monotonic(), hasFailed: false };
    owner.then(
      (foundOwner) => {
        lookup.owner = foundOwner;
        if (foundOwner !== null) onUsed?.(foundOwner.keyId);
      },
      () => {
        lookup.hasFailed = true;
      },
    );
    return lookup;
  };

  /** Caches the result of a key's first look-up. */
  const cache = (hash: string, lookup: Lookup) => {
    if (lookup.owner !== null) {
      entries.set(hash, { current: lookup, next: null });
      if (entries.size <= entriesMax) return;
      entries.delete(entries.keys().next().value ?? "");
      // The text of the evicted entry is unknown.
      entriesByText.clear();
    } else {
      unknownKeys.delete(hash);
      unknownKeys.set(hash, lookup);
      if (unknownKeys.size > entriesMax) unknownKeys.delete(unknownKeys.keys().next().value ?? "");
    }
  };

  const lookUpFirst = (key: KeyDigest, lane: string | null): Lookup => {
    const lookup = startLookup(key, lane);
    pendingLookups.set(key.hash, lookup);
    const end = () => {
      // If `clear` has run since, the result may be outdated.
      if (pendingLookups.get(key.hash) !== lookup) return;
      pendingLookups.delete(key.hash);
      if (!lookup.hasFailed) cache(key.hash, lookup);
    };
    (lookup.owner as Promise<unknown>).then(end, end);
    return lookup;
  };

  /** Returns the cached owner, or undefined if it is too old. Starts a refresh after `REFRESH_FROM_MS`. */
  const readCached = (key: string, entry: Entry): Lookup["owner"] | undefined => {
    const { next: nextLookup } = entry;
    const hasArrived = nextLookup !== null && !(nextLookup.owner instanceof Promise);
    if (nextLookup !== null && (hasArrived || (!isUsable(entry.current) && isUsable(nextLookup)))) {
      entry.current = nextLookup;
      entry.next = null;
    }
    if (!isUsable(entry.current)) return undefined;
    if (entry.next === null && clock.monotonic() - entry.current.asOf >= REFRESH_FROM_MS) {
      const digest = createDigest(key, hashOfKey(key));
      if (digest !== null) entry.next = startLookup(digest, null);
    }
    return entry.current.owner;
  };

  return {
    /**
     * Returns the owner of a key, or null if the key is malformed, unknown or revoked or the customer is canceled.
     * Returns cached results synchronously. Throws `store_unavailable` if the database cannot be queried.
     *
     * @param caller  its IP address selects the queue lane of the look-up; null gives priority to an already
     *   authenticated caller
     */
    find(key: string, caller: { readonly ip: string } | null): Promise<KeyOwner | null> | KeyOwner | null {
      const recentEntry = entriesByText.get(key);
      if (recentEntry !== undefined) {
        const owner = readCached(key, recentEntry);
        if (owner !== undefined) return owner;
        entriesByText.delete(key);
      }
      const hash = hashOfKey(key);
      if (hash === null) return null;
      const entry = entries.get(hash);
      if (entry !== undefined) {
        let owner = readCached(key, entry);
        if (owner === undefined) {
          const digest = createDigest(key, hash);
          if (digest === null) return null;
          entry.current = startLookup(digest, null);
          entry.next = null;
          owner = entry.current.owner;
        }
        entries.delete(hash);
        entries.set(hash, entry);
        indexText(key, entry);
        return owner;
      }
      const lookup = pendingLookups.get(hash) ?? unknownKeys.get(hash);
      if (lookup !== undefined && isUsable(lookup)) return lookup.owner;
      const digest = createDigest(key, hash);
      return digest === null ? null : lookUpFirst(digest, caller && rateLimitPrefix(caller.ip)).owner;
    },
    /** Clears the cache after a change of any key. */
    clear(): void {
      // Results of pending queries may be outdated, so only callers that already wait for them receive them.
      entries.clear();
      entriesByText.clear();
      pendingLookups.clear();
      unknownKeys.clear();
    },
  };
}

/** Returns null if the format or checksum of the key is wrong. */
function createDigest(key: string, hash: string | null): KeyDigest | null {
  const plan = planOfKey(key);
  return plan === null || hash === null ? null : { hash, plan };
}
