/**
 * Checks of arguments. Every function of this folder throws a RangeError if an argument is outside the range that its
 * documentation states.
 */

/** @throws RangeError when `value` is NaN or outside [0, 1] */
export function assertProbability(value: number, name: string): void {
  if (!(value >= 0 && value <= 1)) throw new RangeError(`${name} must be in [0, 1], not ${value}`);
}

/** @throws RangeError when `value` is not finite or not above 0 */
export function assertPositive(value: number, name: string): void {
  if (!(value > 0 && value < Infinity)) throw new RangeError(`${name} must be above 0 and finite, not ${value}`);
}

/** @throws RangeError when `value` is not finite or below 0 */
export function assertNotNegative(value: number, name: string): void {
  if (!(value >= 0 && value < Infinity)) throw new RangeError(`${name} must be at least 0 and finite, not ${value}`);
}

/** @throws RangeError when the lists differ in length */
export function assertSameLength(a: ArrayLike<number>, b: ArrayLike<number>, names: string): void {
  if (a.length !== b.length)
    throw new RangeError(`${names} must have the same length, not ${a.length} and ${b.length}`);
}
