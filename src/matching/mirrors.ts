import { fnv1a } from "../lib/text-hash.ts";
import type { MatchableMarket } from "./model.ts";

/**
 * Hashes of slugs, which need less memory than the slugs of hundreds of thousands of markets; null without a slug. A
 * constructed collision gives a venue no more than it has: it can name any slug.
 */
export interface MirrorKeys {
  /** Hash of the slug by which other venues name this market; null for a copy, which no market copies. */
  readonly slugHash: number | null;
  /** Hash of the slug of the market that this one copies, according to its venue. */
  readonly mirroredHash: number | null;
}

interface MirrorMarket extends MirrorKeys {
  readonly venue: number;
}

/** Maximum number of copies of one market. A venue could name the same slug in all its listings. */
const COPIES_MAX = 16;

export function mirrorKeysOf({ slug = "", mirroredSlug = "" }: MatchableMarket): MirrorKeys {
  return {
    slugHash: slug === "" || mirroredSlug !== "" ? null : fnv1a(slug),
    mirroredHash: mirroredSlug === "" ? null : fnv1a(mirroredSlug),
  };
}

/** Finds the market of another venue that a market copies, and its copies. */
export class Mirrors<Market extends MirrorMarket> {
  readonly #bySlug = new Map<number, Market>();
  readonly #copies = new Map<number, Set<Market>>();

  add(market: Market): void {
    const { slugHash, mirroredHash } = market;
    if (slugHash !== null) this.#bySlug.set(slugHash, market);
    if (mirroredHash === null) return;
    const copies = this.#copies.get(mirroredHash) ?? new Set();
    if (copies.size < COPIES_MAX) this.#copies.set(mirroredHash, copies.add(market));
  }

  delete(market: Market): void {
    const { slugHash, mirroredHash } = market;
    if (slugHash !== null && this.#bySlug.get(slugHash) === market) this.#bySlug.delete(slugHash);
    if (mirroredHash === null) return;
    const copies = this.#copies.get(mirroredHash);
    copies?.delete(market);
    if (copies?.size === 0) this.#copies.delete(mirroredHash);
  }

  /** Returns the markets of other venues that this market copies or that copy it. */
  of({ venue, slugHash, mirroredHash }: Market): readonly Market[] {
    const original = mirroredHash === null ? undefined : this.#bySlug.get(mirroredHash);
    const copies = slugHash === null ? [] : [...(this.#copies.get(slugHash) ?? [])];
    return [...(original === undefined ? [] : [original]), ...copies].filter((other) => other.venue !== venue);
  }
}

/** Whether one of two markets copies the other one. */
export const areMirrors = (a: MirrorKeys, b: MirrorKeys): boolean =>
  (a.mirroredHash !== null && a.mirroredHash === b.slugHash) ||
  (b.mirroredHash !== null && b.mirroredHash === a.slugHash);
