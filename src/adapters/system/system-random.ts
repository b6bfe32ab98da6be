import { randomBytes, randomFillSync } from "node:crypto";
import type { Random } from "../../ports/random.ts";

/** Drawn from the kernel at once: a draw for each request id would cost as much as the rest of the request's headers. */
const POOL_BYTES = 4_096;
const POOLED_LENGTH_MAX = 64;

const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** Random bytes that are given out once: what was handed over is wiped from the pool. */
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

/** Randomness of this machine; `uniform` is for jitter, `bytes` for secrets. */
export const systemRandom: Random = {
  uniform: () => Math.random(),
  bytes: (length) => (length <= POOLED_LENGTH_MAX ? pooledBytes(length) : randomBytes(length)),
};
