/** Estimates the probability of a market from its price and other factors. Pure: all data is in the view. */
export { type Analysis, analyse, type CausalFactor } from "./analysis.ts";
export { type Estimate, estimate } from "./estimate.ts";
export { EDGE_MIN, executableEdges, recommend } from "./executable-edge.ts";
export { formatPercent, formatPoints, formatPrice } from "./format.ts";
export { toLogOdds, toProbability } from "./log-odds.ts";
export type {
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
export { spreadOf } from "./reference-price.ts";
export type { Scenario } from "./scenarios.ts";
