import type { FastifyReply, FastifyRequest } from "fastify";
import type { Access } from "./auth.ts";
import type { RouteTable } from "./route-table.ts";

const PREFLIGHT_CACHE_SECONDS = 7_200;
/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  "ETag",
  "Link",
  "Location",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "Deprecation",
  "Sunset",
  "X-Request-Id",
  "X-Parallax-Data",
  "X-Ignored-Parameters",
  "PAYMENT-REQUIRED",
  "PAYMENT-RESPONSE",
  "X-PAYMENT-RESPONSE",
].join(", ");
/** Request headers that scripts may send. */
const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-None-Match",
  "Last-Event-ID",
  "X-Request-Id",
  "PAYMENT-SIGNATURE",
  "X-PAYMENT",
].join(", ");

/** Only these paths have cross-origin headers; the pages of the site, which use cookies, have none. */
const isApiPath = (url: string): boolean => url.startsWith("/v1/") || url === "/openapi.json";

const isPublicRead = (method: string, access: Access | undefined): boolean =>
  access === "public" && (method === "GET" || method === "HEAD");

function addVary(reply: FastifyReply, field: string): void {
  const existing = reply.getHeader("vary");
  if (existing === undefined) reply.header("vary", field);
  else if (!String(existing).split(", ").includes(field)) reply.header("vary", `${String(existing)}, ${field}`);
}

/**
 * Cross-origin requests (the Fetch standard). Public GET and HEAD routes permit every origin. All other API routes
 * permit only the configured origins. Responses never permit credentials: keys are sent in a header, and pages with
 * cookies are excluded.
 *
 * @param origins  serialised origins such as `https://app.example.org`
 */
export function createCors(origins: readonly string[], routes: RouteTable) {
  const configuredOrigins = new Set(origins);

  /**
   * Returns the value of `Access-Control-Allow-Origin`, or null if `origin` is not permitted. Adds `Vary: Origin` if the
   * result depends on the origin.
   */
  const permit = (reply: FastifyReply, origin: string | undefined, permitsAll: boolean): string | null => {
    if (permitsAll) return "*";
    if (configuredOrigins.size === 0) return null;
    // Caches must not serve the response to another origin.
    addVary(reply, "Origin");
    return origin !== undefined && configuredOrigins.has(origin) ? origin : null;
  };

  return {
    /** Sets the cross-origin headers of a response to a request of an API route. */
    setHeaders(request: FastifyRequest, reply: FastifyReply): void {
      const permitsAll = isPublicRead(request.method, request.routeConfig.access);
      // Fastify creates `routeOptions` on every access, so it is not read in the usual case: no configured origins.
      if (!permitsAll && configuredOrigins.size === 0) return;
      if (!isApiPath(request.routeOptions.url ?? "")) return;
      const permitted = permit(reply, request.headers.origin, permitsAll);
      if (permitted === null) return;
      reply.header("access-control-allow-origin", permitted).header("access-control-expose-headers", EXPOSED_HEADERS);
    },
    /** Whether the request is a preflight that is permitted, and sets its headers. */
    acceptPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
      const { origin, "access-control-request-method": method } = request.headers;
      if (request.method !== "OPTIONS" || origin === undefined || method === undefined) return false;
      const route = routes.find(method, request.raw.url ?? "");
      if (route === null || !isApiPath(route.url)) return false;
      const permitted = permit(reply, origin, isPublicRead(method, route.access));
      if (permitted === null) return false;
      reply
        .header("access-control-allow-origin", permitted)
        .header("access-control-allow-methods", routes.methodsOf(request.raw.url ?? "").join(", "))
        .header("access-control-allow-headers", ALLOWED_HEADERS)
        .header("access-control-max-age", String(PREFLIGHT_CACHE_SECONDS));
      return true;
    },
  };
}
