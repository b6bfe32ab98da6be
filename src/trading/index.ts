/** From probability to action: signals, sizes, portfolios and books of trades. Pure. */

export {
  type BookReplay,
  costOf,
  payoutOf,
  profitOf,
  replayBook,
  startOfUtcDate,
  sumUsd,
  type TradeResult,
  totalBook,
  utcDate,
  type Valuation,
} from "./book.ts";
export { buy, buyForUsd, type Purchase } from "./fill.ts";
export {
  type BookTotals,
  type DayTotals,
  type Fill,
  type Mark,
  type Offer,
  type Performance,
  REFERENCE_BANKROLL_USD,
  type Settlement,
  type ShadowEntry,
  type Side,
  type Signal,
  type SizingOptions,
  type Trade,
} from "./model.ts";
export { summarise } from "./performance.ts";
export {
  type Candidate,
  decideSignal,
  findCandidate,
  offersOf,
  type SignalInput,
  shadedProbability,
  sizeCandidate,
  targetPriceOf,
} from "./signal.ts";
