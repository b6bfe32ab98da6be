/** How the answers of markets depend on each other, and which liquid markets are tied to a market. */
export { answerCorrelation, jointOf } from "./joint.ts";
export {
  findLogicalDependence,
  findTies,
  LOGICAL_DEPENDENCES,
  type LogicPorts,
} from "./logical.ts";
export { createTiedMarkets, type TiedMarkets } from "./tied-markets.ts";
