import { domainToASCII } from "node:url";
import { InvalidRequestError } from "../../domain/errors.ts";

const ADDRESS_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
/** Dot-atoms of RFC 5321. Quoted local parts are valid there but not supported: in practice only abuse uses them. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Characters that `domainToASCII` would decode or treat as the end of the domain. */
const NOT_IN_DOMAIN = /[\s%:/?#[\]@\\]/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** A canonical e-mail address: equal for all spellings. */
export interface EmailAddress {
  /** NFKC-normalised, lower case, with the domain in ASCII (punycode). E-mails are sent to this form. */
  readonly address: string;
  readonly domain: string;
}

/**
 * Parses an e-mail address; null if it is invalid. Does not check that the mailbox exists. Case, full-width characters,
 * internationalised domains and a trailing dot do not make addresses different; a `+tag` does, because only the
 * receiving server defines its meaning.
 */
export function parseEmail(text: string): EmailAddress | null {
  const trimmed = text.trim();
  if (trimmed.length > ADDRESS_LENGTH_MAX) return null;
  const at = trimmed.lastIndexOf("@");
  if (at < 1) return null;
  const local = trimmed.slice(0, at).normalize("NFKC").toLowerCase();
  const domain = parseDomain(trimmed.slice(at + 1));
  if (domain === null || local.length > LOCAL_LENGTH_MAX || !LOCAL.test(local)) return null;
  const address = `${local}@${domain}`;
  return address.length > ADDRESS_LENGTH_MAX ? null : { address, domain };
}

/** Returns a domain name in canonical ASCII form, or null. Single labels and IP addresses are not accepted. */
export function parseDomain(text: string): string | null {
  const folded = text.normalize("NFKC");
  if (NOT_IN_DOMAIN.test(folded)) return null;
  const ascii = domainToASCII(folded).replace(/\.$/, "");
  return DOMAIN.test(ascii) && ascii.length <= 253 ? ascii : null;
}

/**
 * Whether the domain or one of its parent domains is on the list of disposable e-mail domains.
 *
 * @param domain  in canonical form, like the entries of the list
 */
export function isDisposable(domain: string, list: ReadonlySet<string>): boolean {
  const labels = domain.split(".");
  return labels.some((_, index) => list.has(labels.slice(index).join(".")));
}

/** A validation error (422) for the body field `email`. */
export function invalidEmail(message: string, input: string): InvalidRequestError {
  return new InvalidRequestError([
    { type: "value_error", loc: ["body", "email"], msg: `Value error, ${message}`, input, ctx: { error: {} } },
  ]);
}
