import { limitedBlocks } from "../../lib/address-block.ts";
import { FairSlots, QueueFullError, type Release } from "../../lib/fair-slots.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Clock } from "../../ports/clock.ts";

/** Several hosts can share an address, so it may receive this multiple of the limit of a host name. */
const ADDRESS_FACTOR = 4;
/** A bucket contains the requests of this time, so a bucket that was not used for this time is full. */
const FULL_AFTER_MS = 1_000;
/** About 10 MB. More hosts and addresses than that in one second are refused. */
const BUCKETS_MAX = 65_536;
/** Requests that wait for a token in one queue of a host name, in total and of one customer. Further ones are refused. */
const WAITING_PER_HOST_MAX = 64;
const WAITING_PER_CUSTOMER_MAX = 2;

/** Thrown instead of sending a request that would exceed a limit. */
export class OverRateError extends Error {
  override name = "OverRateError";
}

const turnsKeyOf = (hostname: string, isSlow: boolean): string => `${isSlow ? "slow" : "fast"} ${hostname}`;

/** Limits the requests per second to each host name and to each address, whoever the customer is. */
export class WebhookRates {
  readonly #clock: Pick<Clock, "monotonic" | "sleep">;
  readonly #perSecond: number;
  readonly #bucketsMax: number;
  /** The bucket that was not used for the longest time is first. */
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly usedAt: number }>();
  /**
   * The queues of requests that wait for a token. Fast and slow requests to one host name have a queue each. The request
   * that has the one slot of a queue takes the next token; the others wait for the slot.
   */
  readonly #turns = new Map<string, FairSlots>();

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
  tryTakeHost(hostname: string, isSlow = false): boolean {
    return !this.#turns.has(turnsKeyOf(hostname, isSlow)) && this.#take(`host ${hostname}`, this.#perSecond) === 0;
  }

  /**
   * Waits for a slot and a token of a host name. Customers take turns.
   *
   * @param acquireSlot  waits for the slot
   * @param isSlow       whether it is a slot for slow receivers. The wait for one may take seconds, so it has its own queue
   * @returns the slot
   * @throws OverRateError if too many requests wait; the signal's reason if it aborts; the errors of `acquireSlot`
   */
  async waitForHost(
    hostname: string,
    customer: string,
    signal: AbortSignal,
    acquireSlot: () => Promise<Release>,
    isSlow = false,
  ): Promise<Release> {
    const key = turnsKeyOf(hostname, isSlow);
    const waiting = { waiting: WAITING_PER_HOST_MAX, waitingPerKey: WAITING_PER_CUSTOMER_MAX };
    const turns = this.#turns.get(key) ?? new FairSlots({ slots: 1, ...waiting });
    this.#turns.set(key, turns);
    try {
      return await turns.run(customer, () => this.#waitForToken(hostname, signal, acquireSlot), signal);
    } catch (error) {
      if (error instanceof QueueFullError) throw new OverRateError(`host ${hostname} is requested too often`);
      throw error;
    } finally {
      if (turns.isIdle && this.#turns.get(key) === turns) this.#turns.delete(key);
    }
  }

  /** Takes the token after the slot. Otherwise requests with tokens would wait for slots and then exceed the rate together. */
  async #waitForToken(hostname: string, signal: AbortSignal, acquireSlot: () => Promise<Release>): Promise<Release> {
    const key = `host ${hostname}`;
    for (;;) {
      const waitMs = this.#buckets.get(key)?.bucket.waitMs(this.#clock.monotonic()) ?? 0;
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      const release = await acquireSlot();
      if (this.#take(key, this.#perSecond) === 0) return release;
      release();
    }
  }

  /** Counts a request for which any of the addresses can be dialled. @throws OverRateError if the limit of one is reached */
  takeAddresses(addresses: readonly string[]): void {
    const blocks = addresses.flatMap(limitedBlocks);
    // If one address is at its limit, the others lose no token, so that nobody uses up the tokens of a host by its address.
    const now = this.#clock.monotonic();
    for (const { block } of blocks)
      if ((this.#buckets.get(`address ${block}`)?.bucket.waitMs(now) ?? 0) > 0)
        throw new OverRateError(`address ${block} is requested too often`);
    for (const { block, factor } of blocks) {
      const waitMs = this.#take(`address ${block}`, this.#perSecond * ADDRESS_FACTOR * factor);
      if (waitMs > 0) throw new OverRateError(`address ${block} is requested too often`);
    }
  }

  /** Takes a token and returns 0, or returns the milliseconds until one is available. */
  #take(key: string, perSecond: number): number {
    const now = this.#clock.monotonic();
    this.#forgetFull(now);
    const known = this.#buckets.get(key);
    if (known === undefined && this.#buckets.size >= this.#bucketsMax)
      throw new OverRateError("too many hosts and addresses are requested");
    const bucket = known?.bucket ?? new TokenBucket({ perSecond, capacity: perSecond, now });
    this.#buckets.delete(key);
    this.#buckets.set(key, { bucket, usedAt: now });
    return bucket.take(now);
  }

  /** A bucket that is full does not differ from a new one. */
  #forgetFull(now: number): void {
    for (const [key, { usedAt }] of this.#buckets) {
      if (now - usedAt < FULL_AFTER_MS) break;
      this.#buckets.delete(key);
    }
  }
}
