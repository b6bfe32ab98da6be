/** The market board: the current state of all markets of all venues, in memory, indexed for lists and search. */
export { MarketBoard } from "./board.ts";
export type { EventQuery } from "./event-index.ts";
export {
  type BoardChange,
  type BoardEvent,
  type BoardMarket,
  eventSlug,
  type MarketQuery,
  priceChange24h,
  SORT_KEYS,
} from "./model.ts";
