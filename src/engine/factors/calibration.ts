import { DAY_MS } from "../../lib/durations.ts";
import { formatNumber, formatPercent } from "../format.ts";
import type { Factor } from "../model.ts";

/** Time until the market closes for full confidence. With less time, the confidence is proportionally lower. */
const FULL_CONFIDENCE_MS = 7 * DAY_MS;

/**
 * Favourite-longshot bias: prices near 0 or 1 should be more extreme. lambda = sign(L) max(|L| - from, 0), where L are
 * the log-odds of the prior. Applies only to kinds of prices for which the fit found the bias.
 *
 * The bias grows with the time left, because a bet against an unlikely outcome locks up money until the market closes.
 * The fit finds no bias just before closing. confidence = min(1, time until closing / 7 days). The factor does not
 * apply without a known closing time.
 *
 * @see Page & Clemen (2013), "Do Prediction Markets Produce Well-Calibrated Probability Forecasts?", Economic Journal
 *   123
 */
export const calibration: Factor = {
  name: "calibration",
  evaluate({ kind, closeAt, asOf }, { logOdds, probability }, { tail }) {
    const excess = Math.max(Math.abs(logOdds) - tail.from, 0);
    if (excess === 0 || !tail.kinds.includes(kind)) return null;
    if (closeAt === null || closeAt <= asOf) return null;
    const side = logOdds > 0 ? "YES" : "NO";
    const share = formatPercent(Math.max(probability, 1 - probability));
    const days = formatNumber((closeAt - asOf) / DAY_MS);
    return {
      claim: `Markets that give ${share}% to ${side} days before they close have resolved ${side} somewhat more often than that.`,
      evidence: [
        `Fit on resolved markets: log-odds beyond ${formatNumber(tail.from)} are stretched; here they exceed it by ${formatNumber(excess)}.`,
        `The market closes in ${days} days; the bias is largest a week or more before the close.`,
      ],
      lambda: Math.sign(logOdds) * excess,
      standardError: 0,
      confidence: Math.min(1, (closeAt - asOf) / FULL_CONFIDENCE_MS),
    };
  },
};
