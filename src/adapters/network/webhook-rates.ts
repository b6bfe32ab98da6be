import { limitedBlocks } from "../../lib/address-block.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Clock } from "../../ports/clock.ts";

/** Several hosts can share an address, so it may receive this multiple of the limit of a host name. */
const ADDRESS_FACTOR = 4;
/** A bucket contains the requests of this time, so a bucket that was not used for this time is full. */
const FULL_AFTER_MS = 1_000;
/** About 10 MB. More hosts and addresses than that in one second are refused. */
const BUCKETS_MAX = 65_536;

/** Thrown instead of sending a request that would exceed a limit. */
export class OverRateError extends Error {
  override name = "OverRateError";
}

/** Limits the requests per second to each host name and to each address, whoever the customer is. */
export class WebhookRates {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #perSecond: number;
  readonly #bucketsMax: number;
  /** The bucket that was not used for the longest time is first. */
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly usedAt: number }>();

  /** @param options.perSecond  requests per second to one host name, of which all may be sent at once */
  constructor({
    clock,
    perSecond,
    bucketsMax = BUCKETS_MAX,
  }: {
    readonly clock: Pick<Clock, "monotonic">;
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

  /** Counts a request to a host name. @throws OverRateError if its limit is reached */
  takeHost(hostname: string): void {
    this.#take(`host ${hostname}`, this.#perSecond);
  }

  /** Counts a request for which any of the addresses can be dialled. @throws OverRateError if the limit of one is reached */
  takeAddresses(addresses: readonly string[]): void {
    const blocks = addresses.flatMap(limitedBlocks);
    // If one address is at its limit, the others lose no token, so that nobody uses up the tokens of a host by its address.
    const now = this.#clock.monotonic();
    for (const { block } of blocks)
      if ((this.#buckets.get(`address ${block}`)?.bucket.waitMs(now) ?? 0) > 0)
        throw new OverRateError(`address ${block} is requested too often`);
    for (const { block, factor } of blocks) this.#take(`address ${block}`, this.#perSecond * ADDRESS_FACTOR * factor);
  }

  #take(key: string, perSecond: number): void {
    const now = this.#clock.monotonic();
    this.#forgetFull(now);
    const known = this.#buckets.get(key);
    if (known === undefined && this.#buckets.size >= this.#bucketsMax)
      throw new OverRateError("too many hosts and addresses are requested");
    const bucket = known?.bucket ?? new TokenBucket({ perSecond, capacity: perSecond, now });
    this.#buckets.delete(key);
    this.#buckets.set(key, { bucket, usedAt: now });
    if (bucket.take(now) > 0) throw new OverRateError(`${key} is requested too often`);
  }

  /** A bucket that is full does not differ from a new one. */
  #forgetFull(now: number): void {
    for (const [key, { usedAt }] of this.#buckets) {
      if (now - usedAt < FULL_AFTER_MS) break;
      this.#buckets.delete(key);
    }
  }
}
