import type { MarketsPorts } from "../../../src/capabilities/markets/market-data/service.ts";

/** Matching that has found nothing. */
export const NO_MATCHES: MarketsPorts["matches"] = { alsoOnOf: () => null, eventPairsOf: () => [] };
