/** Converts between wall-clock time and activity time, which passes `speed` times as fast after genesis. */
export interface ActivityClock {
  toActivity(wall: number): number;
  toWall(activity: number): number;
}

/** @param genesis Unix milliseconds; both times are equal until then */
export function activityClock(genesis: number, speed: number): ActivityClock {
  return {
    toActivity: (wall) => (wall <= genesis ? wall : genesis + (wall - genesis) * speed),
    toWall: (activity) => (activity <= genesis ? activity : genesis + (activity - genesis) / speed),
  };
}
