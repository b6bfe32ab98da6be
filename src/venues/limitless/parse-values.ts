import { midOfBook } from "../../domain/market.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";

/** Raw sizes and amounts are integers with six implied decimals. */
const RAW_UNIT = 1e6;
/** Maximum number that is a time in seconds; larger ones are milliseconds. 1e11 s is the year 5138, 1e11 ms is 1973. */
const SECONDS_MAX = 1e11;
const MILLISECONDS_MAX = 1e14;
/** Minimum and maximum price, which the venue sends as the bid and ask of a market without orders. */
const PLACEHOLDER_BID = 0.001;
const PLACEHOLDER_ASK = 0.999;

/** Parses ISO text, seconds or milliseconds (number or text) to Unix milliseconds; null if missing or out of range. */
export function parseTime(value: unknown): number | null {
  const number = parseDecimal(value);
  if (number !== null) {
    if (number <= 0 || number >= MILLISECONDS_MAX) return null;
    return Math.round(number < SECONDS_MAX ? number * 1000 : number);
  }
  if (typeof value !== "string") return null;
  const at = Date.parse(value);
  return Number.isNaN(at) || at <= 0 || at >= MILLISECONDS_MAX ? null : at;
}

/** Converts a raw integer size to contracts. Returns null unless the size is positive. */
export function parseSize(value: unknown): number | null {
  const raw = parseDecimal(value);
  return raw !== null && raw > 0 && raw <= Number.MAX_SAFE_INTEGER ? raw / RAW_UNIT : null;
}

/** Returns the YES price of a [yes, no] pair. A pair that adds up to about 100 is in percent. */
export function parsePairPrice(pair: readonly unknown[] | null | undefined, countDrop: DropCounter): number | null {
  const [yes, no] = pair ?? [];
  const [yesNumber, noNumber] = [parseDecimal(yes), parseDecimal(no)];
  const sum = (yesNumber ?? 0) + (noNumber ?? 0);
  const isPercent = yesNumber !== null && noNumber !== null && yesNumber >= 0 && noNumber >= 0 && sum > 80 && sum < 125;
  return parsePrice(isPercent ? yesNumber / 100 : yes, countDrop);
}

/**
 * Replaces the venue's placeholders with null. Many order books also have real orders at these two prices, which a
 * listing does not distinguish from placeholders. Such a price is used only if the spread is small enough for a mid.
 */
export function removePlaceholders(
  bid: number | null,
  ask: number | null,
): { readonly bid: number | null; readonly ask: number | null } {
  if (midOfBook(bid, ask) !== null) return { bid, ask };
  return { bid: bid === PLACEHOLDER_BID ? null : bid, ask: ask === PLACEHOLDER_ASK ? null : ask };
}
