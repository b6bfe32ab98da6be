import type { Clock } from "../../ports/clock.ts";

/** A stream that never said anything is given this long. */
const QUIET_MS_UNKNOWN = 5 * 60_000;
/** Shorter silences are usual on any set of markets. */
const QUIET_MS_MIN = 60_000;
const QUIET_MS_MAX = 30 * 60_000;
/** Trading comes in bursts: so many usual gaps without a word are no accident. */
const USUAL_GAPS = 40;
/** Messages closer together than this are one burst: a thousand snapshots at once are no sign of a quick stream. */
const BURST_MS = 1_000;
/** Weight of the newest gap in what is usual. */
const NEWEST_WEIGHT = 0.02;

/**
 * Notices a stream whose connection lives (pings are answered) while its market data has stopped: the silence is far longer
 * than the usual gap between messages of this set of markets. What is usual is learnt; after each alarm that brought
 * nothing the next one waits twice as long.
 */
export class StallDetector {
  readonly #clock: Clock;
  #usualGapMs: number | null = null;
  /** When the latest burst began. */
  #burstAt: number | null = null;
  #since: number;
  #patience = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** A message about a market came. */
  heard(): void {
    const now = this.#clock.monotonic();
    const gapMs = this.#burstAt === null ? null : now - this.#burstAt;
    if (gapMs === null || gapMs >= BURST_MS) {
      if (gapMs !== null) this.#learn(gapMs);
      this.#burstAt = now;
    }
    this.#since = now;
    this.#patience = 1;
  }

  /** The stream begins anew, or what it carries changed: silence counts from now and says nothing of the gap before. */
  restart(): void {
    this.#burstAt = null;
    this.#since = this.#clock.monotonic();
  }

  /** Silence until now, in milliseconds; counted from the latest message, restart or alarm. */
  get silentMs(): number {
    return this.#clock.monotonic() - this.#since;
  }

  /** How much silence is too much now, in milliseconds. */
  get quietMsMax(): number {
    const usualMs = this.#usualGapMs === null ? QUIET_MS_UNKNOWN : USUAL_GAPS * this.#usualGapMs;
    return Math.min(QUIET_MS_MAX, Math.max(QUIET_MS_MIN, usualMs) * this.#patience);
  }

  /** True once for each silence that is too long; the next one is then given twice the time. */
  takeAlarm(): boolean {
    if (this.silentMs <= this.quietMsMax) return false;
    this.#patience = Math.min(this.#patience * 2, 32);
    // It may have been a lull after all, which our asking for snapshots would hide: it counts as a gap.
    this.#learn(this.silentMs);
    this.restart();
    return true;
  }

  #learn(gapMs: number): void {
    const gap = Math.min(gapMs, QUIET_MS_MAX);
    this.#usualGapMs = this.#usualGapMs === null ? gap : this.#usualGapMs + NEWEST_WEIGHT * (gap - this.#usualGapMs);
  }
}
