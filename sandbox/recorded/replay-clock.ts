/** Where on the wall clock the instants of a recording lie. */
export interface ReplayClock {
  /** The instant of the recording that plays at genesis. */
  readonly pivotAt: number;
  /** Whole milliseconds; never falls as the argument rises. */
  toWall(recordedAt: number): number;
}

export interface ReplayOptions {
  /** Unix milliseconds of the first start. */
  readonly genesis: number;
  /** From genesis on, the recording passes this many times as fast as it was made. At least 1. */
  readonly speed: number;
  /** Share of the recording that is already past at genesis, in [0, 1]. What is past lies at its own pace. */
  readonly pastShare: number;
}

/** @param span  first and last instant of the recording */
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
