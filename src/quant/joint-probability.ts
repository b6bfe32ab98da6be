import { clamp } from "../lib/numbers.ts";
import { assertProbability } from "./assert.ts";
import { normalCdf, normalQuantile } from "./normal.ts";

/** Positive nodes of ten-point Gauss-Legendre quadrature on [-1, 1], and their weights. */
const NODES = [
  0.14887433898163122, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717,
] as const;
const WEIGHTS = [
  0.29552422471475287, 0.26926671930999635, 0.21908636251598204, 0.14945134915058059, 0.06667134430868814,
] as const;
/** Subintervals of the quadrature. */
const PANELS = 32;

/**
 * Probability that two events both happen, if a Gaussian copula describes their dependence: P(A and B) = Phi2(h, k;
 * rho), h = quantile(p), k = quantile(q), computed as p q + 1 / (2 pi) * integral from 0 to arcsin(rho) of exp(-(h^2 +
 * k^2 - 2 h k sin t) / (2 cos^2 t)) dt.
 *
 * @param p  probability of A, in [0, 1]
 * @param q  probability of B, in [0, 1]
 * @param rho  correlation of the normal variables, in [-1, 1]
 * @returns  in [max(0, p + q - 1), min(p, q)]; absolute error below 1e-9
 * @see Drezner & Wesolowsky (1990), "On the computation of the bivariate normal integral"
 * @example jointProbability(0.5, 0.5, 0.5); // 1/3
 */
export function jointProbability(p: number, q: number, rho: number): number {
  assertProbability(p, "p");
  assertProbability(q, "q");
  if (!(rho >= -1 && rho <= 1)) throw new RangeError(`rho must be in [-1, 1], not ${rho}`);
  const bounded = (joint: number) => Math.min(Math.min(p, q), Math.max(Math.max(0, p + q - 1), joint));
  if (p === 0 || q === 0 || p === 1 || q === 1) return bounded(p * q);
  if (rho === 1) return Math.min(p, q);
  if (rho === -1) return Math.max(0, p + q - 1);
  const h = normalQuantile(p);
  const k = normalQuantile(q);
  const density = (angle: number): number => {
    const cosine = Math.cos(angle);
    return Math.exp(-(h * h + k * k - 2 * h * k * Math.sin(angle)) / (2 * cosine * cosine));
  };
  const end = Math.asin(rho);
  return bounded(normalCdf(h) * normalCdf(k) + integrate(density, end) / (2 * Math.PI));
}

/** Integral from 0 to `end`. The panels become narrower towards `end`, where the integrand is steep. */
function integrate(f: (x: number) => number, end: number): number {
  let sum = 0;
  for (let panel = 0; panel < PANELS; panel++) {
    const edge = (index: number) => end * (1 - (1 - index / PANELS) ** 3);
    const middle = (edge(panel) + edge(panel + 1)) / 2;
    const half = (edge(panel + 1) - edge(panel)) / 2;
    for (const [index, node] of NODES.entries())
      sum += (WEIGHTS[index] ?? 0) * half * (f(middle - half * node) + f(middle + half * node));
  }
  return sum;
}

/** Probabilities of an event, given that another event happens and given that it does not. */
export interface ConditionalProbability {
  /** Null if the condition has probability 0. */
  readonly ifYes: number | null;
  readonly ifNo: number | null;
}

/**
 * P(A | B) and P(A | not B) from the probability of both. They satisfy the law of total probability:
 * q P(A | B) + (1 - q) P(A | not B) = p.
 *
 * @param joint  probability of both, in [max(0, p + q - 1), min(p, q)]; rounding errors are tolerated
 * @example conditionalProbability(0.5, 0.5, 1 / 3); // { ifYes: 2/3, ifNo: 1/3 }
 */
export function conditionalProbability(p: number, q: number, joint: number): ConditionalProbability {
  assertProbability(p, "p");
  assertProbability(q, "q");
  const low = Math.max(0, p + q - 1);
  const high = Math.min(p, q);
  if (!(joint >= low - 1e-9 && joint <= high + 1e-9))
    throw new RangeError(`joint must be in [${low}, ${high}], not ${joint}`);
  const both = clamp(joint, low, high);
  const bounded = (value: number) => clamp(value, 0, 1);
  return { ifYes: q === 0 ? null : bounded(both / q), ifNo: q === 1 ? null : bounded((p - both) / (1 - q)) };
}
