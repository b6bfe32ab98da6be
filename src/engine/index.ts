/** Estimates the probability of a market from its price and other factors. Pure functions of a `MarketView`. */

export type { PricePoint } from "../domain/trade.ts";
export { type Analysis, analyse } from "./analysis.ts";
export { type Estimate, estimate, type LogOddsChange } from "./estimate.ts";
export { coherentLogOdds, type EventLogic, type LegEstimate, siblingGaps } from "./event-logic.ts";
export { EDGE_MIN, executableEdges, recommend } from "./executable-edge.ts";
export { peerGapOf } from "./factors/cross-venue.ts";
export { formatNumber, formatOrderPrice, formatPercent, formatPoints, formatPrice } from "./format.ts";
export { toLogOdds, toProbability } from "./log-odds.ts";
export type {
  BookView,
  ConsensusView,
  EngineCoefficients,
  EventView,
  LegView,
  MarketView,
  PeerView,
  PriceGaps,
  PriceKind,
  QuotePoint,
  ResearchView,
  TradePoint,
} from "./model.ts";
export { ENGINE_COEFFICIENTS } from "./model-data.ts";
export {
  type EstimateChanges,
  haveInputsMoved,
  type PricedEstimate,
  priceEstimate,
  reestimate,
} from "./reestimate.ts";
export { isBound, positiveSpreadOf, priorFigures } from "./reference-price.ts";
export type { Scenario } from "./scenarios.ts";
