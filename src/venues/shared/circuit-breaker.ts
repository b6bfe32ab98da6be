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

  /** Whether a call is allowed now. Starts a probe if the circuit is half open. */
  allows(now: number): boolean {
    if (this.#failures < this.#failuresMax) return true;
    if (now < this.#openUntil || this.#isProbing) return false;
    this.#isProbing = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openMs = this.#openMsMin;
    this.#isProbing = false;
  }

  failed(now: number): void {
    this.#failures += 1;
    if (this.#failures < this.#failuresMax) return;
    if (this.#isProbing) this.#openMs = Math.min(this.#openMs * 2, this.#openMsMax);
    this.#isProbing = false;
    this.#openUntil = now + this.#openMs;
  }

  /** The caller cancelled the probe, so its result is unknown: the next call becomes the probe. */
  abandoned(): void {
    this.#isProbing = false;
  }
}
