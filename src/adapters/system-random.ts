import { randomBytes } from "node:crypto";
import type { Random } from "../ports/random.ts";

/** Randomness of this machine; `uniform` is for jitter, `bytes` for secrets. */
export const systemRandom: Random = {
  uniform: () => Math.random(),
  bytes: (length) => randomBytes(length),
};
