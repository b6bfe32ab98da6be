/** Logical relations and correlations of market outcomes, and the liquid markets related to a market. */
export { conditionalProbabilities, outcomeCorrelation } from "./joint.ts";
export {
  findLogicalConstraints,
  findLogicalRelation,
  LOGICAL_RELATIONS,
  type LogicalRelation,
} from "./logical.ts";
export { createRelatedMarkets, type RelatedMarket, type RelatedMarkets } from "./related-markets.ts";
