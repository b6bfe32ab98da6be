import type { AppPorts } from "../app/index.ts";
import type { Config } from "../config/config.ts";

/** Settings of the process that reading the venues depends on. */
export type IngestConfig = Pick<
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

export function ingestSettings(
  config: IngestConfig,
): Pick<AppPorts, "alertLimits" | "eventDays" | "retention" | "storeBytesMax"> {
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
