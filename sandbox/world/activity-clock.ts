export type ActivityClock = ReturnType<typeof createActivityClock>;

/**
 * Converts between wall-clock time and the simulated time of trades and price moves (activity time). Both are equal until
 * `genesis`. Afterwards activity time advances `speed` times as fast.
 *
 * @param genesis  when the simulation starts, Unix milliseconds
 */
export function createActivityClock(genesis: number, speed: number) {
  return {
    toActivity: (wall: number) => (wall <= genesis ? wall : genesis + (wall - genesis) * speed),
    toWall: (activity: number) => (activity <= genesis ? activity : genesis + (activity - genesis) / speed),
  };
}
