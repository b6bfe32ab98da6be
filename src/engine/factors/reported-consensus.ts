import { formatPercent } from "../format.ts";
import { toLogOdds } from "../log-odds.ts";
import type { Factor } from "../model.ts";

/** Number of agents at which the factor has half of its confidence. */
const AGENTS_OF_HALF_CONFIDENCE = 20;

/**
 * The robust consensus of reported trades, which limits the weight of each agent. lambda = log-odds of the consensus
 * minus log-odds of the prior; confidence = n / (n + 20) for n agents.
 */
export const reportedConsensus: Factor = {
  name: "reported_consensus",
  evaluate({ consensus }, prior) {
    if (consensus === null || consensus.agents === 0) return null;
    const { probability, agents, trades } = consensus;
    return {
      claim: `The trades that ${agents} agents reported imply ${formatPercent(probability)}%.`,
      evidence: [`Robust consensus of ${trades} reported trades: ${formatPercent(probability)}%.`],
      lambda: toLogOdds(probability) - prior.logOdds,
      standardError: 1 / Math.sqrt(agents),
      confidence: agents / (agents + AGENTS_OF_HALF_CONFIDENCE),
    };
  },
};
