/** Randomness, injected so that tests control it. */
export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Unpredictable bytes for keys and ids. */
  bytes(length: number): Uint8Array;
}
