import { hash, timingSafeEqual } from "node:crypto";
import { SESSION_MS_MAX } from "../sessions/index.ts";

const LOOPBACK_HOST_PATTERN = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export const PLANS_PATH = "/account/plans";

/** The origin that the browser displays. */
export interface Site {
  readonly origin: string;
  /** Whether cookies require TLS. False on loopback, which is served without TLS. */
  readonly isSecure: boolean;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the site of the public URL or, without one, of the Host header. Only a loopback Host header permits cookies
 * without TLS, so a forged header cannot weaken the cookies of other hosts.
 */
export function resolveSite(publicUrl: string | null, host: string | undefined): Site {
  if (publicUrl !== null) {
    const { origin, protocol, host: publicHost } = new URL(publicUrl);
    return { origin, isSecure: protocol === "https:" || !LOOPBACK_HOST_PATTERN.test(publicHost) };
  }
  const isLocal = LOOPBACK_HOST_PATTERN.test(host ?? "");
  return { origin: `${isLocal ? "http" : "https"}://${(host ?? "").toLowerCase()}`, isSecure: !isLocal };
}

/** Returns the URL of the plans page, or only its path if the public host is unknown. */
export function buildPlansUrl(publicUrl: string | null, host: string | undefined): string {
  if (publicUrl !== null) return `${publicUrl}${PLANS_PATH}`;
  return LOOPBACK_HOST_PATTERN.test(host ?? "") ? `http://${host}${PLANS_PATH}` : PLANS_PATH;
}

/**
 * Whether a form was submitted from this site, by `Sec-Fetch-Site` and `Origin`. If both headers are present,
 * both must match. If privacy settings set `Origin` to `null`, `Sec-Fetch-Site` alone decides.
 */
export function isFromSite(headers: Headers, site: Site): boolean {
  const { origin, "sec-fetch-site": fetchSite } = headers;
  if (fetchSite !== undefined && fetchSite !== "same-origin") return false;
  if (origin !== undefined && origin !== "null") return origin === site.origin;
  return fetchSite === "same-origin";
}

/** With `__Host-`, browsers accept the cookie only over TLS and only from this host, not from sibling subdomains. */
const selectCookieName = ({ isSecure }: Site) => (isSecure ? "__Host-parallax" : "parallax");

/** Returns the session token, or null if the cookie is missing or sent more than once. */
export function readSessionCookie(headers: Headers, site: Site): string | null {
  const prefix = `${selectCookieName(site)}=`;
  const cookies = String(headers.cookie ?? "")
    .split(";")
    .map((cookie) => cookie.trim());
  const [sessionCookieText, ...otherSessionCookies] = cookies.filter((cookie) => cookie.startsWith(prefix));
  return sessionCookieText === undefined || otherSessionCookies.length > 0
    ? null
    : sessionCookieText.slice(prefix.length);
}

/** @param token  null deletes the cookie */
export function createSessionCookie(token: string | null, site: Site): string {
  const maxAgeSeconds = token === null ? 0 : SESSION_MS_MAX / 1000;
  const secure = site.isSecure ? "; Secure" : "";
  return `${selectCookieName(site)}=${token ?? ""}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Derives the CSRF token from the session token, which other sites cannot read. */
export function createFormToken(sessionToken: string): string {
  return hash("sha256", `form ${sessionToken}`, "hex");
}

export function isFormToken(text: string, sessionToken: string): boolean {
  const hashText = (value: string) => hash("sha256", value, "buffer");
  return timingSafeEqual(hashText(text), hashText(createFormToken(sessionToken)));
}
