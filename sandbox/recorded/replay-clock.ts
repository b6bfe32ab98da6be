/** Maps times of a recording to the wall clock. */
export interface ReplayClock {
  /** The time in the recording that is replayed at genesis. */
  readonly pivotAt: number;
  /** Whole milliseconds; monotone. */
  toWall(recordedAt: number): number;
}

export interface ReplayOptions {
  /** Unix milliseconds of the first start. */
  readonly genesis: number;
  /** Replay speed after genesis relative to the recording. At least 1. */
  readonly speed: number;
  /** Share of the recording before genesis, in [0, 1]. That part keeps its recorded pace. */
  readonly pastShare: number;
}

/** @param span  first and last time of the recording */
export function replayClock(
  span: { readonly startedAt: number; readonly endedAt: number },
  { genesis, speed, pastShare }: ReplayOptions,
): ReplayClock {
  const pivotAt = Math.round(span.startedAt + (span.endedAt - span.startedAt) * pastShare);
  return {
    pivotAt,
    toWall: (recordedAt) =>
      Math.round(genesis + (recordedAt <= pivotAt ? recordedAt - pivotAt : (recordedAt - pivotAt) / speed)),
  };
}
