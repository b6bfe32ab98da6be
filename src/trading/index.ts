/** Trading signals, position sizes, portfolios, and the profit of trades. Pure functions. */

export {
  payoutOf,
  profitOf,
  replayBook,
  sidePrice,
  startOfUtcDate,
  sumUsd,
  type TradeResult,
  totalBook,
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
  type BookTotals,
  type Candidate,
  type DayTotals,
  type Fill,
  type Mark,
  type Performance,
  REFERENCE_BANKROLL_USD,
  type Settlement,
  type ShadowEntry,
  SIZE_CAPS,
  type Signal,
  type SizingOptions,
  type Trade,
} from "./model.ts";
export { fillPaperOrder } from "./paper-order.ts";
export { summarise } from "./performance.ts";
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
export { decideSignal, decideTrade, findCandidate, type SignalInput } from "./signal.ts";
export { shadedProbability } from "./size-candidate.ts";
