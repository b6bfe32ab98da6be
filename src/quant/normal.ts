import { clamp, logit } from "../lib/numbers.ts";
import { assertProbability } from "./assert.ts";

const SQRT_2PI = Math.sqrt(2 * Math.PI);
/** Coefficients of the rational approximation, highest power first. */
const NUMERATOR = [
  0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
  220.206867912376,
] as const;
const DENOMINATOR = [
  0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
  793.826512519948, 440.413735824752,
] as const;

const polynomial = (coefficients: readonly number[], x: number): number =>
  coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);

const normalDensity = (x: number): number => Math.exp(-(x * x) / 2) / SQRT_2PI;

/**
 * Distribution function of the standard normal distribution; absolute error below 1e-14.
 *
 * @param x  any number or an infinity
 * @see Hart (1968), "Computer Approximations"; West (2005), "Better approximations to cumulative normal functions"
 * @example normalCdf(1.96); // 0.975002
 */
export function normalCdf(x: number): number {
  if (Number.isNaN(x)) throw new RangeError("x must be a number");
  const distance = Math.abs(x);
  if (distance > 37) return x > 0 ? 1 : 0;
  const factor = Math.exp((-distance * distance) / 2);
  const tail =
    distance < 7.07106781186547
      ? (factor * polynomial(NUMERATOR, distance)) / polynomial(DENOMINATOR, distance)
      : factor / SQRT_2PI / continuedFraction(distance);
  return x > 0 ? 1 - tail : tail;
}

function continuedFraction(x: number): number {
  let value = x + 0.65;
  for (const term of [4, 3, 2, 1]) value = x + term / value;
  return value;
}

/**
 * Quantile of the standard normal distribution: the x with normalCdf(x) = p, by Newton steps that start from the
 * logistic approximation.
 *
 * @param p  in [0, 1]
 * @returns  -Infinity for 0, Infinity for 1
 * @example normalQuantile(0.975); // 1.959964
 */
export function normalQuantile(p: number): number {
  assertProbability(p, "p");
  if (p === 0 || p === 1) return p === 0 ? -Infinity : Infinity;
  if (p > 0.5) return -normalQuantile(1 - p);
  let x = Math.max(-37, p < 0.02 ? -Math.sqrt(-2 * Math.log(p)) + 0.5 : logit(p) / 1.702);
  for (let iteration = 0; iteration < 60; iteration++) {
    const density = normalDensity(x);
    if (density === 0) break;
    const newton = (normalCdf(x) - p) / density;
    // Halley's correction; a step is limited because the density is flat far from the quantile.
    const step = newton / Math.max(0.5, 1 + (x * newton) / 2);
    x -= clamp(step, -1, 1);
    if (Math.abs(step) < 1e-13) break;
  }
  return x;
}
