import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { keyName, type ParsedKey, parseKey } from "./key-format.ts";
import { findKeyOwner, type KeyOwner } from "./queries.ts";

/** Told on the bus when some key opens something else than before: no node believes what it remembers. */
export const KEYS_TOPIC = "keys";
/** How long an answer may be reused: a revoked key lives on for at most this long. */
const ENTRY_MS_MAX = 1_000;
/** From this age on an answer is asked for anew while it still serves: no request of a busy key waits for the store. */
const REFRESH_FROM_MS = 500;
const KEY_ENTRIES_MAX = 10_000;

export interface KeyDirectory {
  /**
   * Whom this key speaks for; null when it is malformed, unknown, revoked or of a canceled customer. Throws
   * `store_unavailable` rather than guess. Answers at once, without a promise, where the key was asked for just now.
   *
   * @param assertMayLookUp  called before the store is asked for a key that was not good when it last was; may throw
   */
  find(key: string, assertMayLookUp?: () => void): Promise<KeyOwner | null> | KeyOwner | null;
  /** Some key has changed: whatever is remembered is asked for anew. */
  forget(): void;
}

interface Answer {
  /** When the store was asked: the answer is true for that instant or a later one. */
  readonly asOf: number;
  /** The answer, or where it is still on its way the promise of it. */
  owner: Promise<KeyOwner | null> | KeyOwner | null;
  /** The store did not answer. That is no answer to tell, and is kept only to not ask again at every request. */
  hasFailed: boolean;
}

interface Entry {
  answer: Answer;
  /** The answer that is to follow. */
  next: Answer | null;
}

/**
 * Keys looked up by hash, each at most twice a second; the least recently used are forgotten beyond the bound.
 *
 * Within `ENTRY_MS_MAX` of a key's first use its text itself leads to its entry, because hashing it at every request costs
 * more than all else that is done with it. Then all texts are forgotten together: what stays in memory is their hashes.
 */
export function createKeyDirectory(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly entriesMax?: number;
  /** Told about once a second of each key that is in use. */
  readonly onUsed?: (keyId: string) => void;
}): KeyDirectory {
  const { database, clock, entriesMax = KEY_ENTRIES_MAX, onUsed } = options;
  /** By hash in hex, least recently used first. */
  const entries = new Map<string, Entry>();
  /** Names of keys that were good when the store was last asked: who shows one of them is no guesser. */
  const proven = new Set<string>();
  /** The same entries by the key's text, for a second at most. */
  const texts = new Map<string, Entry>();

  const remember = (key: string, entry: Entry) => {
    if (texts.size >= entriesMax) return;
    if (texts.size === 0) clock.setTimeout(() => texts.clear(), ENTRY_MS_MAX);
    texts.set(key, entry);
  };

  const ask = (parsed: ParsedKey): Answer => {
    const owner = findKeyOwner(database, parsed);
    const answer: Answer = { owner, asOf: clock.monotonic(), hasFailed: false };
    owner.then(
      (found) => {
        answer.owner = found;
        const name = Buffer.from(parsed.hash).toString("hex");
        proven.delete(name);
        if (found === null) return;
        proven.add(name);
        if (proven.size > entriesMax) proven.delete(proven.keys().next().value ?? "");
        onUsed?.(found.keyId);
      },
      () => {
        answer.hasFailed = true;
      },
    );
    return answer;
  };

  /** The entry's owner where one may still be told, asking for the next in time; undefined where nothing may be. */
  const recall = (key: string, entry: Entry): Answer["owner"] | undefined => {
    const { next } = entry;
    const now = clock.monotonic();
    const mayBeTold = ({ asOf, hasFailed }: Answer) => !hasFailed && now - asOf < ENTRY_MS_MAX;
    const hasCome = next !== null && !(next.owner instanceof Promise);
    if (next !== null && (hasCome || (!mayBeTold(entry.answer) && mayBeTold(next)))) {
      entry.answer = next;
      entry.next = null;
    }
    if (!mayBeTold(entry.answer)) return undefined;
    if (entry.next === null && now - entry.answer.asOf >= REFRESH_FROM_MS) {
      const parsed = parseKey(key);
      if (parsed !== null) entry.next = ask(parsed);
    }
    return entry.answer.owner;
  };

  return {
    find(key, assertMayLookUp) {
      const recent = texts.get(key);
      if (recent !== undefined) {
        const owner = recall(key, recent);
        if (owner !== undefined) return owner;
        texts.delete(key);
      }
      const name = keyName(key);
      if (name === null) return null;
      const known = entries.get(name);
      entries.delete(name);
      if (known !== undefined) {
        const owner = recall(key, known);
        if (owner !== undefined) {
          entries.set(name, known);
          remember(key, known);
          return owner;
        }
      }
      const parsed = parseKey(key);
      if (parsed === null) return null;
      if (!proven.has(name)) assertMayLookUp?.();
      const answer = ask(parsed);
      const entry: Entry = { answer, next: null };
      entries.set(name, entry);
      if (entries.size > entriesMax) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
        // Whose text led to the forgotten entry is not known.
        texts.clear();
      }
      remember(key, entry);
      return answer.owner;
    },
    forget() {
      // What is on its way may have been read before the change: it serves who waits for it already, and nobody after.
      entries.clear();
      texts.clear();
    },
  };
}
