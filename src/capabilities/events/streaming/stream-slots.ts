import { AppError, rateLimited } from "../../../domain/errors.ts";
import { addressBlock } from "../../../lib/ip-prefix.ts";

/** Maximum number of open streams of one key, of one address block, and of the process. */
export interface StreamLimits {
  readonly perKey: number;
  readonly perAddress: number;
  readonly total: number;
}

export const STREAM_LIMITS: StreamLimits = { perKey: 5, perAddress: 20, total: 12_000 };

const RETRY_AFTER_MS = 5_000;

/** Counts the open streams of each caller, of each address block and of the process. */
export class StreamSlots {
  readonly #limits: StreamLimits;
  readonly #byCaller = new Map<string, number>();
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * Counts a stream. Returns a function that removes it; idempotent.
   *
   * @throws AppError `rate_limited` above the limit of the caller or the address, `overloaded` above that of the process
   */
  take(caller: string, address: string): () => void {
    const block = addressBlock(address);
    const { perKey, perAddress, total } = this.#limits;
    if ((this.#byCaller.get(caller) ?? 0) >= perKey)
      throw rateLimited(`Limit of open streams per key reached: ${perKey}`, RETRY_AFTER_MS);
    if ((this.#byAddress.get(block) ?? 0) >= perAddress)
      throw rateLimited(`Limit of open streams per address reached: ${perAddress}`, RETRY_AFTER_MS);
    if (this.#total >= total)
      throw new AppError("overloaded", "The service has too many open streams", {
        details: { retryAfterSeconds: RETRY_AFTER_MS / 1_000 },
      });
    this.#change(caller, block, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#change(caller, block, -1);
      isTaken = false;
    };
  }

  #change(caller: string, block: string, change: 1 | -1): void {
    this.#total += change;
    addTo(this.#byCaller, caller, change);
    addTo(this.#byAddress, block, change);
  }
}

function addTo(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
