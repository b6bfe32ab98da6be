import { formatNumber, formatPercent } from "../format.ts";
import type { Factor } from "../model.ts";

/**
 * Favourite-longshot bias: prices near 0 and 1 are not extreme enough. lambda = sign(L) max(|L| - from, 0), where L are the
 * log-odds of the prior. Only for the kinds of prices for which the fit found the bias.
 *
 * @see Page & Clemen (2013), "Do Prediction Markets Produce Well-Calibrated Probability Forecasts?", Economic Journal 123
 */
export const calibration: Factor = {
  name: "calibration",
  read({ kind }, { logOdds, probability }, { tail }) {
    const excess = Math.max(Math.abs(logOdds) - tail.from, 0);
    if (excess === 0 || !tail.kinds.includes(kind)) return null;
    const side = logOdds > 0 ? "YES" : "NO";
    const share = formatPercent(Math.max(probability, 1 - probability));
    return {
      claim: `Markets that give ${share}% to ${side} have resolved ${side} somewhat more often than that.`,
      evidence: [
        `Fit on resolved markets: log-odds beyond ${formatNumber(tail.from)} are stretched; here they exceed it by ${formatNumber(excess)}.`,
      ],
      lambda: Math.sign(logOdds) * excess,
      standardError: 0,
      confidence: 1,
    };
  },
};
