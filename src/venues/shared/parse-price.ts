import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";

/** A price in (0, 1). Null if absent or 0 or 1, which mean "no quote"; other values are null and counted. */
export function parsePrice(value: unknown, countDrop: DropCounter): number | null {
  const price = parseTradablePrice(value);
  if (price !== null || value === null || value === undefined) return price;
  const parsed = parseDecimal(value);
  if (parsed === null || parsed < 0 || parsed > 1) countDrop("price_out_of_range");
  return null;
}
