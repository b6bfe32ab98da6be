/** Trading signals, position sizes, portfolios, and the profit of trades. Pure functions. */

export {
  payoutOf,
  profitOf,
  replayTradeHistory,
  sidePrice,
  startOfUtcDate,
  sumTrades,
  sumUsd,
  type TradeResult,
  utcDate,
  type Valuation,
} from "./book.ts";
export { buy, buyForUsd } from "./fill.ts";
export {
  type Lot,
  lotPerformance,
  matchLots,
  openPositions,
  type Position,
  realisedPnlUsd,
} from "./lots.ts";
export {
  type DailyMark,
  type DayTotals,
  type Fill,
  type Performance,
  REFERENCE_BANKROLL_USD,
  type Settlement,
  type ShadowEntry,
  SIZE_CAPS,
  type Signal,
  type SizingOptions,
  type Trade,
  type TradeCandidate,
  type TradeTotals,
} from "./model.ts";
export { fillPaperOrder } from "./paper-order.ts";
export { summarisePerformance } from "./performance.ts";
export {
  advisePosition,
  type HedgeCandidate,
  type HeldPosition,
  type LogicalConstraint,
  type OppositeOffer,
  POSITION_ACTIONS,
  type PortfolioSize,
  type PortfolioTask,
  type PositionAdvice,
  type SizeLimit,
  sizePosition,
} from "./portfolio/index.ts";
export { decideSignal, decideTrade, findTradeCandidate, type SignalInput } from "./signal.ts";
export { shadedProbability } from "./size-candidate.ts";
