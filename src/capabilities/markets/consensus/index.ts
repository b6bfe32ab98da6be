/** Trades reported by agents, and the probability that the trades in a market imply. */
export { REPORT_RETENTION_MS, SIZE_USD_MAX, SIZE_USD_MIN } from "./model.ts";
export { REPORT_DATA, selectReportsOf } from "./queries.ts";
export { consensusRoutes } from "./routes.ts";
export { createConsensusService, readConsensus } from "./service.ts";
