import { complement, fromMicros, type Side, toMicros } from "./price.ts";

/** YES prices from `from` to `to`, both inclusive, in steps of `step` that start at `from`. */
export interface PriceRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

const ONE = 1_000_000;
/** A floating-point error of a price is smaller than this, in micros. */
const MICRO_TOLERANCE = 1e-3;
/** Tolerance for a floating-point error below a multiple of the contract step, in steps. */
const CONTRACT_TOLERANCE = 1e-6;

/**
 * Returns the ranges of a price grid with a single step.
 *
 * @param step  in price units, at least 1e-6 and below 1
 * @returns  null for any other step
 * @example uniformGrid(0.01); // [{ from: 0, to: 1, step: 0.01 }]
 */
export function uniformGrid(step: number | null): readonly PriceRange[] | null {
  return step !== null && toMicros(step) >= 1 && step < 1 ? [{ from: 0, to: 1, step }] : null;
}

/** Whether each range has a positive step and size, lies in [0, 1], and does not overlap the previous range. */
export function isPriceGrid(ranges: readonly PriceRange[]): boolean {
  let end = 0;
  for (const { from, to, step } of ranges) {
    if (!(from >= end && to > from && to <= 1 && toMicros(step) >= 1)) return false;
    end = to;
  }
  return ranges.length > 0;
}

/**
 * Returns the step of the range that contains a price. A price at the border of two ranges belongs to the higher range.
 *
 * @param price  in [0, 1]; null if it is unknown
 * @returns  null outside all ranges, without ranges, and for an unknown price unless all ranges have the same step
 * @example stepAt([{ from: 0, to: 0.1, step: 0.001 }, { from: 0.1, to: 1, step: 0.01 }], 0.1); // 0.01
 */
export function stepAt(ranges: readonly PriceRange[] | null, price: number | null): number | null {
  if (ranges === null) return null;
  if (price === null) {
    const step = ranges[0]?.step ?? null;
    return ranges.every((range) => range.step === step) ? step : null;
  }
  const micros = toMicros(price);
  const range = ranges.findLast(({ from, to }) => micros >= toMicros(from) && micros <= toMicros(to));
  return range?.step ?? null;
}

/**
 * Returns the highest price of a grid that is at most `price`.
 *
 * @returns  in (0, 1); null if there is none
 * @example floorToGrid([{ from: 0, to: 1, step: 0.01 }], 0.325); // 0.32
 */
export function floorToGrid(ranges: readonly PriceRange[], price: number): number | null {
  const target = Math.min(ONE - 1, Math.floor(price * ONE + MICRO_TOLERANCE));
  for (const range of ranges.toReversed()) {
    const [from, to, step] = [toMicros(range.from), toMicros(range.to), toMicros(range.step)];
    if (target < from) continue;
    const micros = from + Math.floor((Math.min(target, to) - from) / step) * step;
    if (micros > 0) return fromMicros(micros);
  }
  return null;
}

/**
 * Returns the lowest price of a grid that is at least `price`.
 *
 * @returns  in (0, 1); null if there is none
 * @example ceilToGrid([{ from: 0, to: 1, step: 0.01 }], 0.325); // 0.33
 */
export function ceilToGrid(ranges: readonly PriceRange[], price: number): number | null {
  const target = Math.max(1, Math.ceil(price * ONE - MICRO_TOLERANCE));
  for (const range of ranges) {
    const [from, to, step] = [toMicros(range.from), toMicros(range.to), toMicros(range.step)];
    if (target > to) continue;
    const micros = from + Math.max(0, Math.ceil((target - from) / step)) * step;
    if (micros <= to && micros < ONE) return fromMicros(micros);
  }
  return null;
}

/**
 * Returns the highest NO price that is at most `price`. A NO contract at p trades as a YES contract at 1 - p.
 *
 * @param ranges  the grid of YES prices
 * @returns  in (0, 1); null if there is none
 * @example floorNoToGrid([{ from: 0, to: 0.1, step: 0.001 }, { from: 0.1, to: 1, step: 0.01 }], 0.9275); // 0.927
 */
export function floorNoToGrid(ranges: readonly PriceRange[], price: number): number | null {
  const yesPrice = ceilToGrid(ranges, 1 - price);
  return yesPrice === null ? null : complement(yesPrice);
}

/** Returns the lowest NO price that is at least `price`; the counterpart of `floorNoToGrid`. */
export function ceilNoToGrid(ranges: readonly PriceRange[], price: number): number | null {
  const yesPrice = floorToGrid(ranges, 1 - price);
  return yesPrice === null ? null : complement(yesPrice);
}

/**
 * Returns the price of a limit order that buys a side from an offer: the lowest price of the grid that is at least the
 * offer's.
 *
 * @param ranges  the grid of YES prices; null if it is unknown, which returns `price`
 * @param price  price of the offer for this side, in (0, 1)
 * @returns  in (0, 1); null if the grid has no such price
 */
export function buyLimitPrice(ranges: readonly PriceRange[] | null, side: Side, price: number): number | null {
  if (ranges === null) return price;
  return side === "yes" ? ceilToGrid(ranges, price) : ceilNoToGrid(ranges, price);
}

/** Returns the price of a limit order that sells a side to a bid at `price`; the counterpart of `buyLimitPrice`. */
export function sellLimitPrice(ranges: readonly PriceRange[] | null, side: Side, price: number): number | null {
  if (ranges === null) return price;
  return side === "yes" ? floorToGrid(ranges, price) : floorNoToGrid(ranges, price);
}

/** How a venue limits the size of an order. */
export interface SizeRules {
  /** Smallest order in contracts; null if the venue does not publish it. */
  readonly minOrderContracts: number | null;
  /** Order sizes are multiples of this; null if the venue does not publish it. */
  readonly contractStep: number | null;
}

/**
 * Rounds contracts down to a multiple of the venue's step, or to whole contracts if the step is unknown.
 *
 * @param contracts  at least 0
 * @returns  at least 0
 * @example floorToContractStep({ minOrderContracts: 5, contractStep: 0.01 }, 7.129); // 7.12
 */
export function floorToContractStep({ contractStep }: SizeRules, contracts: number): number {
  const step = stepMicrosOf(contractStep);
  return fromMicros(Math.floor((contracts * ONE) / step + CONTRACT_TOLERANCE) * step);
}

/**
 * Returns the smallest possible order in contracts: the larger of the venue's minimum and one step, rounded up to the
 * step.
 *
 * @returns  above 0
 * @example smallestOrder({ minOrderContracts: 2.5, contractStep: 1 }); // 3
 */
export function smallestOrder({ minOrderContracts, contractStep }: SizeRules): number {
  const step = stepMicrosOf(contractStep);
  const steps = Math.ceil(toMicros(minOrderContracts ?? 0) / step - CONTRACT_TOLERANCE);
  return fromMicros(Math.max(1, steps) * step);
}

const stepMicrosOf = (contractStep: number | null): number => Math.max(1, toMicros(contractStep ?? 1));
