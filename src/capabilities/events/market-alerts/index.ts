/** Detects price shifts and exceptionally large trades in live data, and writes them to the event log. */
export { type AlertLimits, DEFAULT_ALERT_LIMITS } from "./model.ts";
export { type AlertFigures, createMarketAlerts } from "./service.ts";
