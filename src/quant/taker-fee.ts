import type { TakerFee } from "../domain/market.ts";
import { assertNotNegative, assertProbability } from "./assert.ts";

type ShareTable = Extract<TakerFee, { kind: "value_table" }>["buyPoints"];

/** Part of a rounding step by which a sum of fees may exceed a multiple of the step because of binary rounding errors. */
const STEP_TOLERANCE = 1e-6;

/**
 * Share of a value table at a price: linear between the points, constant outside them. The published tables are convex, so
 * the straight line between two points is not below the true share.
 */
function shareAt(points: ShareTable, price: number): number {
  const index = points.findIndex(([at]) => at >= price);
  const [nextAt, nextShare] = points[index === -1 ? points.length - 1 : index] ?? [0, 0];
  const [previousAt, previousShare] = points[index - 1] ?? [nextAt, nextShare];
  if (nextAt === previousAt) return nextShare;
  return previousShare + ((nextShare - previousShare) * (price - previousAt)) / (nextAt - previousAt);
}

/**
 * Taker fee of one contract, before an order's fee is rounded.
 *
 * - `none`: 0
 * - `quadratic`: rate * (p * (1 - p)) ^ exponent
 * - `value_table`: p * b / (1 - b). b is the table's share at p; the venue withholds it from the contracts bought
 * - `flat_value`: rate * p
 *
 * @param fee  the fee schedule of the market
 * @param price  p, price of the side bought, in [0, 1]
 * @returns  USD per contract, at least 0
 * @throws RangeError when the price is outside [0, 1], or if the table has no points or a share outside [0, 1)
 * @see the fee schedules of the venues, described in the README of each folder of `src/venues`
 * @example takerFee({ kind: "quadratic", rate: 0.07, exponent: 1 }, 0.5); // 0.0175
 */
export function takerFee(fee: TakerFee, price: number): number {
  assertProbability(price, "price");
  switch (fee.kind) {
    case "none":
      return 0;
    case "quadratic":
      return fee.rate * (price * (1 - price)) ** fee.exponent;
    case "flat_value":
      return fee.rate * price;
    case "value_table": {
      if (fee.buyPoints.length === 0) throw new RangeError("buyPoints must not be empty");
      const share = shareAt(fee.buyPoints, price);
      if (!(share >= 0 && share < 1)) throw new RangeError(`the share must be in [0, 1), not ${share}`);
      return (price * share) / (1 - share);
    }
  }
}

/**
 * Taker fee of an order that trades at several prices: the sum of the contracts' fees, rounded up to a multiple of
 * `fee.roundsUpTo` if the schedule has one.
 *
 * @param fills  contracts bought per price, at least 0
 * @returns  USD, at least 0
 * @throws RangeError when a price or a number of contracts is outside its range
 * @example orderFee({ kind: "quadratic", rate: 0.07, exponent: 1, roundsUpTo: 0.01 }, [{ price: 0.5, contracts: 1 }]); // 0.02
 */
export function orderFee(
  fee: TakerFee,
  fills: Iterable<{ readonly price: number; readonly contracts: number }>,
): number {
  let sum = 0;
  for (const { price, contracts } of fills) {
    assertNotNegative(contracts, "contracts");
    sum += contracts * takerFee(fee, price);
  }
  const step = fee.kind === "quadratic" ? (fee.roundsUpTo ?? 0) : 0;
  if (!(step > 0)) return sum;
  const steps = Math.max(0, Math.ceil(sum / step - STEP_TOLERANCE));
  // Dividing by the inverse step yields the double nearest to the decimal amount: 2 / 100 and not 2 * 0.01.
  return steps / (1 / step);
}
