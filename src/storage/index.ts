/**
 * Stores market data in the database: markets, price changes (ticks), bars made from ticks or fetched from the venue,
 * and trades. Reads the price history of a market.
 */

export { type ChangeCursor, type ChangeStore, type CurrentQuote, createChangeStore } from "./change-store.ts";
export { createHistoryStore, type HistoryStore } from "./history-store.ts";
export { EVENT_MARKET_ID_LENGTH_MAX } from "./market-resolved.ts";
export { createMarketStore, type MarketStore, type StatusChange, type TradePosition } from "./market-store.ts";
export { type MarketWideTrend, readMarketWideTrend } from "./market-trend.ts";
export {
  type Candle,
  type HistoryFetcher,
  type HistoryPeriod,
  type MarketTrade,
  type PastPrices,
  type PriceHistory,
  type Tick,
  type VenueFence,
  venueLeaseName,
} from "./model.ts";
export { StoredPastPrices } from "./past-prices.ts";
export { type DailyPriceRange, readDailyPrices } from "./readers/daily-prices.ts";
export { readHourlyCloses } from "./readers/hourly-closes.ts";
export { type LastHour, readLastHour } from "./readers/last-hour.ts";
export { readPricesAt } from "./readers/price-at.ts";
export { type PriceSeries, readPriceSeries, seriesBarMs } from "./readers/price-series.ts";
export { type QuoteTicks, readQuoteTicks } from "./readers/quote-ticks.ts";
export { readRecentTrades, readTradeAmounts } from "./readers/recent-trades.ts";
export { readSettledMarkets, type SettledMarket } from "./readers/settled-markets.ts";
export { DEFAULT_RETENTION, planRetention, type RetentionDays } from "./retention.ts";
export { reclaimSpace } from "./store-size.ts";
export { createTickWriter, type TickWriter } from "./tick-writer.ts";
