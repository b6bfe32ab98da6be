import { hash, timingSafeEqual } from "node:crypto";
import { SESSION_MS_MAX } from "../sessions/index.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export const PLANS_PATH = "/account/plans";

/** The site as the browser sees it. */
export interface Site {
  readonly origin: string;
  /** Whether cookies require TLS. False on loopback, which is served without TLS. */
  readonly isSecure: boolean;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The site of a request: that of the public URL or, without one, of the Host header. Only a loopback Host header disables
 * TLS, so a forged header cannot weaken the cookies of other hosts.
 */
export function siteOf(publicUrl: string | null, host: string | undefined): Site {
  if (publicUrl !== null) {
    const { origin, protocol, host: publicHost } = new URL(publicUrl);
    return { origin, isSecure: protocol === "https:" || !LOOPBACK.test(publicHost) };
  }
  const isLocal = LOOPBACK.test(host ?? "");
  return { origin: `${isLocal ? "http" : "https"}://${(host ?? "").toLowerCase()}`, isSecure: !isLocal };
}

/** The URL of the plans page; only its path if the public host is unknown. */
export function plansUrl(publicUrl: string | null, host: string | undefined): string {
  if (publicUrl !== null) return `${publicUrl}${PLANS_PATH}`;
  return LOOPBACK.test(host ?? "") ? `http://${host}${PLANS_PATH}` : PLANS_PATH;
}

/**
 * Whether a form was submitted from this site, by `Sec-Fetch-Site` and `Origin`. Both must agree if both are present. Some
 * privacy settings set every `Origin` to `null`; then only `Sec-Fetch-Site` counts.
 */
export function isFromSite(headers: Headers, site: Site): boolean {
  const { origin, "sec-fetch-site": fetchSite } = headers;
  if (fetchSite !== undefined && fetchSite !== "same-origin") return false;
  if (origin !== undefined && origin !== "null") return origin === site.origin;
  return fetchSite === "same-origin";
}

/** With `__Host-`, browsers accept the cookie only over TLS and only from this host, not from sibling subdomains. */
const cookieName = ({ isSecure }: Site) => (isSecure ? "__Host-parallax" : "parallax");

/** The session's token; null if the cookie is missing or ambiguous (sent twice). */
export function readSessionCookie(headers: Headers, site: Site): string | null {
  const prefix = `${cookieName(site)}=`;
  const cookies = String(headers.cookie ?? "")
    .split(";")
    .map((cookie) => cookie.trim());
  const [first, ...others] = cookies.filter((cookie) => cookie.startsWith(prefix));
  return first === undefined || others.length > 0 ? null : first.slice(prefix.length);
}

/** @param token  null deletes the cookie */
export function sessionCookie(token: string | null, site: Site): string {
  const seconds = token === null ? 0 : SESSION_MS_MAX / 1000;
  const secure = site.isSecure ? "; Secure" : "";
  return `${cookieName(site)}=${token ?? ""}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The CSRF token of a session's forms: derived from the session token, which other sites cannot read. */
export function formToken(sessionToken: string): string {
  return hash("sha256", `form ${sessionToken}`, "hex");
}

export function isFormToken(text: string, sessionToken: string): boolean {
  const digest = (value: string) => hash("sha256", value, "buffer");
  return timingSafeEqual(digest(text), digest(formToken(sessionToken)));
}
