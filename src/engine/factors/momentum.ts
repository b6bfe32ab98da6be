import type { PricePoint } from "../../domain/trade.ts";
import { DAY_MS, HOUR_MS } from "../../lib/durations.ts";
import { clamp } from "../../lib/numbers.ts";
import { formatNumber } from "../format.ts";
import { toLogOdds } from "../log-odds.ts";
import type { Factor, MarketView, Prior } from "../model.ts";

const WINDOWS = [
  { name: "1 h", ms: HOUR_MS },
  { name: "24 h", ms: DAY_MS },
  { name: "7 days", ms: 7 * DAY_MS },
];
/** Period before `asOf` over which the volatility is measured, and its minimum number of moves. */
const VOLATILITY_MS = 30 * DAY_MS;
const MOVES_MIN = 5;
const FULL_CONFIDENCE_MOVES = 20;
const STANDARD_MOVE_MAX = 3;

/**
 * Recent moves of the price, relative to the market's own volatility: z_h = (L(t) - L(t - h)) / (sigma sqrt(h)),
 * limited to [-3, 3], over 1 h, 24 h and 7 days. lambda = sigma * mean of z_h, with sigma the volatility of the
 * log-odds in one day. A positive weight predicts that moves continue, a negative weight that they reverse.
 *
 * @see Jegadeesh & Titman (1993), "Returns to Buying Winners and Selling Losers", Journal of Finance 48(1)
 */
export const momentum: Factor = {
  name: "momentum",
  evaluate(view, prior) {
    const recent = view.prices.filter(({ at }) => at >= view.asOf - VOLATILITY_MS);
    const volatility = volatilityOf(recent);
    if (volatility === null) return null;
    const moves = WINDOWS.flatMap((window) => {
      const move = moveOver(window.ms, view, prior);
      if (move === null) return [];
      const standard = move / (volatility * Math.sqrt(window.ms / DAY_MS));
      return [{ ...window, move, standard: clamp(standard, -STANDARD_MOVE_MAX, STANDARD_MOVE_MAX) }];
    });
    const mean = moves.reduce((sum, { standard }) => sum + standard, 0) / moves.length;
    if (moves.length === 0 || mean === 0) return null;
    return {
      claim: `The price has moved ${formatNumber(mean)} of its usual moves ${mean > 0 ? "towards YES" : "towards NO"}.`,
      evidence: moves.map(
        ({ name, move, standard }) =>
          `Log-odds over ${name}: ${formatNumber(move)}, which is ${formatNumber(standard)} standard moves.`,
      ),
      lambda: volatility * mean,
      standardError: volatility / Math.sqrt(moves.length),
      confidence: Math.min(1, (recent.length - 1) / FULL_CONFIDENCE_MOVES),
    };
  },
};

/** Standard deviation of the daily move of the log-odds; null with too few moves, or if the price never moved. */
function volatilityOf(prices: readonly PricePoint[]): number | null {
  let squares = 0;
  let moves = 0;
  let days = 0;
  let previous: PricePoint | null = null;
  for (const price of prices) {
    if (previous !== null && price.at > previous.at) {
      squares += (toLogOdds(price.yesPrice) - toLogOdds(previous.yesPrice)) ** 2;
      days += (price.at - previous.at) / DAY_MS;
      moves += 1;
    }
    previous = price;
  }
  return moves < MOVES_MIN || squares === 0 ? null : Math.sqrt(squares / days);
}

/** Change of the log-odds over `ms`; null without a price that is between `ms` and 2 `ms` old. */
function moveOver(ms: number, { prices, asOf }: MarketView, { logOdds }: Prior): number | null {
  const before = prices.findLast(({ at }) => at <= asOf - ms);
  return before === undefined || before.at < asOf - 2 * ms ? null : logOdds - toLogOdds(before.yesPrice);
}
