import { isIP } from "node:net";
import { WEBHOOK_URL_LENGTH_MAX } from "../../domain/webhook-limits.ts";
import { isLoopbackHost } from "../../lib/loopback.ts";
import type { CheckWebhookUrl } from "../../ports/webhook-out.ts";
import { isPublicAddress } from "./guarded-address.ts";

/** Characters that URL parsers remove or replace, so that the stored URL would differ from the submitted one. */
const REWRITTEN_CHARACTERS = /[\s\p{Cc}\\]/u;
/** Allowed ports. In a parsed https URL, port 443 is an empty string. */
const PORTS = ["", "8443"];
const PRIVATE_SUFFIXES = [".localhost", ".local", ".internal", ".home.arpa"];

const invalid = (problem: string) => ({ kind: "invalid", problem }) as const;

/**
 * Creates the check of a webhook's URL. It accepts https on port 443 or 8443, to a public address or a full domain
 * name. The accepted URL is normalised and has no fragment.
 *
 * @param options.allowsLoopback  also accepts http and https on any port of `localhost`, 127.0.0.0/8 and ::1. Only for
 *   a sandbox that no other machine can reach
 */
export function createCheckWebhookUrl(options: { readonly allowsLoopback: boolean }): CheckWebhookUrl {
  return (text) => {
    if (text.length > WEBHOOK_URL_LENGTH_MAX)
      return invalid(`The URL is longer than ${WEBHOOK_URL_LENGTH_MAX} characters.`);
    if (REWRITTEN_CHARACTERS.test(text))
      return invalid("The URL contains a space, a backslash or a control character.");
    if (!URL.canParse(text)) return invalid("This is not a valid URL.");
    const url = new URL(text);
    url.hash = "";
    const problem = findProblem(url, options.allowsLoopback);
    return problem === null ? { kind: "valid", url: url.href } : invalid(problem);
  };
}

function findProblem(url: URL, allowsLoopback: boolean): string | null {
  const isAllowedLoopback = allowsLoopback && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !(isAllowedLoopback && url.protocol === "http:"))
    return "The URL must begin with https://.";
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or a password.";
  // Percent-encoding can make the parsed URL longer than the text.
  if (url.href.length > WEBHOOK_URL_LENGTH_MAX) return `The URL is longer than ${WEBHOOK_URL_LENGTH_MAX} characters.`;
  if (isAllowedLoopback) return url.port === "0" ? "The port must not be 0." : null;
  return findHostProblem(url.hostname) ?? (PORTS.includes(url.port) ? null : "The port must be 443 or 8443.");
}

function findHostProblem(hostname: string): string | null {
  if (hostname.startsWith("[") || isIP(hostname) !== 0)
    return isPublicAddress(hostname) ? null : "The address is not a public address.";
  if (hostname.endsWith(".")) return "The host name must not end with a dot.";
  if (!hostname.includes(".") || PRIVATE_SUFFIXES.some((suffix) => hostname.endsWith(suffix)))
    return "The host name is not a public domain name.";
  return null;
}
