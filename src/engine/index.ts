/** Estimates the probability of a market from its price and other factors. Pure: all data is in the view. */
export {
  type Analysis,
  analyse,
  type CausalFactor,
  type Recommendation,
  type RiskRating,
  type Scenario,
} from "./analysis.ts";
export { type Estimate, estimate, type FactorStep } from "./estimate.ts";
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
export { viewAt } from "./view.ts";
