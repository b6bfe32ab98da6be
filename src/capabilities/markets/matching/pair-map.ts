import { isDeepStrictEqual } from "node:util";
import type { MarketPair } from "../../../matching/index.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Number of pairs that `removeOutdated` checks before it yields to the event loop. */
const YIELD_EVERY_PAIRS = 1_000;

/** Two markets or two events. */
interface Ends {
  readonly a: string;
  readonly b: string;
}

/** Changes of the pairs. A changed pair is in `removed` with its old values and in `added` with its new values. */
export interface PairChanges {
  readonly added: readonly MarketPair[];
  readonly removed: readonly MarketPair[];
}

/** The current pairs of markets by `venue/marketId`, or of events by slug. */
export class PairMap<Pair extends Ends> {
  readonly #entries = new Map<string, { readonly pair: Pair; readonly generation: number }>();
  readonly #byEnd = new Map<string, Pair[]>();
  #generation = 0;

  get size(): number {
    return this.#entries.size;
  }

  *values(): Generator<Pair> {
    for (const { pair } of this.#entries.values()) yield pair;
  }

  of(end: string): readonly Pair[] {
    return this.#byEnd.get(end) ?? [];
  }

  /** Marks all pairs as outdated. `apply` makes a pair that it contains current again. */
  startGeneration(): void {
    this.#generation += 1;
  }

  /** Applies the changes that the index reports. Returns the actual changes. */
  apply(added: readonly Pair[], removed: readonly Ends[]): { added: Pair[]; removed: Pair[] } {
    const addedKeys = new Set(added.map(keyOf));
    // A changed pair is in both lists and replaced in place.
    const removedPairs = removed.flatMap((ends) => (addedKeys.has(keyOf(ends)) ? [] : this.#remove(keyOf(ends))));
    const addedPairs: Pair[] = [];
    for (const pair of added) {
      const key = keyOf(pair);
      const current = this.#entries.get(key)?.pair;
      if (current !== undefined && isDeepStrictEqual(current, pair)) {
        this.#entries.set(key, { pair: current, generation: this.#generation });
        continue;
      }
      removedPairs.push(...this.#remove(key));
      this.#entries.set(key, { pair, generation: this.#generation });
      for (const end of [pair.a, pair.b]) this.#byEnd.set(end, [...this.of(end), pair]);
      addedPairs.push(pair);
    }
    return { added: addedPairs, removed: removedPairs };
  }

  /** Removes the outdated pairs, in slices. Calls `onRemoved` with the removed pairs of each slice. */
  async removeOutdated(clock: Pick<Clock, "yieldToEventLoop">, onRemoved: (pairs: Pair[]) => void): Promise<void> {
    let slice: Pair[] = [];
    let count = 0;
    for (const [key, { generation }] of this.#entries) {
      if (generation < this.#generation) slice.push(...this.#remove(key));
      count += 1;
      if (count % YIELD_EVERY_PAIRS > 0) continue;
      onRemoved(slice);
      slice = [];
      await clock.yieldToEventLoop();
    }
    onRemoved(slice);
  }

  #remove(key: string): Pair[] {
    const pair = this.#entries.get(key)?.pair;
    if (pair === undefined) return [];
    this.#entries.delete(key);
    for (const end of [pair.a, pair.b]) {
      const others = this.of(end).filter((other) => other !== pair);
      if (others.length === 0) this.#byEnd.delete(end);
      else this.#byEnd.set(end, others);
    }
    return [pair];
  }
}

const keyOf = ({ a, b }: Ends): string => `${a}\n${b}`;
