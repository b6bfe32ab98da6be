import type { PricePoint } from "../../domain/trade.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { formatPercent, formatPrice } from "../format.ts";
import { toLogOdds } from "../log-odds.ts";
import type { Factor, MarketView } from "../model.ts";

/** The hazard is computed from the price of a week ago, or from the oldest price that is at least a day old. */
const LOOK_BACK_MS = 7 * DAY_MS;
const LOOK_BACK_MS_MIN = DAY_MS;
/** Minimum time until the deadline. With less, the factor does not apply, because the model's log-odds diverge. */
const TIME_LEFT_MS_MIN = DAY_MS / 4;

/**
 * "Will it happen by date T": at a constant hazard, a price q at the earlier time s implies p = 1 - (1 - q)^((T - t) /
 * (T - s)) at the time t if nothing has happened. lambda = log-odds of p minus log-odds of the prior; below 0 if the
 * price has decayed less than the model.
 *
 * @see Cox & Oakes (1984), "Analysis of Survival Data", section 2.2 (exponential distribution)
 */
export const timeDecay: Factor = {
  name: "time_decay",
  evaluate(view, prior) {
    const { deadlineAt, asOf } = view;
    const earlier = earlierPrice(view);
    if (deadlineAt === null || earlier === null || deadlineAt - asOf < TIME_LEFT_MS_MIN) return null;
    const days = (asOf - earlier.at) / DAY_MS;
    const share = (deadlineAt - asOf) / (deadlineAt - earlier.at);
    const probability = 1 - (1 - earlier.yesPrice) ** share;
    return {
      claim: `If nothing has happened since, the price of ${formatPrice(earlier.yesPrice)} of ${days.toFixed(1)} days ago decays to ${formatPercent(probability)}% at a constant hazard.`,
      evidence: [
        `Of the time from then to the deadline, ${formatPercent(share)}% is left.`,
        `The price is now ${formatPrice(prior.probability)}.`,
      ],
      lambda: toLogOdds(probability) - prior.logOdds,
      standardError: prior.standardError,
      confidence: prior.confidence,
    };
  },
};

/** Returns the last price that is at least a week old, else the oldest price that is at least a day old. */
function earlierPrice({ prices, asOf }: MarketView): PricePoint | null {
  const weekOld = prices.findLast(({ at }) => at <= asOf - LOOK_BACK_MS);
  if (weekOld !== undefined) return weekOld;
  const oldest = prices[0];
  return oldest !== undefined && oldest.at <= asOf - LOOK_BACK_MS_MIN ? oldest : null;
}
