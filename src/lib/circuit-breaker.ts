/**
 * A circuit breaker. It opens after `failuresMax` consecutive failures and then refuses calls. After `openMs` it allows
 * one probe: success closes the circuit, failure opens it for twice as long, up to `openMsMax`.
 */
export class CircuitBreaker {
  readonly #failuresMax: number;
  readonly #openMsMin: number;
  readonly #openMsMax: number;
  #failures = 0;
  #openMs: number;
  #openUntil = 0;
  #isProbing = false;

  constructor(options: { failuresMax: number; openMs: number; openMsMax: number }) {
    this.#failuresMax = options.failuresMax;
    this.#openMsMin = options.openMs;
    this.#openMsMax = options.openMsMax;
    this.#openMs = options.openMs;
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
    this.#openMs = this.#openMsMin;
    this.#isProbing = false;
  }

  recordFailure(now: number): void {
    this.#failures += 1;
    if (this.#failures < this.#failuresMax) return;
    if (this.#isProbing) this.#openMs = Math.min(this.#openMs * 2, this.#openMsMax);
    this.#isProbing = false;
    this.#openUntil = now + this.#openMs;
  }

  /** Ends a probe without a result, for example if it was cancelled. The next call becomes the probe. */
  cancelProbe(): void {
    this.#isProbing = false;
  }
}
