import { hash, timingSafeEqual } from "node:crypto";
import { SESSION_MS_MAX } from "../sessions/index.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export const PLANS_PATH = "/account/plans";

/** Where a browser believes to be. */
export interface Site {
  readonly origin: string;
  /** Cookies travel over TLS only. False on loopback, where there is none. */
  readonly isSecure: boolean;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The site that a request was sent to: the public URL's, or where none is set, this machine's. The Host header is believed
 * where it names this machine only, and so relaxes nothing for anybody else; any other is taken for a site with TLS.
 */
export function siteOf(publicUrl: string | null, host: string | undefined): Site {
  if (publicUrl !== null) {
    const { origin, protocol, host: named } = new URL(publicUrl);
    return { origin, isSecure: protocol === "https:" || !LOOPBACK.test(named) };
  }
  const isLocal = LOOPBACK.test(host ?? "");
  return { origin: `${isLocal ? "http" : "https"}://${(host ?? "").toLowerCase()}`, isSecure: !isLocal };
}

/** Where a larger plan is had, as an address that whoever called can open; only its path where none is known. */
export function plansUrl(publicUrl: string | null, host: string | undefined): string {
  if (publicUrl !== null) return `${publicUrl}${PLANS_PATH}`;
  return LOOPBACK.test(host ?? "") ? `http://${host}${PLANS_PATH}` : PLANS_PATH;
}

/**
 * Whether a form was sent from a page of this very site. What the browser says of itself has to agree: some privacy
 * settings make every `Origin` null, and then only `Sec-Fetch-Site` tells.
 */
export function isFromSite(headers: Headers, site: Site): boolean {
  const { origin, "sec-fetch-site": fetchSite } = headers;
  if (fetchSite !== undefined && fetchSite !== "same-origin") return false;
  if (origin !== undefined && origin !== "null") return origin === site.origin;
  return fetchSite === "same-origin";
}

/** `__Host-`: the browser takes the cookie over TLS only and from no other host, not even a neighbour of the same domain. */
const cookieName = ({ isSecure }: Site) => (isSecure ? "__Host-parallax" : "parallax");

/** The session's token; null without one, and where there are two, because nobody knows which is meant. */
export function readSessionCookie(headers: Headers, site: Site): string | null {
  const prefix = `${cookieName(site)}=`;
  const cookies = String(headers.cookie ?? "")
    .split(";")
    .map((cookie) => cookie.trim());
  const [found, ...more] = cookies.filter((cookie) => cookie.startsWith(prefix));
  return found === undefined || more.length > 0 ? null : found.slice(prefix.length);
}

/** @param token  null takes the cookie away */
export function sessionCookie(token: string | null, site: Site): string {
  const seconds = token === null ? 0 : SESSION_MS_MAX / 1000;
  const secure = site.isSecure ? "; Secure" : "";
  return `${cookieName(site)}=${token ?? ""}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** What a form has to carry: made of the session's token, which no other site can read. */
export function formToken(sessionToken: string): string {
  return hash("sha256", `form ${sessionToken}`, "hex");
}

export function isFormToken(text: string, sessionToken: string): boolean {
  const digest = (value: string) => hash("sha256", value, "buffer");
  return timingSafeEqual(digest(text), digest(formToken(sessionToken)));
}
