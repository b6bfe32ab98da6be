/** The market board: the current state of all markets in memory, indexed for lists and search. */
export { MarketBoard } from "./board.ts";
export { findIncompleteSetReason, INCOMPLETE_SET_REASONS } from "./complete-set.ts";
export { EVENT_STATUSES, type EventQuery, type EventStatus } from "./event-index.ts";
export {
  type BoardChange,
  type BoardEvent,
  type BoardMarket,
  type CategorySummary,
  eventSlug,
  eventSlugOf,
  type MarketObserver,
  type MarketQuery,
  priceChange24h,
  type QuestionMatch,
  SORT_KEYS,
  type SortKey,
} from "./model.ts";
