/** Counter-based random numbers. Each number is a hash of its keys, so that the world can be computed in any order. */

/** The 32-bit finaliser of MurmurHash3: each input bit flips about half of the output bits. */
function mixBits(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Appends a key: hashKeys(a, b, c, d) equals extendHash(hashKeys(a, b, c), d). So a common prefix is hashed once. */
export function extendHash(hash: number, key: number): number {
  const mixed = mixBits(hash ^ mixBits((key | 0) + 0x7f4a7c15));
  return key > 0xffffffff || key < 0 ? mixBits(mixed ^ Math.floor(key / 0x100000000)) : mixed;
}

/**
 * A 32-bit hash of three to six integer keys. Separate parameters avoid allocating an array: this function runs
 * millions of times per second.
 */
export function hashKeys(a: number, b: number, c: number, d?: number, e?: number, f?: number): number {
  let hash = extendHash(extendHash(extendHash(0x9e3779b9, a), b), c);
  if (d === undefined) return hash;
  hash = extendHash(hash, d);
  if (e === undefined) return hash;
  hash = extendHash(hash, e);
  return f === undefined ? hash : extendHash(hash, f);
}

/** Maps a hash to a uniform number in (0, 1), both ends excluded. */
export const uniformFromHash = (hash: number): number => (hash + 0.5) / 4294967296;

const QUANTILE_STEPS = 4_096;
/** Standard normal quantiles at multiples of 1 / QUANTILE_STEPS; the first and the last are infinite. */
const quantiles = Float64Array.from({ length: QUANTILE_STEPS + 1 }, (_, step) => normalQuantile(step / QUANTILE_STEPS));

/** Maps a hash to a standard normal number: linear interpolation in a table, exact in the first and the last step. */
export function gaussianFromHash(hash: number): number {
  const step = hash >>> 20;
  if (step === 0 || step === QUANTILE_STEPS - 1) return normalQuantile(uniformFromHash(hash));
  const low = quantiles[step] ?? 0;
  const high = quantiles[step + 1] ?? 0;
  return low + (high - low) * (((hash & 0xfffff) + 0.5) / 0x100000);
}

/** A uniform number in (0, 1), both ends excluded. */
export function uniform(a: number, b: number, c: number, d?: number, e?: number, f?: number): number {
  return uniformFromHash(hashKeys(a, b, c, d, e, f));
}

/**
 * Inverse of the standard normal distribution function; relative error below 1.2e-9.
 * @param p probability in (0, 1)
 * @see Acklam (2003), "An algorithm for computing the inverse normal cumulative distribution function"
 */
function normalQuantile(p: number): number {
  const tail = 0.02425;
  if (p < tail || p > 1 - tail) {
    const q = Math.sqrt(-2 * Math.log(p < tail ? p : 1 - p));
    const x =
      (((((-7.784894002430293e-3 * q - 3.223964580411365e-1) * q - 2.400758277161838) * q - 2.549732539343734) * q +
        4.374664141464968) *
        q +
        2.938163982698783) /
      ((((7.784695709041462e-3 * q + 3.224671290700398e-1) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1);
    return p < tail ? x : -x;
  }
  const q = p - 0.5;
  const r = q * q;
  return (
    ((((((-3.969683028665376e1 * r + 2.209460984245205e2) * r - 2.759285104469687e2) * r + 1.38357751867269e2) * r -
      3.066479806614716e1) *
      r +
      2.506628277459239) *
      q) /
    (((((-5.447609879822406e1 * r + 1.615858368580409e2) * r - 1.556989798598866e2) * r + 6.680131188771972e1) * r -
      1.328068155288572e1) *
      r +
      1)
  );
}

export const gaussian = (a: number, b: number, c: number, d?: number): number => gaussianFromHash(hashKeys(a, b, c, d));

/**
 * Standard normal distribution function; absolute error below 1.5e-7.
 * @see Abramowitz & Stegun 7.1.26
 */
export function normalCdf(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const erf =
    1 -
    ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-z * z);
  return x >= 0 ? (1 + erf) / 2 : (1 - erf) / 2;
}
