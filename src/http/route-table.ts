import type { RouteOptions } from "fastify";
import type { RouteEntry } from "../domain/metering.ts";

/** A route that will go stays at least this long after that was announced (contract, section 8). */
const SUNSET_NOTICE_MONTHS = 6;

/** Every route of the server. */
export interface RouteTable {
  /**
   * The routes that are described to callers, in order of their definition; a HEAD is its GET's.
   */
  readonly entries: readonly RouteEntry[];
  /** @throws Error that stops the start, where a route does not say who may call it and what it counts as */
  add(route: RouteOptions): void;
  /** Methods of every pattern that matches, sorted, to tell a wrong method (405) from an unknown path (404). */
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
      const found = routes.filter((route) => matches(route.segments, segments)).flatMap((route) => route.methods);
      return [...new Set(found)].sort();
    },
  };
}

/** Null for what callers are not told of. */
function entryOf({ method, url, config, schema }: RouteOptions): RouteEntry | null {
  const name = `Route ${method} ${url}`;
  const { access, metering, deprecation = null } = config ?? {};
  if (access === undefined) throw new Error(`${name} does not say who may call it`);
  if (metering === undefined) throw new Error(`${name} does not say what it counts as`);
  const { quotaTier, priceTier, minimumPlan, rateClass } = metering;
  const isFree = quotaTier === null && priceTier === null && rateClass === null && minimumPlan === "free";
  if (access === "public" && !isFree) throw new Error(`${name} asks for no key and so can count for nobody`);
  if (access === "key" && rateClass === null) throw new Error(`${name} asks for a key and limits nobody who has one`);
  if (deprecation !== null && deprecation.sunset < monthsAfter(deprecation.since, SUNSET_NOTICE_MONTHS))
    throw new Error(`${name} goes less than six months after that was announced`);
  const { operationId } = (schema ?? {}) as { operationId?: string };
  if (operationId === undefined || typeof method !== "string" || method === "HEAD") return null;
  return { method, path: url.replace(/:([A-Za-z0-9_]+)/g, "{$1}"), operationId, metering, deprecation };
}

/** By the calendar (UTC); the first days after a month that is too short for the day. */
function monthsAfter(instant: Date, months: number): Date {
  const later = new Date(instant);
  later.setUTCMonth(later.getUTCMonth() + months);
  return later;
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === "*") {
    return (
      segments.length >= pattern.length && pattern.slice(0, -1).every((part, index) => same(part, segments[index]))
    );
  }
  return pattern.length === segments.length && pattern.every((part, index) => same(part, segments[index]));
}

function same(part: string, segment: string | undefined): boolean {
  return part.startsWith(":") || part === segment;
}
