export interface ReplayOptions {
  /** Unix milliseconds of the first start. */
  readonly genesis: number;
  /** Speed of the replay after genesis as a multiple of the recorded speed; at least 1. */
  readonly speed: number;
  /** Share of the recording that lies before genesis and is replayed at recorded speed; in [0, 1]. */
  readonly pastShare: number;
}

/**
 * Creates a clock that maps times of a recording to the wall clock.
 *
 * @param timeRange first and last time of the recording, Unix milliseconds
 */
export function createReplayClock(
  timeRange: { readonly startedAt: number; readonly endedAt: number },
  { genesis, speed, pastShare }: ReplayOptions,
) {
  const pivotAt = Math.round(timeRange.startedAt + (timeRange.endedAt - timeRange.startedAt) * pastShare);
  return {
    /** The time in the recording that is replayed at genesis. */
    pivotAt,
    /** Returns the wall-clock time in whole milliseconds; it never decreases if `recordedAt` increases. */
    toWall: (recordedAt: number) =>
      Math.round(genesis + (recordedAt <= pivotAt ? recordedAt - pivotAt : (recordedAt - pivotAt) / speed)),
  };
}
