import { domainToASCII } from "node:url";
import { InvalidRequestError } from "../../domain/errors.ts";

const ADDRESS_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
/** Dot-atoms of RFC 5321. Quoted forms are allowed there and used by nobody but who wants to confuse. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** What the reader of domains takes for the end of one, or decodes. */
const NOT_IN_DOMAIN = /[\s%:/?#[\]@\\]/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** An address whose every spelling reads the same. */
export interface EmailAddress {
  /** Canonical, and what letters are sent to: compatibility forms folded, lower case, the domain in its ASCII form. */
  readonly address: string;
  readonly domain: string;
}

/**
 * Reads an e-mail address, or null for text that is none. Nobody is asked whether it exists. Case, full-width letters,
 * a domain's international spelling and its trailing dot make no other address; a `+tag` does, because only the mailbox's
 * own server knows what it means.
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

/** A domain name in its canonical ASCII form, or null. Names of one label and network addresses are none. */
export function parseDomain(text: string): string | null {
  const folded = text.normalize("NFKC");
  if (NOT_IN_DOMAIN.test(folded)) return null;
  const ascii = domainToASCII(folded).replace(/\.$/, "");
  return DOMAIN.test(ascii) && ascii.length <= 253 ? ascii : null;
}

/** A 422 that names the field `email` of a body. */
export function invalidEmail(text: string, input: string): InvalidRequestError {
  return new InvalidRequestError([
    { type: "value_error", loc: ["body", "email"], msg: `Value error, ${text}`, input, ctx: { error: {} } },
  ]);
}
