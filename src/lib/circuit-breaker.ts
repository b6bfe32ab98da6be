/**
 * A circuit breaker. It opens after `failuresMax` consecutive failures and then refuses calls. After `openMs` it allows
 * one probe: success closes the circuit, failure opens it again.
 */
export class CircuitBreaker {
  readonly #failuresMax: number;
  readonly #openMs: number;
  #failures = 0;
  #openUntil = 0;
  #isProbing = false;

  constructor(failuresMax: number, openMs: number) {
    this.#failuresMax = failuresMax;
    this.#openMs = openMs;
  }

  /** Returns whether a call would be allowed now. */
  mayAllow(now: number): boolean {
    return this.#failures < this.#failuresMax || (now >= this.#openUntil && !this.#isProbing);
  }

  /** Returns whether a call is allowed now. If the circuit is half open, this call becomes the probe. */
  allows(now: number): boolean {
    if (!this.mayAllow(now)) return false;
    this.#isProbing = this.#failures >= this.#failuresMax;
    return true;
  }

  recordSuccess(): void {
    this.#failures = 0;
    this.#isProbing = false;
  }

  recordFailure(now: number): void {
    this.#failures += 1;
    if (this.#failures < this.#failuresMax) return;
    this.#isProbing = false;
    this.#openUntil = now + this.#openMs;
  }

  /** Ends a probe without a result, for example if it was cancelled. The next call becomes the probe. */
  cancelProbe(): void {
    this.#isProbing = false;
  }
}
