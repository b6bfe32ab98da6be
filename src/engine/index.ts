/** Estimates the probability of a market from its price and other factors. Pure: all data is in the view. */
export { type Analysis, analyse, type CausalFactor } from "./analysis.ts";
export { type Estimate, estimate, type FactorStep } from "./estimate.ts";
export { EDGE_MIN, type ExecutableEdge, executableEdges, type Recommendation, recommend } from "./executable-edge.ts";
export { toLogOdds, toProbability } from "./log-odds.ts";
export type {
  ActivityView,
  BookView,
  ConsensusView,
  EngineCoefficients,
  EventView,
  LegView,
  MarketView,
  PeerView,
  PriceKind,
  PricePoint,
  QuotePoint,
  ResearchView,
  TradePoint,
} from "./model.ts";
export { ENGINE_COEFFICIENTS } from "./model-data.ts";
export type { RiskRating } from "./risk.ts";
export type { Scenario } from "./scenarios.ts";
export { viewAt } from "./view.ts";
