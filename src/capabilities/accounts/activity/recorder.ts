import type { Tier } from "../../../domain/plan.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { type ActivityBatch, RECENT_REQUESTS_MAX, type UnwrittenRequest, type UnwrittenUsage } from "./model.ts";

/** Maximum number of (key, day) pairs per batch. Requests beyond it are not recorded. */
const USAGE_ROWS_MAX = 10_000;
/** Maximum number of recent requests in one batch. Requests beyond it are counted but not listed. */
const REQUESTS_PER_BATCH_MAX = 2_000;

/** A response to a customer's request. */
export interface CustomerRequest extends Omit<UnwrittenRequest, "occurredAt"> {
  /** The tier and the month whose quota counts this call, for example "2026-11-01"; null if no quota counts it. */
  readonly counted: { readonly tier: Tier; readonly month: string } | null;
}

interface KeyUsage extends Pick<UnwrittenUsage, "customerId" | "keyId" | "day"> {
  requests: number;
  failed: number;
  readonly counted: Record<Tier, number>;
}

/** Ring buffer of the last `RECENT_REQUESTS_MAX` requests of one key. */
interface LastRequests {
  readonly list: { request: CustomerRequest; occurredAt: number }[];
  /** Position of the oldest request once the list is full. */
  oldest: number;
}

interface KeyActivity {
  /** By day; usually one. */
  readonly usage: KeyUsage[];
  readonly successful: LastRequests;
  readonly failed: LastRequests;
}

/** Buffers usage and requests in memory, up to fixed maxima, until `take` returns them as one batch. */
export class ActivityRecorder {
  readonly #usageRowsMax: number;
  readonly #requestsMax: number;
  #keys = new Map<string, KeyActivity>();
  #usageRows = 0;
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
    const today = this.#dayOf(now);
    const day = counted === null ? today : dayInMonth(today, counted.month);
    let key = this.#keys.get(keyId);
    let usage = key?.usage.find((row) => row.day === day);
    if (key === undefined || usage === undefined) {
      if (this.#usageRows >= this.#usageRowsMax) {
        this.#dropped += 1;
        return;
      }
      if (key === undefined) {
        key = { usage: [], successful: { list: [], oldest: 0 }, failed: { list: [], oldest: 0 } };
        this.#keys.set(keyId, key);
      }
      const counts = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0 };
      usage = { customerId: request.customerId, keyId, day, requests: 0, failed: 0, counted: counts };
      key.usage.push(usage);
      this.#usageRows += 1;
    }
    usage.requests += 1;
    if (status >= 400) usage.failed += 1;
    if (counted !== null) usage.counted[counted.tier] += 1;
    this.#list(status < 400 ? key.successful : key.failed, request, now);
  }

  /** Empties the buffer. Returns its content, and the number of requests that were dropped above a maximum. */
  take(): { readonly batch: ActivityBatch; readonly dropped: number } {
    const keys = [...this.#keys.values()];
    const usage: UnwrittenUsage[] = keys.flatMap((key) => key.usage);
    const requests = keys
      .flatMap(({ successful, failed }) => [...oldestFirst(successful), ...oldestFirst(failed)])
      .sort((a, b) => a.occurredAt - b.occurredAt)
      .map(({ request: { counted: _counted, ...request }, occurredAt }) => ({
        ...request,
        occurredAt: new Date(occurredAt),
      }));
    const dropped = this.#dropped;
    this.#keys = new Map();
    this.#usageRows = 0;
    this.#requestCount = 0;
    this.#dropped = 0;
    return { batch: { usage, requests }, dropped };
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  #list(requests: LastRequests, request: CustomerRequest, occurredAt: number): void {
    const { list, oldest } = requests;
    if (list.length >= RECENT_REQUESTS_MAX) {
      list[oldest] = { request, occurredAt };
      requests.oldest = (oldest + 1) % RECENT_REQUESTS_MAX;
    } else if (this.#requestCount < this.#requestsMax) {
      list.push({ request, occurredAt });
      this.#requestCount += 1;
    }
  }

  /** Returns the UTC day of `now`. Caches the formatted day, because every request needs it. */
  #dayOf(now: number): string {
    if (now < this.#dayStart || now >= this.#dayStart + DAY_MS) {
      this.#dayStart = Math.floor(now / DAY_MS) * DAY_MS;
      this.#day = new Date(this.#dayStart).toISOString().slice(0, 10);
    }
    return this.#day;
  }
}

const oldestFirst = ({ list, oldest }: LastRequests) => [...list.slice(oldest), ...list.slice(0, oldest)];

/**
 * Returns `day`, or the nearest day of `month` if `day` is in another month. The store's clock decides in which month a
 * call counts, and this node's clock may differ. The adjusted days of a month add up to the month's usage.
 *
 * @param month  first day of the month
 */
export function dayInMonth(day: string, month: string): string {
  if (day.startsWith(month.slice(0, 7))) return day;
  if (day < month) return month;
  const firstDay = new Date(`${month}T00:00:00Z`);
  return new Date(Date.UTC(firstDay.getUTCFullYear(), firstDay.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}
