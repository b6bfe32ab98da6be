/** Dependence between the answers of markets, and the liquid markets that depend on a market. */
export { answerCorrelation, conditionOn } from "./joint.ts";
export {
  findLogicalConstraints,
  findLogicalRelation,
  LOGICAL_RELATIONS,
  type LogicalRelation,
} from "./logical.ts";
export { createRelatedMarkets, type RelatedMarket, type RelatedMarkets } from "./related-markets.ts";
