/**
 * A simulated world that moves about 2,000 prices a second through the real adapters and sockets. How many are truly
 * stored is always measured beside: it depends on the machine as well.
 */
export const LIVELY_WORLD = {
  PARALLAX_SANDBOX_MARKETS: "2000",
  PARALLAX_SANDBOX_SPEED: "600",
  PARALLAX_SANDBOX_LIMITS: "off",
};

export const LIVELY_TICKS_PER_SECOND = 2_000;
