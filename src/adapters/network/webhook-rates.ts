import {
  ADDRESS_FACTOR,
  BUCKETS_MAX,
  CUSTOMER_CREDIT,
  UNHEALTHY_SHARE,
  WAITING_PER_CUSTOMER_MAX,
  WAITING_PER_HOST_MAX,
} from "../../domain/webhook-limits.ts";
import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";
import { limitedBlocks } from "../../lib/ip-prefix.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ReceiverHealth } from "../../ports/webhook-out.ts";

/** A bucket contains the requests of this time, so a bucket that was not used for this time is full. */
const FULL_AFTER_MS = 1_000;

const TURN_LIMITS = {
  slots: 1,
  waiting: WAITING_PER_HOST_MAX,
  waitingPerKey: WAITING_PER_CUSTOMER_MAX,
  credit: CUSTOMER_CREDIT,
};

/** Thrown instead of sending a request that would exceed a limit. */
export class OverRateError extends Error {
  override name = "OverRateError";
}

const turnsKeyOf = (hostname: string, health: ReceiverHealth): string => `${health} ${hostname}`;

interface Rate {
  /** Key of the bucket. */
  readonly key: string;
  readonly perSecond: number;
}

/** Limits the requests per second to each host name and to each address, for all customers together. */
export class WebhookRates {
  readonly #clock: Pick<Clock, "monotonic" | "sleep">;
  readonly #perSecond: number;
  readonly #bucketsMax: number;
  /** The bucket that was not used for the longest time is first. */
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly usedAt: number }>();
  /**
   * The queues of requests that wait for a token: one per host name and health of the receiver. The request that has
   * the one slot of a queue takes the next token; the others wait for the slot.
   */
  readonly #turns = new Map<string, FairSemaphore>();

  /** @param options.perSecond  requests per second to one host name, of which all may be sent at once */
  constructor({
    clock,
    perSecond,
    bucketsMax = BUCKETS_MAX,
  }: {
    readonly clock: Pick<Clock, "monotonic" | "sleep">;
    readonly perSecond: number;
    readonly bucketsMax?: number;
  }) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#bucketsMax = bucketsMax;
  }

  /** Host names and addresses that were requested within about a second. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Number of queues in which requests wait for a token. */
  get waitingQueues(): number {
    return this.#turns.size;
  }

  /** Takes a token of a host name. Returns false if none is available, or if other requests already wait for one. */
  tryTakeHost(hostname: string, health: ReceiverHealth = "healthy"): boolean {
    return !this.#turns.has(turnsKeyOf(hostname, health)) && this.#take(this.#ratesOf(hostname, health)) === 0;
  }

  /**
   * Waits for a slot and a token of a host name. Customers take turns.
   *
   * @param acquireSlot  waits for the slot
   * @param health       of the receiver
   * @returns the slot
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
    return [rate, { key: `${health} ${hostname}`, perSecond: Math.max(1, this.#perSecond * UNHEALTHY_SHARE) }];
  }

  /**
   * Takes the token after the slot. Otherwise requests with tokens would wait for slots and then exceed the rate
   * together.
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
   * Counts a request for which any of the addresses can be dialled.
   *
   * @throws OverRateError if the limit of one is reached
   */
  takeAddresses(addresses: readonly string[]): void {
    const factors = new Map(addresses.flatMap(limitedBlocks).map(({ block, factor }) => [block, factor]));
    const rates = [...factors].map(([block, factor]) => ({
      key: `address ${block}`,
      perSecond: this.#perSecond * ADDRESS_FACTOR * factor,
    }));
    // If one address is at its limit, the others lose no token, so that the tokens of a host cannot be used up through
    // its address.
    if (this.#take(rates) > 0) throw new OverRateError(`one of ${addresses.join(", ")} is requested too often`);
  }

  /** Returns the milliseconds until all buckets have a token. */
  #waitMs(rates: readonly Rate[]): number {
    const now = this.#clock.monotonic();
    return Math.max(0, ...rates.map(({ key }) => this.#buckets.get(key)?.bucket.waitMs(now) ?? 0));
  }

  /**
   * Takes a token of each bucket and returns 0. If one has none, takes none and returns the milliseconds until all do.
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

  /** A bucket that is full does not differ from a new one. */
  #forgetFull(now: number): void {
    for (const [key, { usedAt }] of this.#buckets) {
      if (now - usedAt < FULL_AFTER_MS) break;
      this.#buckets.delete(key);
    }
  }
}
