import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";

/** Returns a price in (0, 1), or null. A missing value, 0 and 1 mean "no quote"; other invalid values are counted. */
export function parsePrice(value: unknown, countDrop: DropCounter): number | null {
  const price = parseTradablePrice(value);
  if (price !== null || value === null || value === undefined) return price;
  const parsed = parseDecimal(value);
  if (parsed === null || parsed < 0 || parsed > 1) countDrop("price_out_of_range");
  return null;
}
