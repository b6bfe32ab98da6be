/** Markets: the board of what every venue lists now, and the answers made from it. */
export { MarketBoard } from "./board.ts";
export type { HistoryReading, PastPrices } from "./history.ts";
export {
  type BoardChange,
  type BoardEvent,
  type BoardMarket,
  eventSlug,
  type MarketQuery,
  priceChange24h,
  SORT_KEYS,
  type SortKey,
} from "./model.ts";
export { marketRoutes } from "./routes.ts";
export { createMarketsService, type MarketsService } from "./service.ts";
