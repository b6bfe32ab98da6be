/** Converts between wall-clock time and activity time, which runs faster by the factor `speed` after genesis. */
export interface ActivityClock {
  toActivity(wall: number): number;
  toWall(activity: number): number;
}

/** @param genesis Unix milliseconds; wall-clock time and activity time are equal up to genesis */
export function createActivityClock(genesis: number, speed: number): ActivityClock {
  return {
    toActivity: (wall) => (wall <= genesis ? wall : genesis + (wall - genesis) * speed),
    toWall: (activity) => (activity <= genesis ? activity : genesis + (activity - genesis) / speed),
  };
}
