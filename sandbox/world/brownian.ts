import { gaussianOf, hashOn } from "./random.ts";

/**
 * Brownian motions over v in [0, 1] by midpoint displacement: each a function of its key, refined to 2^-depth and straight
 * between.
 *
 * All are looked at in the same place, which is remembered with the halvings that led there: an instant close to the one
 * before shares most of them, and each costs two hashes a motion.
 */
export class BrownianPaths {
  readonly #keys: readonly number[];
  readonly #levels: number;
  /** By level, what the place was narrowed to: its ends, and its number among the stretches of that level. */
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  readonly #index: Float64Array;
  /** By motion and level, the values at those ends. */
  readonly #atLow: Float64Array;
  readonly #atHigh: Float64Array;
  /** Levels that are filled in. */
  #depth = 0;
  #at = { v: 0, level: 0 };

  /** @param keys hashes, one a motion  @param depthMax halvings at most */
  constructor(keys: readonly number[], depthMax: number) {
    this.#keys = keys;
    this.#levels = depthMax + 1;
    this.#low = new Float64Array(this.#levels);
    this.#high = new Float64Array(this.#levels);
    this.#index = new Float64Array(this.#levels);
    this.#atLow = new Float64Array(this.#levels * keys.length);
    this.#atHigh = new Float64Array(this.#levels * keys.length);
    this.#high[0] = 1;
    keys.forEach((key, path) => {
      this.#atHigh[path * this.#levels] = gaussianOf(hashOn(hashOn(key, 0), 0));
    });
  }

  /** @param depth halvings that are followed, up to the largest one; fewer are cheaper and rougher */
  moveTo(v: number, depth: number): this {
    let level = Math.min(depth, this.#depth);
    while (level > 0 && !(v >= (this.#low[level] ?? 0) && v < (this.#high[level] ?? 0))) level -= 1;
    if (v > 0 && v < 1 && level < depth) {
      while (level < depth) this.#halve(v, ++level);
      this.#depth = depth;
    }
    this.#at = { v, level };
    return this;
  }

  /** Of the motion with this number at the place moved to last. */
  value(path: number): number {
    const { v, level } = this.#at;
    if (v <= 0) return 0;
    if (v >= 1) return this.#atHigh[path * this.#levels] ?? 0;
    const low = this.#low[level] ?? 0;
    const high = this.#high[level] ?? 1;
    const atLow = this.#atLow[path * this.#levels + level] ?? 0;
    const atHigh = this.#atHigh[path * this.#levels + level] ?? 0;
    return atLow + ((atHigh - atLow) * (v - low)) / (high - low);
  }

  /** Fills in a level from the one above it. */
  #halve(v: number, level: number): void {
    const low = this.#low[level - 1] ?? 0;
    const high = this.#high[level - 1] ?? 1;
    const index = this.#index[level - 1] ?? 0;
    const middle = (low + high) / 2;
    const spread = Math.sqrt(high - low) / 2;
    const isBelow = v < middle;
    this.#low[level] = isBelow ? low : middle;
    this.#high[level] = isBelow ? middle : high;
    this.#index[level] = isBelow ? index * 2 : index * 2 + 1;
    for (let path = 0; path < this.#keys.length; path++) {
      const place = path * this.#levels + level;
      const atLow = this.#atLow[place - 1] ?? 0;
      const atHigh = this.#atHigh[place - 1] ?? 0;
      const key = hashOn(this.#keys[path] ?? 0, level);
      const atMiddle = (atLow + atHigh) / 2 + spread * gaussianOf(hashOn(key, index));
      this.#atLow[place] = isBelow ? atLow : atMiddle;
      this.#atHigh[place] = isBelow ? atMiddle : atHigh;
    }
  }
}
