// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
type Json = any;

/** Fields that are not rounded: probabilities and confidences, and all fields of `EXACT_OBJECTS`. */
const EXACT_FIELDS = /(^|_)(probability|prior|posterior|confidence)(_|$)/;
const EXACT_OBJECTS = ["causal", "scenarios"];
const DECIMALS_MAX = 12;
const USD_DECIMALS_MAX = 6;

/** Number of decimals of the shortest decimal number that is this double. */
function decimalsOf(value: number): number {
  const [, fraction = "", exponent = "0"] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** Returns the places of the numbers with too many decimals. @param isUsd  whether a field is an amount in USD */
export function findNumberNoise(
  value: unknown,
  isUsd: (field: string) => boolean,
  field = "",
  path = "$",
): readonly string[] {
  if (typeof value === "number") {
    const most = isUsd(field) ? USD_DECIMALS_MAX : DECIMALS_MAX;
    return EXACT_FIELDS.test(field) || decimalsOf(value) <= most ? [] : [`${path}: ${value}`];
  }
  if (Array.isArray(value))
    return value.flatMap((item, index) => findNumberNoise(item, isUsd, field, `${path}[${index}]`));
  if (typeof value !== "object" || value === null || EXACT_OBJECTS.includes(field)) return [];
  return Object.entries(value).flatMap(([name, item]) => findNumberNoise(item, isUsd, name, `${path}.${name}`));
}

/** Returns whether the name or a description of a field says that its value is in USD. */
export function readUsdFields(document: Json): (field: string) => boolean {
  const fields = new Set<string>();
  const walk = (schema: Json): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [name, property] of Object.entries<Json>(schema.properties ?? {}))
      if (name.endsWith("_usd") || /\b(?:in USD|amount in USD)\b|^USD\b/i.test(property.description ?? ""))
        fields.add(name);
    for (const child of Object.values(schema)) walk(child);
  };
  walk(document);
  // The descriptions of these fields name USD, but their values are per contract, or scores.
  const others = ["payout", "rounds_up_to", "fee_rounds_up_to", "score", "liquidity_score"];
  return (field) => fields.has(field) && !others.includes(field);
}
