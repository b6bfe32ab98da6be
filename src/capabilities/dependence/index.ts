/** How the answers of markets depend on each other, and which liquid markets are tied to a market. */
export { answerCorrelation, jointOf } from "./joint.ts";
export {
  findLogicalDependence,
  findTies,
  LOGICAL_DEPENDENCES,
  type LogicalDependence,
  type LogicPorts,
} from "./logical.ts";
export { createTiedMarkets, type TiedMarket, type TiedMarkets } from "./tied-markets.ts";
