/** Dependence between the answers of markets, and the liquid markets that depend on a market. */
export { answerCorrelation, conditionOn } from "./joint.ts";
export {
  findLogicalDependence,
  findTies,
  LOGICAL_DEPENDENCES,
  type LogicalDependence,
  type LogicPorts,
} from "./logical.ts";
export { createTiedMarkets, type TiedMarket, type TiedMarkets } from "./tied-markets.ts";
