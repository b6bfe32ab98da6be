import type { Tier } from "../../domain/plan.ts";
import { type Batch, REQUESTS_MAX, type UnwrittenRequest, type UnwrittenUsage } from "./model.ts";

const DAY_MS = 86_400_000;
/** Maximum number of days and keys in one batch. Requests of further keys in the same interval are not recorded. */
const USAGE_ROWS_MAX = 10_000;
/** Maximum number of recent requests in one batch. Further requests of the interval are counted but not listed. */
const REQUESTS_PER_BATCH_MAX = 2_000;

/** A response to a customer's request. */
export interface CustomerRequest {
  readonly customerId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly code: string | null;
  readonly durationMs: number;
  /** The tier and the month whose quota counts this call, for example "2026-11-01"; null if no quota counts it. */
  readonly counted: { readonly tier: Tier; readonly month: string } | null;
}

interface KeyUsage {
  readonly customerId: string;
  readonly day: string;
  requests: number;
  failed: number;
  readonly counted: Record<Tier, number>;
}

/** Collects usage and requests in memory until they are taken as a batch. Bounded. */
export class Recorder {
  readonly #usageRowsMax: number;
  readonly #requestsMax: number;
  /** By key id and day. */
  #usage = new Map<string, KeyUsage & { readonly keyId: string }>();
  /** The last requests by key: successful and failed. */
  #requests = new Map<string, readonly [UnwrittenRequest[], UnwrittenRequest[]]>();
  #requestCount = 0;
  #dropped = 0;
  #dayStart = 0;
  #day = "";

  constructor(maxima: { readonly usageRows?: number; readonly requests?: number } = {}) {
    this.#usageRowsMax = maxima.usageRows ?? USAGE_ROWS_MAX;
    this.#requestsMax = maxima.requests ?? REQUESTS_PER_BATCH_MAX;
  }

  /** @param now  when the response was ready, Unix milliseconds */
  add(request: CustomerRequest, now: number): void {
    const { keyId, counted, status } = request;
    const day = counted === null ? this.#dayOf(now) : dayInMonth(this.#dayOf(now), counted.month);
    const usageKey = `${keyId} ${day}`;
    let usage = this.#usage.get(usageKey);
    if (usage === undefined) {
      if (this.#usage.size >= this.#usageRowsMax) {
        this.#dropped += 1;
        return;
      }
      const counts = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0 };
      usage = { customerId: request.customerId, keyId, day, requests: 0, failed: 0, counted: counts };
      this.#usage.set(usageKey, usage);
    }
    usage.requests += 1;
    if (status >= 400) usage.failed += 1;
    if (counted !== null) usage.counted[counted.tier] += 1;
    this.#list(request, now);
  }

  /** Removes and returns everything recorded, and the number of requests that exceeded a bound. */
  take(): { readonly batch: Batch; readonly dropped: number } {
    const usage: UnwrittenUsage[] = [...this.#usage.values()];
    const requests = [...this.#requests.values()].flatMap(([successful, failed]) => [...successful, ...failed]);
    requests.sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime());
    const dropped = this.#dropped;
    this.#usage = new Map();
    this.#requests = new Map();
    this.#requestCount = 0;
    this.#dropped = 0;
    return { batch: { usage, requests }, dropped };
  }

  get isEmpty(): boolean {
    return this.#usage.size === 0;
  }

  /** Keeps the last `REQUESTS_MAX` requests of the key, and as many failed ones. */
  #list(request: CustomerRequest, now: number): void {
    const { customerId, keyId, requestId, method, route, status, code, durationMs } = request;
    let lists = this.#requests.get(keyId);
    if (lists === undefined) {
      lists = [[], []];
      this.#requests.set(keyId, lists);
    }
    const list = lists[status < 400 ? 0 : 1];
    if (list.length >= REQUESTS_MAX) {
      list.shift();
      this.#requestCount -= 1;
    } else if (this.#requestCount >= this.#requestsMax) return;
    const occurredAt = new Date(now);
    list.push({ customerId, keyId, occurredAt, requestId, method, route, status, code, durationMs });
    this.#requestCount += 1;
  }

  /** Formats a date only once per day, because every request needs it. */
  #dayOf(now: number): string {
    if (now < this.#dayStart || now >= this.#dayStart + DAY_MS) {
      this.#dayStart = Math.floor(now / DAY_MS) * DAY_MS;
      this.#day = new Date(this.#dayStart).toISOString().slice(0, 10);
    }
    return this.#day;
  }
}

/**
 * Returns the day of the month that is nearest to `day`. The store's clock decides the month of a counted call, and this
 * node's clock may differ, so that the days of a month add up to the month's usage.
 *
 * @param month  first day of the month
 */
export function dayInMonth(day: string, month: string): string {
  if (day.startsWith(month.slice(0, 7))) return day;
  if (day < month) return month;
  const firstDay = new Date(`${month}T00:00:00Z`);
  return new Date(Date.UTC(firstDay.getUTCFullYear(), firstDay.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}
