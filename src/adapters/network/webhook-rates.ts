import {
  ADDRESS_RATE_FACTOR,
  CUSTOMER_TOKEN_CREDIT,
  RATE_BUCKETS_MAX,
  UNHEALTHY_RATE_SHARE,
  WAITING_REQUESTS_PER_CUSTOMER_MAX,
  WAITING_REQUESTS_PER_HOST_MAX,
} from "../../domain/webhook-limits.ts";
import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";
import { rateLimitedPrefixes } from "../../lib/ip-prefix.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ReceiverHealth } from "../../ports/webhook-out.ts";

/** Time in which an empty bucket is refilled completely. */
const FULL_AFTER_MS = 1_000;

const TURN_LIMITS = {
  slots: 1,
  waiting: WAITING_REQUESTS_PER_HOST_MAX,
  waitingPerKey: WAITING_REQUESTS_PER_CUSTOMER_MAX,
  credit: CUSTOMER_TOKEN_CREDIT,
};

/** Thrown instead of sending a request that would exceed a rate limit. */
export class OverRateError extends Error {
  override name = "OverRateError";
}

const turnsKeyOf = (hostname: string, health: ReceiverHealth): string => `${health} ${hostname}`;

interface Rate {
  readonly key: string;
  readonly perSecond: number;
}

/** Limits the requests per second to each host name and to each address, for all customers together. */
export class WebhookRates {
  readonly #clock: Pick<Clock, "monotonic" | "sleep">;
  readonly #perSecond: number;
  readonly #bucketsMax: number;
  /** Buckets by key, least recently used first. */
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly usedAt: number }>();
  /**
   * Queues of requests that wait for a token, one per host name and health of the receiver. Each queue has one slot.
   * The request with the slot takes the next token; the others wait for the slot.
   */
  readonly #turns = new Map<string, FairSemaphore>();

  /** @param perSecond  maximum requests per second to one host name, which is also the maximum burst */
  constructor(clock: Pick<Clock, "monotonic" | "sleep">, perSecond: number, bucketsMax = RATE_BUCKETS_MAX) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#bucketsMax = bucketsMax;
  }

  /** Number of buckets: host names and addresses requested within about the last second. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Number of queues in which requests wait for a token. */
  get waitingQueues(): number {
    return this.#turns.size;
  }

  /** Takes a token of a host name. Returns false if no token is available or if other requests are waiting for one. */
  tryTakeHost(hostname: string, health: ReceiverHealth = "healthy"): boolean {
    return !this.#turns.has(turnsKeyOf(hostname, health)) && this.#take(this.#ratesOf(hostname, health)) === 0;
  }

  /**
   * Waits for a slot and a token of a host name. Customers are served in round-robin order.
   *
   * @throws OverRateError if too many requests wait; the signal's reason if it aborts; the errors of `acquireSlot`
   */
  async waitForHost(
    hostname: string,
    customer: string,
    signal: AbortSignal,
    acquireSlot: () => Promise<Release>,
    health: ReceiverHealth = "healthy",
  ): Promise<Release> {
    const key = turnsKeyOf(hostname, health);
    const turns = this.#turns.get(key) ?? new FairSemaphore(TURN_LIMITS);
    this.#turns.set(key, turns);
    try {
      return await turns.run(
        customer,
        () => this.#waitForToken(this.#ratesOf(hostname, health), signal, acquireSlot),
        signal,
      );
    } catch (error) {
      if (error instanceof QueueFullError) throw new OverRateError(`host ${hostname} is requested too often`);
      throw error;
    } finally {
      if (turns.isIdle && this.#turns.get(key) === turns) this.#turns.delete(key);
    }
  }

  #ratesOf(hostname: string, health: ReceiverHealth): readonly Rate[] {
    const rate = { key: `host ${hostname}`, perSecond: this.#perSecond };
    if (health === "healthy") return [rate];
    return [rate, { key: `${health} ${hostname}`, perSecond: Math.max(1, this.#perSecond * UNHEALTHY_RATE_SHARE) }];
  }

  /**
   * Takes the token after the slot. Otherwise requests that already have tokens could wait for slots and then exceed
   * the rate limit together.
   */
  async #waitForToken(
    rates: readonly Rate[],
    signal: AbortSignal,
    acquireSlot: () => Promise<Release>,
  ): Promise<Release> {
    for (;;) {
      const waitMs = this.#waitMs(rates);
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      const release = await acquireSlot();
      if (this.#take(rates) === 0) return release;
      release();
    }
  }

  /**
   * Counts a request that may connect to any of the addresses.
   *
   * @throws OverRateError if the rate limit of one of the addresses is reached
   */
  takeAddresses(addresses: readonly string[]): void {
    const factors = new Map(addresses.flatMap(rateLimitedPrefixes).map(({ block, factor }) => [block, factor]));
    const rates = [...factors].map(([block, factor]) => ({
      key: `address ${block}`,
      perSecond: this.#perSecond * ADDRESS_RATE_FACTOR * factor,
    }));
    // If one address is at its limit, no token is taken for the others. Otherwise rejected requests would use up their
    // tokens.
    if (this.#take(rates) > 0) throw new OverRateError(`one of ${addresses.join(", ")} is requested too often`);
  }

  /** Returns the milliseconds until all buckets have a token. */
  #waitMs(rates: readonly Rate[]): number {
    const now = this.#clock.monotonic();
    return Math.max(0, ...rates.map(({ key }) => this.#buckets.get(key)?.bucket.waitMs(now) ?? 0));
  }

  /**
   * Takes a token from each bucket and returns 0. If a bucket is empty, takes no token and returns the milliseconds
   * until all buckets have one.
   */
  #take(rates: readonly Rate[]): number {
    const waitMs = this.#waitMs(rates);
    if (waitMs > 0) return waitMs;
    const now = this.#clock.monotonic();
    this.#forgetFull(now);
    const newBuckets = rates.filter(({ key }) => !this.#buckets.has(key)).length;
    if (this.#buckets.size + newBuckets > this.#bucketsMax)
      throw new OverRateError("too many hosts and addresses are requested");
    for (const { key, perSecond } of rates) {
      const bucket = this.#buckets.get(key)?.bucket ?? new TokenBucket({ perSecond, capacity: perSecond, now });
      this.#buckets.delete(key);
      this.#buckets.set(key, { bucket, usedAt: now });
      bucket.take(now);
    }
    return 0;
  }

  /** Removes full buckets, which are equivalent to new buckets. */
  #forgetFull(now: number): void {
    for (const [key, { usedAt }] of this.#buckets) {
      if (now - usedAt < FULL_AFTER_MS) break;
      this.#buckets.delete(key);
    }
  }
}
