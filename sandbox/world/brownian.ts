import { extendHash, gaussianFromHash } from "./random.ts";

/**
 * Standard Brownian paths over v in [0, 1]. They are constructed by midpoint displacement down to steps of 2^-depth and
 * are linear within a step. Each path is a function of its key.
 *
 * All paths are evaluated at the same position. The intervals of the bisection that leads to the position are cached,
 * because a nearby position shares most of them. Each level that is not cached costs two hashes per path.
 */
export class BrownianPaths {
  readonly #keys: readonly number[];
  readonly #levels: number;
  /** By level: start, end and index of the interval that contains the position. */
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  readonly #index: Float64Array;
  /** By path and level: the values of the path at the start and the end of that interval. */
  readonly #valueAtLow: Float64Array;
  readonly #valueAtHigh: Float64Array;
  /** The deepest level with cached values. */
  #depth = 0;
  #position = { v: 0, level: 0 };

  /** @param keys one hash per path  @param depthMax maximum number of bisections */
  constructor(keys: readonly number[], depthMax: number) {
    this.#keys = keys;
    this.#levels = depthMax + 1;
    this.#low = new Float64Array(this.#levels);
    this.#high = new Float64Array(this.#levels);
    this.#index = new Float64Array(this.#levels);
    this.#valueAtLow = new Float64Array(this.#levels * keys.length);
    this.#valueAtHigh = new Float64Array(this.#levels * keys.length);
    this.#high[0] = 1;
    keys.forEach((key, path) => {
      this.#valueAtHigh[path * this.#levels] = gaussianFromHash(extendHash(extendHash(key, 0), 0));
    });
  }

  /** @param depth number of bisections, at most `depthMax`; a smaller number is faster and less accurate */
  moveTo(v: number, depth: number): this {
    let level = Math.min(depth, this.#depth);
    while (level > 0 && !(v >= (this.#low[level] ?? 0) && v < (this.#high[level] ?? 0))) level -= 1;
    if (v > 0 && v < 1 && level < depth) {
      while (level < depth) this.#bisect(v, ++level);
      this.#depth = depth;
    }
    this.#position = { v, level };
    return this;
  }

  value(path: number): number {
    const { v, level } = this.#position;
    if (v <= 0) return 0;
    if (v >= 1) return this.#valueAtHigh[path * this.#levels] ?? 0;
    const low = this.#low[level] ?? 0;
    const high = this.#high[level] ?? 1;
    const valueAtLow = this.#valueAtLow[path * this.#levels + level] ?? 0;
    const valueAtHigh = this.#valueAtHigh[path * this.#levels + level] ?? 0;
    return valueAtLow + ((valueAtHigh - valueAtLow) * (v - low)) / (high - low);
  }

  /** Computes the interval of a level from the interval of the previous level. */
  #bisect(v: number, level: number): void {
    const low = this.#low[level - 1] ?? 0;
    const high = this.#high[level - 1] ?? 1;
    const index = this.#index[level - 1] ?? 0;
    const middle = (low + high) / 2;
    const deviation = Math.sqrt(high - low) / 2;
    const isBelow = v < middle;
    this.#low[level] = isBelow ? low : middle;
    this.#high[level] = isBelow ? middle : high;
    this.#index[level] = isBelow ? index * 2 : index * 2 + 1;
    for (let path = 0; path < this.#keys.length; path++) {
      const offset = path * this.#levels + level;
      const valueAtLow = this.#valueAtLow[offset - 1] ?? 0;
      const valueAtHigh = this.#valueAtHigh[offset - 1] ?? 0;
      const key = extendHash(this.#keys[path] ?? 0, level);
      const valueAtMiddle = (valueAtLow + valueAtHigh) / 2 + deviation * gaussianFromHash(extendHash(key, index));
      this.#valueAtLow[offset] = isBelow ? valueAtLow : valueAtMiddle;
      this.#valueAtHigh[offset] = isBelow ? valueAtMiddle : valueAtHigh;
    }
  }
}
