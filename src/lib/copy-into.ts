/** Copies the numbers of a typed array to the start of a larger one, and returns the larger one. */
export function copyInto<Values extends Float32Array | Float64Array | Int32Array | Uint32Array>(
  target: Values,
  source: Values,
): Values {
  target.set(source);
  return target;
}
