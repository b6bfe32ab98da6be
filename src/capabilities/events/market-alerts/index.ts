/**
 * Market alerts: price shifts and exceptionally large trades, detected in the live prices and trades of ingest and
 * written to the event log.
 */
export { type AlertLimits, DEFAULT_ALERT_LIMITS } from "./model.ts";
export { type AlertFigures, createMarketAlerts } from "./service.ts";
