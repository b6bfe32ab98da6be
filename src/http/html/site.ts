import type { FastifyRequest } from "fastify";
import { AppError } from "../../domain/errors.ts";
import { hostWithoutPort, isLoopbackHost } from "../../lib/loopback.ts";

/** Whether a `Host` header names this machine by `localhost` or a loopback address. */
export const isLoopbackHeader = (host: string | undefined): boolean => isLoopbackHost(hostWithoutPort(host));

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
    return { origin, isSecure: protocol === "https:" || !isLoopbackHeader(publicHost) };
  }
  const isLocal = isLoopbackHeader(host);
  return { origin: `${isLocal ? "http" : "https"}://${(host ?? "").toLowerCase()}`, isSecure: !isLocal };
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

/** @throws AppError `cross_site_refused` unless the form was submitted from this site */
export function assertSameSite(request: FastifyRequest, publicUrl: string | null): void {
  const site = resolveSite(publicUrl, request.headers.host);
  if (isFromSite(request.headers, site)) return;
  throw new AppError("cross_site_refused", `This form was not submitted from ${site.origin}`);
}
