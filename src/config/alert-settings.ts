import type { AlertLimits } from "../capabilities/events/market-alerts/model.ts";
import type { SettingsReader } from "./settings-reader.ts";

const USD_MAX = 1_000_000_000;

/** Reads `PARALLAX_PRICE_SHIFT_*` and `PARALLAX_WHALE_*`. */
export function parseAlertSettings(reader: SettingsReader): AlertLimits {
  return {
    priceShift: {
      minMove: reader.decimal("PARALLAX_PRICE_SHIFT_MIN_MOVE", 0.005, 0.9),
      minSigmas: reader.decimal("PARALLAX_PRICE_SHIFT_MIN_SIGMAS", 1, 100),
      sigmaFloor: reader.decimal("PARALLAX_PRICE_SHIFT_SIGMA_FLOOR", 0.001, 1),
      minHours: reader.integer("PARALLAX_PRICE_SHIFT_MIN_HOURS", 1, 168),
    },
    whale: {
      minUsd: reader.decimal("PARALLAX_WHALE_MIN_USD", 1, USD_MAX),
      percentile: reader.decimal("PARALLAX_WHALE_PERCENTILE", 50, 99.99),
      volumeShare: reader.decimal("PARALLAX_WHALE_VOLUME_SHARE", 0.001, 1),
      shareMinUsd: reader.decimal("PARALLAX_WHALE_SHARE_MIN_USD", 1, USD_MAX),
    },
  };
}
