import { createHash } from "node:crypto";
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

const ACCOUNT_CHARS_MAX = 200;

/**
 * Returns a hash of a taker's account, which is the same for all trades of the account; undefined if the value is not
 * an account. Accounts are personal data, so adapters return only this hash. Letter case is ignored, as in wallet
 * addresses.
 *
 * @param account  an untrusted value of the venue
 */
export function takerKeyOf(account: unknown): string | undefined {
  if (typeof account !== "string" || account === "" || account.length > ACCOUNT_CHARS_MAX) return undefined;
  return createHash("sha256").update(account.toLowerCase()).digest("base64url").slice(0, 22);
}

/** Returns the ids without those that are null or absent. */
export function omitUnknownIds(ids: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ids).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
