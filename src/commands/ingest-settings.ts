import type { AppPorts } from "../app/index.ts";
import type { Config } from "../config/config.ts";

/** The part of the configuration from which the settings of the ingest follow. */
type IngestConfig = Pick<
  Config,
  | "alertLimits"
  | "eventDays"
  | "rawTickDays"
  | "tradeDays"
  | "fiveMinuteBarDays"
  | "settledMarketDays"
  | "databaseUrl"
  | "storeMaxMib"
>;

export type IngestSettings = Pick<AppPorts, "alertLimits" | "eventDays" | "retention" | "storeBytesMax">;

/** Returns the settings of the ingest as plain data, which can be sent to another thread. */
export function ingestSettings(config: IngestConfig): IngestSettings {
  return {
    alertLimits: config.alertLimits,
    eventDays: config.eventDays,
    retention: {
      tickDays: config.rawTickDays,
      tradeDays: config.tradeDays,
      fiveMinuteBarDays: config.fiveMinuteBarDays,
      settledMarketDays: config.settledMarketDays,
    },
    storeBytesMax: config.databaseUrl === null && config.storeMaxMib > 0 ? config.storeMaxMib * 2 ** 20 : null,
  };
}
