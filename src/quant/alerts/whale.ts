import { clamp } from "../../lib/numbers.ts";
import { assertNotNegative, assertPositive } from "../assert.ts";

/** Smaller amounts count as this amount, in USD. */
const AMOUNT_MIN = 0.01;
/** Larger amounts count as this amount, in USD. */
const AMOUNT_MAX = 1e8;
/** Upper bound of a bin divided by its lower bound. Amounts that differ by less than 2% can fall into the same bin. */
const BIN_RATIO = 1.02;
const BINS = Math.ceil(Math.log(AMOUNT_MAX / AMOUNT_MIN) / Math.log(BIN_RATIO)) + 1;

/** Histogram of a market's trade amounts in logarithmic bins. Its memory is constant: 1,164 counts. */
export class TradeSizeHistogram {
  readonly #bins = new Uint32Array(BINS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * @param usd  at least 0
   */
  add(usd: number): void {
    const bin = binOf(usd);
    this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
    this.#count += 1;
  }

  /**
   * Returns the percentage of the trades that are smaller than `usd`: 100 × (trades below its bin) / trades, in [0,
   * 100]; null without trades. Trades within 2% of `usd` may not count as smaller.
   */
  percentileOf(usd: number): number | null {
    const bin = binOf(usd);
    if (this.#count === 0) return null;
    let below = 0;
    for (let index = 0; index < bin; index++) below += this.#bins[index] ?? 0;
    return (100 * below) / this.#count;
  }
}

function binOf(usd: number): number {
  assertNotNegative(usd, "usd");
  const bounded = clamp(usd, AMOUNT_MIN, AMOUNT_MAX);
  return Math.floor(Math.log(bounded / AMOUNT_MIN) / Math.log(BIN_RATIO));
}

export interface WhaleLimits {
  /** Minimum amount for the percentile rule, USD. */
  readonly minUsd: number;
  /** The trade must be above this percentile of the market's trades, in (0, 100). */
  readonly percentile: number;
  /** Minimum share of the 24-hour volume, in (0, 1]. */
  readonly volumeShare: number;
  /** Minimum amount for the share rule, USD. */
  readonly shareMinUsd: number;
}

/**
 * Share of a trade in a 24-hour volume, in (0, 1]. A volume smaller than the trade, because it does not include the
 * trade yet, counts as equal to the trade.
 *
 * @param usd  above 0
 * @param volume24hUsd  at least 0; null if unknown
 * @returns  null if the volume is unknown
 * @example shareOfVolume(1_000, 4_000); // 0.25
 */
export function shareOfVolume(usd: number, volume24hUsd: number | null): number | null {
  assertPositive(usd, "usd");
  if (volume24hUsd === null) return null;
  assertNotNegative(volume24hUsd, "volume24hUsd");
  return usd / Math.max(volume24hUsd, usd);
}

export interface TimedAmount {
  /** Unix milliseconds. */
  readonly executedAt: number;
  readonly usd: number;
}

/**
 * Returns the run of consecutive trades within `windowMs` that has the largest total amount. If several runs have the
 * same total, returns the earliest. Empty without trades.
 *
 * @param trades  oldest first
 * @example
 * const trades = [{ executedAt: 0, usd: 5 }, { executedAt: 50, usd: 1 }, { executedAt: 90, usd: 5 }];
 * largestBurst(trades, 60); // the last two
 */
export function largestBurst<T extends TimedAmount>(trades: readonly T[], windowMs: number): readonly T[] {
  let best = { usd: Number.NEGATIVE_INFINITY, from: 0, to: 0 };
  let from = 0;
  let usd = 0;
  for (const [index, trade] of trades.entries()) {
    usd += trade.usd;
    while (trade.executedAt - (trades[from] ?? trade).executedAt > windowMs) {
      usd -= (trades[from] ?? trade).usd;
      from += 1;
    }
    if (usd > best.usd) best = { usd, from, to: index + 1 };
  }
  return trades.slice(best.from, best.to);
}

/**
 * Returns whether an amount is exceptionally large. Either of two rules is enough: at least `minUsd` and above
 * `percentile` of `limits`; or at least `shareMinUsd` and at least `volumeShare`. A rule whose figure is null does not
 * apply.
 *
 * @param usd  amount of a trade, or sum of one taker's trades, USD
 * @param percentile  percentage of the market's trades that are smaller, in [0, 100]; null if unknown
 * @param share  share of the 24-hour volume, in (0, 1]; null if unknown
 */
export function isWhale(usd: number, percentile: number | null, share: number | null, limits: WhaleLimits): boolean {
  const isOutlier = usd >= limits.minUsd && percentile !== null && percentile > limits.percentile;
  return isOutlier || (usd >= limits.shareMinUsd && share !== null && share >= limits.volumeShare);
}
