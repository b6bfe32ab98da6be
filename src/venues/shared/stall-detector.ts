import type { Clock } from "../../ports/clock.ts";

/** Allowed silence before the first gap is measured. */
const SILENCE_MS_INITIAL = 5 * 60_000;
/** Minimum allowed silence, because shorter silences are normal for any set of markets. */
const SILENCE_MS_MIN = 60_000;
const SILENCE_MS_MAX = 30 * 60_000;
/**
 * Allowed silence as a multiple of the average gap between messages. The factor is high because trades arrive in
 * bursts.
 */
const GAP_FACTOR = 40;
/** Messages closer together than this count as one, because a burst of snapshots does not indicate a high rate. */
const BURST_MS = 1_000;
/** Weight of the newest gap in the moving average. */
const NEWEST_WEIGHT = 0.02;

/**
 * Detects a stream whose connection is alive (pings are answered) but whose market data has stopped: the silence is far
 * longer than the average gap between messages. After each alarm the allowed silence doubles until a message arrives.
 */
export class StallDetector {
  readonly #clock: Clock;
  #averageGapMs: number | null = null;
  /** Monotonic time of the first message of the latest burst; null before the first message. */
  #burstStartedAt: number | null = null;
  #silentSince: number;
  #backoffFactor = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#silentSince = clock.monotonic();
  }

  /** Records a message about a market. */
  recordMessage(): void {
    const now = this.#clock.monotonic();
    const gapMs = this.#burstStartedAt === null ? null : now - this.#burstStartedAt;
    if (gapMs === null || gapMs >= BURST_MS) {
      if (gapMs !== null) this.#addGap(gapMs);
      this.#burstStartedAt = now;
    }
    this.#silentSince = now;
    this.#backoffFactor = 1;
  }

  /** Restarts the measurement, for example after a reconnect. The current gap is discarded. */
  restart(): void {
    this.#burstStartedAt = null;
    this.#silentSince = this.#clock.monotonic();
  }

  /** Milliseconds since the latest message, restart or alarm. */
  get silentMs(): number {
    return this.#clock.monotonic() - this.#silentSince;
  }

  /** Allowed silence in milliseconds. */
  get silenceMsMax(): number {
    const allowedMs = this.#averageGapMs === null ? SILENCE_MS_INITIAL : GAP_FACTOR * this.#averageGapMs;
    return Math.min(SILENCE_MS_MAX, Math.max(SILENCE_MS_MIN, allowedMs) * this.#backoffFactor);
  }

  /** Returns true once for each silence that is too long, and doubles the allowed silence. */
  detectStall(): boolean {
    if (this.silentMs <= this.silenceMsMax) return false;
    this.#backoffFactor = Math.min(this.#backoffFactor * 2, 32);
    // The silence is recorded as a gap, because it may be normal for these markets and `restart` discards the current
    // gap.
    this.#addGap(this.silentMs);
    this.restart();
    return true;
  }

  #addGap(gapMs: number): void {
    const gap = Math.min(gapMs, SILENCE_MS_MAX);
    this.#averageGapMs =
      this.#averageGapMs === null ? gap : this.#averageGapMs + NEWEST_WEIGHT * (gap - this.#averageGapMs);
  }
}
