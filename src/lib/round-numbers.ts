/** Objects whose numbers are not rounded, because they add up exactly. */
const EXACT_OBJECTS: ReadonlySet<string> = new Set(["causal", "scenarios"]);
/** Probabilities and confidences, which are not rounded. */
const EXACT_NUMBERS = /(^|_)(probability|prior|posterior|confidence)(_|$)/;
/** Amounts in USD. */
const USD_NUMBERS =
  /(_usd|^pnl|_pnl|^volume|^volume_24h|^total_volume_24h|^liquidity|^open_interest|^flow|^max_drawdown|^net_exposure_change)$/;
const USD_DECIMALS = 6;
/** Enough decimals to keep prices, spreads and contracts exact and to remove errors such as 0.47000000000000003. */
const DECIMALS = 12;

/**
 * Rounds the numbers of a response by their field name: amounts in USD to 1e-6; prices, spreads, contracts and all
 * other numbers to 1e-12. Probabilities and the objects `causal` and `scenarios` are not rounded.
 *
 * @param value  a JSON value
 * @returns  the same value if nothing changes, otherwise a copy of the parts that change
 * @example roundNumbers({ price: 0.47000000000000003 }); // { price: 0.47 }
 */
export const roundNumbers = <Value>(value: Value): Value => roundField("", value) as Value;

/** Encodes a value as JSON with rounded numbers. Used for bodies that the HTTP server does not serialise. */
export const encodeJson = (value: unknown): string => JSON.stringify(roundNumbers(value));

function roundField(name: string, value: unknown): unknown {
  if (typeof value === "number") return roundNumber(name, value);
  if (Array.isArray(value)) {
    const items = value.map((item) => roundField(name, item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlainObject(value) || EXACT_OBJECTS.has(name)) return value;
  let changed: Record<string, unknown> | null = null;
  for (const key of Object.keys(value)) {
    const rounded = roundField(key, value[key]);
    if (Object.is(rounded, value[key])) continue;
    changed ??= { ...value };
    changed[key] = rounded;
  }
  return changed ?? value;
}

function roundNumber(name: string, value: number): number {
  if (Number.isInteger(value) || EXACT_NUMBERS.test(name)) return value;
  const factor = 10 ** (USD_NUMBERS.test(name) ? USD_DECIMALS : DECIMALS);
  const scaled = value * factor;
  // A larger number has no decimals at this scale in double precision.
  return Math.abs(scaled) < Number.MAX_SAFE_INTEGER ? Math.round(scaled) / factor : value;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
