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
/** Messages within this time count as one, because a burst of snapshots does not indicate a high message rate. */
const BURST_MS = 1_000;
/** Weight of the newest gap in the moving average. */
const NEWEST_WEIGHT = 0.02;

export type StallDetector = ReturnType<typeof createStallDetector>;

/**
 * Detects a stream whose connection is alive (pings are answered) but whose market data has stopped: the silence is far
 * longer than the average gap between messages. After each alarm the allowed silence doubles until a message arrives.
 */
export function createStallDetector(clock: Clock) {
  let averageGapMs: number | null = null;
  /** Monotonic time of the first message of the latest burst; null before the first message. */
  let burstStartedAt: number | null = null;
  let silentSince = clock.monotonic();
  let backoffFactor = 1;

  const silentMs = () => clock.monotonic() - silentSince;
  const silenceMsMax = () => {
    const allowedMs = averageGapMs === null ? SILENCE_MS_INITIAL : GAP_FACTOR * averageGapMs;
    return Math.min(SILENCE_MS_MAX, Math.max(SILENCE_MS_MIN, allowedMs) * backoffFactor);
  };

  const addGap = (gapMs: number): void => {
    const gap = Math.min(gapMs, SILENCE_MS_MAX);
    averageGapMs = averageGapMs === null ? gap : averageGapMs + NEWEST_WEIGHT * (gap - averageGapMs);
  };
  /** Restarts the measurement, for example after a reconnect. The current gap is discarded. */
  const restart = (): void => {
    burstStartedAt = null;
    silentSince = clock.monotonic();
  };

  return {
    restart,
    /** Records a message about a market. */
    recordMessage(): void {
      const now = clock.monotonic();
      const gapMs = burstStartedAt === null ? null : now - burstStartedAt;
      if (gapMs === null || gapMs >= BURST_MS) {
        if (gapMs !== null) addGap(gapMs);
        burstStartedAt = now;
      }
      silentSince = now;
      backoffFactor = 1;
    },
    /** Milliseconds since the latest message, restart or alarm. */
    silentMs,
    /** Allowed silence in milliseconds. */
    silenceMsMax,
    /** Returns true once for each silence that is too long, and doubles the allowed silence. */
    detectStall(): boolean {
      if (silentMs() <= silenceMsMax()) return false;
      backoffFactor = Math.min(backoffFactor * 2, 32);
      // The silence is recorded as a gap, because it may be normal for these markets and `restart` discards the current
      // gap.
      addGap(silentMs());
      restart();
      return true;
    },
  };
}
