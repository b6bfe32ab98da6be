/** Names of fields that may hold what belongs to a person or opens a door; nothing of their values is shown. */
const PRIVATE_NAME =
  /user|name|mail|address|wallet|creator|profile|owner|account|key|token|secret|auth|pass|sign|session|cookie|bio|avatar|phone|proxy|handle|pseudonym|trader|author|person|member|contact|referr|hash|uid|uuid/i;
/** An id by its name: `id`, `marketId`, `market_id`, `ids`. */
const ID_NAME = /(^|_)ids?$|[a-z]I[dD]s?$/;
/** One word as enumerations have them: no digits, no spaces, nothing a key, an address or a sentence fits into. */
const WORD =
  /^(?:[a-z]{1,24}|[a-z]{1,16}(?:[_-][a-z]{1,16}){1,3}|[A-Z]{1,24}|[A-Z]{1,16}(?:[_-][A-Z]{1,16}){1,3}|[A-Z][a-z]{1,23})$/;
const NUMBER = /^[+-]?\d{0,12}(?:\.\d{1,12})?$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]{5,15}(?:Z|[+-]\d{2}:?(?:\d{2})?)?)?$/;

/**
 * A value as `type: value`, fit to be shown to anybody: numbers, single words, decimals and times as they are, everything
 * else by its size only, and nothing where the field's name hints at a person, an address or a secret.
 *
 * @param field name of the field the value stood in, with or without the object's name before a dot
 */
export function redactSample(field: string, value: unknown): string {
  const name = field.slice(field.lastIndexOf(".") + 1);
  if (value === null) return "null";
  if (Array.isArray(value)) return `array: ${value.length} items`;
  if (typeof value === "object") return `object: ${Object.keys(value).length} fields`;
  if (typeof value === "boolean") return `boolean: ${value}`;
  if (typeof value !== "number" && typeof value !== "string") return typeof value;
  const isHidden = PRIVATE_NAME.test(name) || ID_NAME.test(name);
  if (typeof value === "number") return isHidden ? "number: hidden" : `number: ${value}`;
  const isShown = WORD.test(value) || (value !== "" && NUMBER.test(value)) || TIME.test(value);
  return isHidden || !isShown ? `string: ${value.length} characters` : `string: ${value}`;
}
