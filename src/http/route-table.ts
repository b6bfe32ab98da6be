import type { RouteOptions } from "fastify";
import type { RouteEntry } from "../domain/metering.ts";
import type { Access } from "./auth.ts";

/** Minimum time between the deprecation of a route and its sunset. */
const SUNSET_NOTICE_MONTHS = 6;

export type RouteTable = ReturnType<typeof createRouteTable>;

export function createRouteTable() {
  const entries: RouteEntry[] = [];
  const routes: {
    readonly methods: readonly string[];
    readonly url: string;
    readonly segments: readonly string[];
    readonly access: Access | undefined;
  }[] = [];
  const findMatching = (url: string) => {
    const segments = (url.split(/[?#]/, 1)[0] ?? "").split("/");
    return routes.filter((route) => matchesPattern(route.segments, segments));
  };
  return {
    /** Routes in the OpenAPI document, in order of definition. HEAD routes are omitted. */
    entries: entries as readonly RouteEntry[],
    /** @throws Error, which aborts the start, if the access or metering of the route is missing or inconsistent */
    add(route: RouteOptions): void {
      const entry = entryOf(route);
      if (entry !== null) entries.push(entry);
      const { method, url, config } = route;
      routes.push({ methods: [method].flat(), url, segments: url.split("/"), access: config?.access });
    },
    /** Returns the sorted methods of all routes that match the URL; empty for an unknown path. */
    methodsOf: (url: string): readonly string[] =>
      [...new Set(findMatching(url).flatMap((route) => route.methods))].sort(),
    /** Returns the pattern and the permitted callers of the route that handles the request; null if there is none. */
    find: (method: string, url: string): { readonly url: string; readonly access: Access | undefined } | null =>
      findMatching(url).find((route) => route.methods.includes(method)) ?? null,
  };
}

/** Returns the entry of a route, or null if the route is not in the OpenAPI document. */
function entryOf({ method, url, config, schema }: RouteOptions): RouteEntry | null {
  const routeName = `Route ${method} ${url}`;
  const { access, metering, deprecation = null } = config ?? {};
  if (access === undefined) throw new Error(`${routeName} has no access setting`);
  if (metering === undefined) throw new Error(`${routeName} has no metering`);
  const { quotaTier, priceTier, minimumPlan, rateClass, needsAccount } = metering;
  const isFree = quotaTier === null && priceTier === null && rateClass === null && minimumPlan === "free";
  if (access === "public" && !isFree)
    throw new Error(`${routeName} is public and cannot be metered: public calls have no caller`);
  if (access !== "public" && rateClass === null)
    throw new Error(`${routeName} needs a key or a session but has no rate class`);
  if (priceTier !== null && needsAccount === true)
    throw new Error(`${routeName} has a price but needs an account, which callers who pay per request do not have`);
  if (deprecation !== null && deprecation.sunset < monthsAfter(deprecation.since, SUNSET_NOTICE_MONTHS))
    throw new Error(`${routeName} has a sunset less than six months after its deprecation`);
  const { operationId } = (schema ?? {}) as { operationId?: string };
  if (operationId === undefined || typeof method !== "string" || method === "HEAD") return null;
  return { method, path: url.replace(/:([A-Za-z0-9_]+)/g, "{$1}"), operationId, metering, deprecation };
}

/** Adds calendar months (UTC). A day missing in the target month overflows into the next month. */
function monthsAfter(date: Date, months: number): Date {
  const result = new Date(date);
  result.setUTCMonth(result.getUTCMonth() + months);
  return result;
}

function matchesPattern(pattern: readonly string[], segments: readonly string[]): boolean {
  const isWildcard = pattern.at(-1) === "*";
  const patternParts = isWildcard ? pattern.slice(0, -1) : pattern;
  const hasMatchingLength = isWildcard ? segments.length >= pattern.length : segments.length === pattern.length;
  return hasMatchingLength && patternParts.every((part, index) => part.startsWith(":") || part === segments[index]);
}
