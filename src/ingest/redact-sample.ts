/** Names of fields that may contain personal data or credentials; their values are hidden. */
const PRIVATE_NAME_PATTERN =
  /user|name|mail|address|wallet|creator|profile|owner|account|key|token|secret|auth|pass|sign|session|cookie|bio|avatar|phone|proxy|handle|pseudonym|trader|author|person|member|contact|referr|hash|uid|uuid/i;
/** Names of id fields: `id`, `marketId`, `market_id`, `ids`. */
const ID_NAME_PATTERN = /(^|_)ids?$|[a-z]I[dD]s?$/;
/** An enum value: no digits or spaces, and too short for a key, an address or a sentence. */
const ENUM_VALUE_PATTERN =
  /^(?:[a-z]{1,24}|[a-z]{1,16}(?:[_-][a-z]{1,16}){1,3}|[A-Z]{1,24}|[A-Z]{1,16}(?:[_-][A-Z]{1,16}){1,3}|[A-Z][a-z]{1,23})$/;
const NUMBER_PATTERN = /^[+-]?\d{0,12}(?:\.\d{1,12})?$/;
const TIME_PATTERN = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]{5,15}(?:Z|[+-]\d{2}:?(?:\d{2})?)?)?$/;

/**
 * Formats a value as `type: value` for public display. Displays numbers, enum values, decimals and times, and the size
 * of other values. Hides values of fields whose name suggests personal data, a wallet address or a secret.
 *
 * @param field  name of the field, optionally preceded by the object's name and a dot
 */
export function redactSample(field: string, value: unknown): string {
  const fieldName = field.slice(field.lastIndexOf(".") + 1);
  if (value === null) return "null";
  if (Array.isArray(value)) return `array: ${value.length} items`;
  if (typeof value === "object") return `object: ${Object.keys(value).length} fields`;
  if (typeof value === "boolean") return `boolean: ${value}`;
  if (typeof value !== "number" && typeof value !== "string") return typeof value;
  const isHidden = PRIVATE_NAME_PATTERN.test(fieldName) || ID_NAME_PATTERN.test(fieldName);
  if (typeof value === "number") return isHidden ? "number: hidden" : `number: ${value}`;
  const isDisplayable =
    ENUM_VALUE_PATTERN.test(value) || (value !== "" && NUMBER_PATTERN.test(value)) || TIME_PATTERN.test(value);
  return isHidden || !isDisplayable ? `string: ${value.length} characters` : `string: ${value}`;
}
