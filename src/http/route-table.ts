import type { RouteOptions } from "fastify";
import type { RouteEntry } from "../domain/metering.ts";

/** Minimum time between the deprecation of a route and its sunset (contract, section 8). */
const SUNSET_NOTICE_MONTHS = 6;

/** All routes of the server. */
export interface RouteTable {
  /** Routes in the OpenAPI document, in order of definition. HEAD routes are omitted. */
  readonly entries: readonly RouteEntry[];
  /** @throws Error, which aborts the start, if the route has no access or metering, or an inconsistent one */
  add(route: RouteOptions): void;
  /** Sorted methods of all matching patterns; distinguishes a wrong method (405) from an unknown path (404). */
  methodsOf(url: string): readonly string[];
}

export function createRouteTable(): RouteTable {
  const routes: { readonly methods: readonly string[]; readonly segments: readonly string[] }[] = [];
  const entries: RouteEntry[] = [];
  return {
    entries,
    add(route) {
      const { method, url } = route;
      const entry = entryOf(route);
      if (entry !== null) entries.push(entry);
      routes.push({ methods: typeof method === "string" ? [method] : method, segments: url.split("/") });
    },
    methodsOf(url) {
      const path = url.split(/[?#]/, 1)[0] ?? "";
      const segments = path.split("/");
      const methods = routes.filter((route) => matches(route.segments, segments)).flatMap((route) => route.methods);
      return [...new Set(methods)].sort();
    },
  };
}

/** Null for routes that are not in the OpenAPI document. */
function entryOf({ method, url, config, schema }: RouteOptions): RouteEntry | null {
  const name = `Route ${method} ${url}`;
  const { access, metering, deprecation = null } = config ?? {};
  if (access === undefined) throw new Error(`${name} has no access setting`);
  if (metering === undefined) throw new Error(`${name} has no metering`);
  const { quotaTier, priceTier, minimumPlan, rateClass } = metering;
  const isFree = quotaTier === null && priceTier === null && rateClass === null && minimumPlan === "free";
  if (access === "public" && !isFree)
    throw new Error(`${name} is public and cannot be metered: public calls have no caller`);
  if (access === "key" && rateClass === null) throw new Error(`${name} needs a key but has no rate class`);
  if (deprecation !== null && deprecation.sunset < monthsAfter(deprecation.since, SUNSET_NOTICE_MONTHS))
    throw new Error(`${name} has a sunset less than six months after its deprecation`);
  const { operationId } = (schema ?? {}) as { operationId?: string };
  if (operationId === undefined || typeof method !== "string" || method === "HEAD") return null;
  return { method, path: url.replace(/:([A-Za-z0-9_]+)/g, "{$1}"), operationId, metering, deprecation };
}

/** Adds calendar months (UTC). A day missing in the target month overflows into the next month. */
function monthsAfter(date: Date, months: number): Date {
  const later = new Date(date);
  later.setUTCMonth(later.getUTCMonth() + months);
  return later;
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === "*") {
    return (
      segments.length >= pattern.length &&
      pattern.slice(0, -1).every((part, index) => matchesPart(part, segments[index]))
    );
  }
  return pattern.length === segments.length && pattern.every((part, index) => matchesPart(part, segments[index]));
}

function matchesPart(part: string, segment: string | undefined): boolean {
  return part.startsWith(":") || part === segment;
}
