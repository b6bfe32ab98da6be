import type { FeeShares, TakerFee } from "../domain/market.ts";
import { assertNotNegative, assertProbability } from "./assert.ts";

/** Part of a rounding step by which a sum may exceed a multiple of the step because of binary rounding errors. */
const STEP_TOLERANCE = 1e-6;

/**
 * Share of a value table at a price: linear between the points, constant outside them. The published tables are close
 * to straight between their points.
 */
function shareAt(points: FeeShares, price: number): number {
  if (points.length === 0) throw new RangeError("the table must not be empty");
  const index = points.findIndex(([at]) => at >= price);
  const [nextAt, nextShare] = points[index === -1 ? points.length - 1 : index] ?? [0, 0];
  const [previousAt, previousShare] = points[index - 1] ?? [nextAt, nextShare];
  const share =
    nextAt === previousAt
      ? nextShare
      : previousShare + ((nextShare - previousShare) * (price - previousAt)) / (nextAt - previousAt);
  if (!(share >= 0 && share < 1)) throw new RangeError(`the share must be in [0, 1), not ${share}`);
  return share;
}

/** Whether an order buys contracts, or sells contracts that the trader holds. */
export type OrderAction = "buy" | "sell";

export interface PriceFill {
  readonly price: number;
  readonly contracts: number;
}

/**
 * Taker fee of one contract, before an order's fee is rounded.
 *
 * - `none`: 0
 * - `quadratic`: rate * (p * (1 - p)) ^ exponent
 * - `value_table`: of a purchase p * b / (1 - b), of a sale p * s, with the shares b and s of the two tables at p
 * - `flat_value`: rate * p
 *
 * @param fee  the fee schedule of the market
 * @param price  p, price of the side traded, in [0, 1]
 * @returns  USD per contract, at least 0
 * @throws RangeError when the price is outside [0, 1], or if the table has no points or a share outside [0, 1)
 * @see the fee schedules of the venues, described in the README of each folder of `src/venues`
 * @example takerFee({ kind: "quadratic", rate: 0.07, exponent: 1 }, 0.5); // 0.0175
 */
export function takerFee(fee: TakerFee, price: number, action: OrderAction = "buy"): number {
  assertProbability(price, "price");
  switch (fee.kind) {
    case "none":
      return 0;
    case "quadratic":
      return fee.rate * (price * (1 - price)) ** fee.exponent;
    case "flat_value":
      return fee.rate * price;
    case "value_table": {
      if (action === "sell") return price * shareAt(fee.sellPoints, price);
      const share = shareAt(fee.buyPoints, price);
      return (price * share) / (1 - share);
    }
  }
}

/**
 * Taker fee of an order that trades at several prices. Where the venue rounds, the fee at each price is rounded up to
 * `feeStep`; then the change of the balance, which is the value plus the fee of a purchase or the value less the fee of
 * a sale, is rounded to `balanceStep` to the trader's disadvantage.
 *
 * @param fills  contracts traded per price, at least 0
 * @returns  USD, at least 0; of a sale at most its value, rounded
 * @see https://docs.kalshi.com/getting_started/fee_rounding
 * @example
 * const rounding = { feeStep: 0.0001, balanceStep: 0.01 };
 * // 0.0175 for 0.5: the balance changes by 0.52.
 * orderFee({ kind: "quadratic", rate: 0.07, exponent: 1, rounding }, [{ price: 0.5, contracts: 1 }]); // 0.02
 */
export function orderFee(fee: TakerFee, fills: Iterable<PriceFill>, action: OrderAction = "buy"): number {
  const rounding = fee.kind === "quadratic" ? fee.rounding : undefined;
  let valueUsd = 0;
  let feeUsd = 0;
  for (const { price, contracts } of fills) {
    assertNotNegative(contracts, "contracts");
    const exact = contracts * takerFee(fee, price, action);
    valueUsd += price * contracts;
    feeUsd += rounding === undefined ? exact : roundUp(exact, rounding.feeStep);
  }
  if (rounding === undefined) return feeUsd;
  const sign = action === "buy" ? 1 : -1;
  const balanceUsd = sign * roundUp(sign * valueUsd + feeUsd, rounding.balanceStep);
  // Rounds binary errors of the difference away: 0.52 - 0.5 is 0.02.
  return Math.max(0, Math.round(sign * (balanceUsd - valueUsd) * 1e9) / 1e9);
}

function roundUp(usd: number, step: number): number {
  // Dividing by the inverse step yields the double nearest to the decimal amount: 2 / 100 and not 2 * 0.01.
  return Math.ceil(usd / step - STEP_TOLERANCE) / (1 / step);
}
