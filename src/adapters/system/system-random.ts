import { randomBytes, randomFillSync } from "node:crypto";
import type { Random } from "../../ports/random.ts";

/** Size of the pool of random bytes. One system call fills the pool, because a system call per id would be slow. */
const POOL_BYTES = 4_096;
const POOLED_LENGTH_MAX = 64;

const randomPool = new Uint8Array(POOL_BYTES);
let usedBytes = POOL_BYTES;

/** Returns random bytes from the pool and erases them, so that none is returned twice. */
function takePooledBytes(length: number): Uint8Array {
  if (usedBytes + length > POOL_BYTES) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  const bytes = randomPool.slice(usedBytes, usedBytes + length);
  randomPool.fill(0, usedBytes, usedBytes + length);
  usedBytes += length;
  return bytes;
}

/** The system's random sources: `uniform` for jitter, `bytes` for secrets. */
export const systemRandom: Random = {
  uniform: () => Math.random(),
  bytes: (length) => (length <= POOLED_LENGTH_MAX ? takePooledBytes(length) : randomBytes(length)),
};
