import { HOUR_MS } from "../../lib/durations.ts";
import { formatPercent } from "../format.ts";
import { toLogOdds } from "../log-odds.ts";
import type { Factor } from "../model.ts";

/** Age at which a research result has half of its confidence. */
const HALF_LIFE_MS = 48 * HOUR_MS;

/**
 * Research by a language model, which does not get the price. lambda = log-odds of the pooled estimate minus log-odds
 * of the prior; the confidence halves every 48 hours.
 *
 * @see Halawi et al. (2024), "Approaching Human-Level Forecasting with Language Models", section 6 (blends with the
 *   crowd)
 */
export const research: Factor = {
  name: "research",
  evaluate({ research: found, asOf }, prior) {
    if (found === null) return null;
    return {
      claim: `Research in ${found.trials} independent trials, which did not see the price, estimates ${formatPercent(found.probability)}%.`,
      evidence: found.evidence,
      lambda: toLogOdds(found.probability) - prior.logOdds,
      standardError: found.standardError,
      confidence: 0.5 ** (Math.max(0, asOf - found.at) / HALF_LIFE_MS),
    };
  },
};
