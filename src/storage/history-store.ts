import type { Database } from "../ports/database.ts";
import { priceDayAgo, readHistory, readRange } from "./read-history.ts";
import { applyRetention } from "./retention.ts";
import { rollUp } from "./roll-up.ts";
import { readCoverage, saveVenueHistory } from "./venue-history.ts";

/** Price history of one database. Times are Unix milliseconds; prices are in [0, 1]. */
export function createHistoryStore(database: Database) {
  return {
    readHistory: readHistory.bind(null, database),
    readRange: readRange.bind(null, database),
    saveVenueHistory: saveVenueHistory.bind(null, database),
    coverage: readCoverage.bind(null, database),
    priceDayAgo: priceDayAgo.bind(null, database),
    rollUp: rollUp.bind(null, database),
    applyRetention: applyRetention.bind(null, database),
  };
}

export type HistoryStore = ReturnType<typeof createHistoryStore>;
