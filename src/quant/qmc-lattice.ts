export const QMC_LATTICE_POINTS = 4_096;

/**
 * Generating vector g. Found by a component-by-component construction: for j = 1, 2, … the odd g_j below n / 2 that is
 * not yet in the vector and minimises the squared worst-case error in a Korobov space of smoothness 2, e² = -1 + 1/n
 * Σ_k Π_j (1 + γ ω({k g_j / n})), with ω(x) = 2 π² (x² - x + 1/6) and the weight γ = 0.1 for each dimension. Small
 * equal weights optimise low-dimensional projections, and treat all pairs of dimensions alike.
 *
 * @see Sloan & Reztsov (2002), "Component-by-component construction of good lattice rules", Mathematics of Computation
 *   71
 */
const GENERATING_VECTOR: readonly number[] = [
  ...[1, 1557, 1237, 1119, 481, 175, 295, 2025, 429, 747, 1197, 201, 863, 1271, 1393, 1747],
  ...[611, 1455, 735, 243, 443, 423, 1007, 999, 1607, 183, 281, 1079, 1959, 75, 1849, 965],
  ...[755, 1255, 1613, 1581, 1441, 823, 1505, 1359, 2033, 329, 945, 1477, 1031, 909, 1249, 1381],
  ...[445, 339, 541, 835, 1711, 1473, 1341, 497, 1519, 1549, 115, 745, 1223, 51, 1925, 817],
];
/** Fractional part of the golden ratio. Modulo 1, its multiples are evenly spread. */
const GOLDEN = 0.618_033_988_749_894_9;

export const QMC_LATTICE_DIMENSIONS = GENERATING_VECTOR.length;

/**
 * Returns one dimension of a shifted rank-1 lattice. The coordinate of point i is (rank_i + 1/2) / n, with rank_i = (i
 * g_j + d_j) mod n. g_j and n have no common divisor, so the ranks are a permutation and every one-dimensional
 * projection is exactly uniform. The shift d_j is a multiple of the golden ratio. Without the shift, the first point
 * would have rank 0 in every dimension.
 *
 * @param dimension  j, a whole number in [0, 64)
 * @returns  the rank of each point, in [0, 4096)
 */
export function qmcLatticeRanks(dimension: number): Uint16Array {
  const generator = GENERATING_VECTOR[dimension];
  if (generator === undefined)
    throw new RangeError(`dimension must be in [0, ${QMC_LATTICE_DIMENSIONS}), not ${dimension}`);
  const shift = Math.floor(QMC_LATTICE_POINTS * ((dimension * GOLDEN) % 1));
  const ranks = new Uint16Array(QMC_LATTICE_POINTS);
  for (let point = 0; point < QMC_LATTICE_POINTS; point++)
    ranks[point] = (point * generator + shift) % QMC_LATTICE_POINTS;
  return ranks;
}
