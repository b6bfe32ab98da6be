/** Randomness, passed in so that tests decide what is drawn. */
export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Unpredictable bytes for keys and ids. */
  bytes(length: number): Uint8Array;
}
