export type ActivityClock = ReturnType<typeof createActivityClock>;

/**
 * Converts between wall-clock time and activity time, which runs faster by the factor `speed` after genesis.
 *
 * @param genesis Unix milliseconds; wall-clock time and activity time are equal up to genesis
 */
export function createActivityClock(genesis: number, speed: number) {
  return {
    toActivity: (wall: number) => (wall <= genesis ? wall : genesis + (wall - genesis) * speed),
    toWall: (activity: number) => (activity <= genesis ? activity : genesis + (activity - genesis) / speed),
  };
}
