/** Source of random numbers. It is injected, so that tests can control it. */
export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Unpredictable bytes for keys and ids. */
  bytes(length: number): Uint8Array;
}
