/**
 * Closed until `failuresMax` failures in a row, then open: calls fail at once. After `openMs` one probe is let through;
 * its success closes the circuit, its failure opens it for twice as long, up to `openMsMax`.
 */
export class CircuitBreaker {
  readonly #failuresMax: number;
  readonly #openMsMin: number;
  readonly #openMsMax: number;
  #failures = 0;
  #openMs: number;
  #openUntil = 0;
  #probing = false;

  constructor(options: { failuresMax: number; openMs: number; openMsMax: number }) {
    this.#failuresMax = options.failuresMax;
    this.#openMsMin = options.openMs;
    this.#openMsMax = options.openMsMax;
    this.#openMs = options.openMs;
  }

  /** Whether a call may go out now; a half-open circuit lets one through. */
  allows(now: number): boolean {
    if (this.#failures < this.#failuresMax) return true;
    if (now < this.#openUntil || this.#probing) return false;
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openMs = this.#openMsMin;
    this.#probing = false;
  }

  failed(now: number): void {
    this.#failures += 1;
    if (this.#failures < this.#failuresMax) return;
    if (this.#probing) this.#openMs = Math.min(this.#openMs * 2, this.#openMsMax);
    this.#probing = false;
    this.#openUntil = now + this.#openMs;
  }

  /** A probe that ended without a verdict (the caller gave up) lets the next one through. */
  abandoned(): void {
    this.#probing = false;
  }
}
