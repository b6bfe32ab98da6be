import { randomBytes, randomFillSync } from "node:crypto";
import type { Random } from "../../ports/random.ts";

/** Size of the pool that is filled by one call, because one kernel call per request id would be slow. */
const POOL_BYTES = 4_096;
const POOLED_LENGTH_MAX = 64;

const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** Random bytes from the pool, each returned once and then erased from it. */
function pooledBytes(length: number): Uint8Array {
  if (used + length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.slice(used, used + length);
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}

/** The system's random sources: `uniform` for jitter, `bytes` for secrets. */
export const systemRandom: Random = {
  uniform: () => Math.random(),
  bytes: (length) => (length <= POOLED_LENGTH_MAX ? pooledBytes(length) : randomBytes(length)),
};
