/**
 * What the service remembers of markets: the markets themselves, every change of their prices (ticks), bars made from
 * those or fetched from the venue, trades, and the reading of all that as history.
 */
export { createHistoryStore, type HistoryStore } from "./history-store.ts";
export { createMarketStore, type MarketStore, type StatusChange } from "./market-store.ts";
export { type MarketWideTrend, readMarketWideTrend } from "./market-trend.ts";
export type { HistoryPeriod, MarketHistory, MarketTrade, Tick } from "./model.ts";
export { DEFAULT_RETENTION } from "./retention.ts";
export { createTickWriter, type TickCounters, type TickWriter } from "./tick-writer.ts";
