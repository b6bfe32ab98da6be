import { domainToASCII } from "node:url";
import { type InvalidRequestError, invalidValue } from "../../../domain/errors.ts";

const ADDRESS_LENGTH_MAX = 254;
const LOCAL_PART_LENGTH_MAX = 64;
/** A dot-atom (RFC 5321). Quoted local parts are not supported, because almost all of them are abuse. */
const LOCAL_PART_PATTERN = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Characters that `domainToASCII` decodes or treats as the end of the domain. */
const INVALID_DOMAIN_CHARACTER_PATTERN = /[\s%:/?#[\]@\\]/;
const DOMAIN_PATTERN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** A canonical e-mail address: equal for all spellings. */
export interface EmailAddress {
  /** NFKC-normalised, lower case, with the domain in ASCII (punycode). E-mails are sent to this form. */
  readonly address: string;
  readonly domain: string;
}

/**
 * Returns the parsed e-mail address, or null if it is invalid. Does not check that the mailbox exists. Case, full-width
 * characters, internationalised domains and a trailing dot do not make addresses different; a `+tag` does, because only
 * the receiving server defines its meaning.
 */
export function parseEmail(text: string): EmailAddress | null {
  const trimmed = text.trim();
  if (trimmed.length > ADDRESS_LENGTH_MAX) return null;
  const atPosition = trimmed.lastIndexOf("@");
  if (atPosition < 1) return null;
  const local = trimmed.slice(0, atPosition).normalize("NFKC").toLowerCase();
  const domain = parseDomain(trimmed.slice(atPosition + 1));
  if (domain === null || local.length > LOCAL_PART_LENGTH_MAX || !LOCAL_PART_PATTERN.test(local)) return null;
  const address = `${local}@${domain}`;
  return address.length > ADDRESS_LENGTH_MAX ? null : { address, domain };
}

/** Returns a domain name in canonical ASCII form, or null. Single labels and IP addresses are not accepted. */
export function parseDomain(text: string): string | null {
  const normalizedText = text.normalize("NFKC");
  if (INVALID_DOMAIN_CHARACTER_PATTERN.test(normalizedText)) return null;
  const asciiDomain = domainToASCII(normalizedText).replace(/\.$/, "");
  return DOMAIN_PATTERN.test(asciiDomain) && asciiDomain.length <= 253 ? asciiDomain : null;
}

/** Whether the domain or one of its parent domains is on the list. All are in canonical form. */
export function isDisposable(domain: string, disposableDomains: ReadonlySet<string>): boolean {
  const labels = domain.split(".");
  return labels.some((_, index) => disposableDomains.has(labels.slice(index).join(".")));
}

/** A validation error (422) for the body field `email`. */
export const createInvalidEmailError = (message: string, input: string): InvalidRequestError =>
  invalidValue(["body", "email"], message, input);

/**
 * @param disposableDomains  in canonical form
 * @throws InvalidRequestError for an invalid or disposable e-mail address
 */
export function requireEmail(text: string, disposableDomains: ReadonlySet<string> = new Set()): EmailAddress {
  const email = parseEmail(text);
  if (email === null) throw createInvalidEmailError("this is not a valid e-mail address", text);
  if (isDisposable(email.domain, disposableDomains))
    throw createInvalidEmailError("disposable e-mail addresses are not accepted", text);
  return email;
}
