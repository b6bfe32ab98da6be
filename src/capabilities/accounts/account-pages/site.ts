import { hash, timingSafeEqual } from "node:crypto";
import { isLoopbackHeader, type Site } from "../../../http/html/site.ts";
import { SESSION_MS_MAX } from "../sessions/index.ts";

export const ACCOUNT_PATH = "/account";
/** Path of the page with plans and prices. */
export const PLANS_PATH = "/pricing";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the URL of a page, or only its path if the public host is unknown. */
export function buildPageUrl(path: string, publicUrl: string | null, host: string | undefined): string {
  if (publicUrl !== null) return `${publicUrl}${path}`;
  return isLoopbackHeader(host) ? `http://${host}${path}` : path;
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

export function isValidFormToken(text: string, sessionToken: string): boolean {
  const hashText = (value: string) => hash("sha256", value, "buffer");
  return timingSafeEqual(hashText(text), hashText(createFormToken(sessionToken)));
}
