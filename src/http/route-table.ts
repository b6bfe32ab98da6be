import type { RouteOptions } from "fastify";
import type { RouteEntry } from "../domain/metering.ts";

/** Minimum time between the deprecation of a route and its sunset (contract, section 8). */
const SUNSET_NOTICE_MONTHS = 6;

/** All routes of the server. */
export class RouteTable {
  /** Routes in the OpenAPI document, in order of definition. HEAD routes are omitted. */
  readonly entries: RouteEntry[] = [];
  readonly #routes: { readonly methods: readonly string[]; readonly segments: readonly string[] }[] = [];

  /** @throws Error, which aborts the start, if the route has no access or metering, or an inconsistent one */
  add(route: RouteOptions): void {
    const entry = entryOf(route);
    if (entry !== null) this.entries.push(entry);
    this.#routes.push({ methods: [route.method].flat(), segments: route.url.split("/") });
  }

  /** Sorted methods of all matching patterns; distinguishes a wrong method (405) from an unknown path (404). */
  methodsOf(url: string): readonly string[] {
    const segments = (url.split(/[?#]/, 1)[0] ?? "").split("/");
    const matching = this.#routes.filter((route) => matches(route.segments, segments));
    return [...new Set(matching.flatMap((route) => route.methods))].sort();
  }
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
  const isWildcard = pattern.at(-1) === "*";
  const parts = isWildcard ? pattern.slice(0, -1) : pattern;
  const hasMatchingLength = isWildcard ? segments.length >= pattern.length : segments.length === pattern.length;
  return hasMatchingLength && parts.every((part, index) => part.startsWith(":") || part === segments[index]);
}
