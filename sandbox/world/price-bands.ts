import type { PriceBand } from "./types.ts";

/** Returns the bands of a market that has the same step at every price. */
export const evenBands = (step: number): readonly PriceBand[] => [{ from: 0, to: 1, step }];

/** The price grid of markets with a finer step near 0 and 1. */
export const TAPERED_BANDS: readonly PriceBand[] = [
  { from: 0, to: 0.1, step: 0.001 },
  { from: 0.1, to: 0.9, step: 0.01 },
  { from: 0.9, to: 1, step: 0.001 },
];

/** Returns the step of a grid at a price, in (0, 1). */
export function stepAtPrice(bands: readonly PriceBand[], price: number): number {
  return (bands.find(({ to }) => price < to) ?? bands.at(-1))?.step ?? 0.01;
}

/**
 * Rounds a price to the grid: towards 0 or towards 1.
 *
 * @param price  in (0, 1)
 * @returns  in [0, 1]
 */
export function snapToBands(bands: readonly PriceBand[], price: number, direction: "down" | "up"): number {
  const micros = Math.round(price * 1e6);
  const step = Math.round(stepAtPrice(bands, price) * 1e6);
  const steps = direction === "down" ? Math.floor(micros / step) : Math.ceil(micros / step);
  return (steps * step) / 1e6;
}
