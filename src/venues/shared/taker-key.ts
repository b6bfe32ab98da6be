import { createHash } from "node:crypto";

const ACCOUNT_CHARS_MAX = 200;

/**
 * Returns a pseudonym that is equal for equal accounts of a venue; undefined if the value names no account. Accounts
 * are personal data, so the adapters pass on only this hash. Letter case is ignored, as in addresses of wallets.
 *
 * @param account  an untrusted value of the venue
 */
export function takerKeyOf(account: unknown): string | undefined {
  if (typeof account !== "string" || account === "" || account.length > ACCOUNT_CHARS_MAX) return undefined;
  return createHash("sha256").update(account.toLowerCase()).digest("base64url").slice(0, 22);
}
