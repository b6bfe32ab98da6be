import type { MarketsDependencies } from "../../../src/capabilities/markets/market-data/service.ts";

/** Matching that has found nothing. */
export const NO_MATCHES: MarketsDependencies["matches"] = { alsoOnOf: () => null, eventPairsOf: () => [] };
