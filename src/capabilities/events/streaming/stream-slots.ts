import { AppError, rateLimited } from "../../../domain/errors.ts";
import { rateLimitPrefix } from "../../../lib/ip-prefix.ts";

/** Maximum number of open streams per key, per IP prefix, and in the process. */
export interface StreamLimits {
  readonly perKey: number;
  readonly perAddress: number;
  readonly total: number;
}

export const STREAM_LIMITS: StreamLimits = { perKey: 5, perAddress: 20, total: 12_000 };

const RETRY_AFTER_MS = 5_000;

/** Counts the open streams per caller, per IP prefix, and in the process. */
export function createStreamSlots(limits: StreamLimits) {
  const byCaller = new Map<string, number>();
  const byAddress = new Map<string, number>();
  let total = 0;

  const add = (caller: string, block: string, change: 1 | -1): void => {
    total += change;
    addTo(byCaller, caller, change);
    addTo(byAddress, block, change);
  };

  return {
    get total(): number {
      return total;
    },
    /**
     * Counts a stream. Returns a function that removes it; idempotent.
     *
     * @throws AppError `rate_limited` above the limit of the caller or the address, `overloaded` above the limit of the
     *   process
     */
    take(caller: string, address: string): () => void {
      const block = rateLimitPrefix(address);
      const { perKey, perAddress } = limits;
      if ((byCaller.get(caller) ?? 0) >= perKey)
        throw rateLimited(`Limit of open streams per key reached: ${perKey}`, RETRY_AFTER_MS);
      if ((byAddress.get(block) ?? 0) >= perAddress)
        throw rateLimited(`Limit of open streams per address reached: ${perAddress}`, RETRY_AFTER_MS);
      if (total >= limits.total)
        throw new AppError("overloaded", "The service has too many open streams", {
          details: { retryAfterSeconds: RETRY_AFTER_MS / 1_000 },
        });
      add(caller, block, 1);
      let isTaken = true;
      return () => {
        if (isTaken) add(caller, block, -1);
        isTaken = false;
      };
    },
  };
}

function addTo(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
