/** Trades that agents report, and the probability of a market that they imply. */
export { anonymiseReports, deleteOldReports } from "./queries.ts";
export { consensusRoutes } from "./routes.ts";
export { createConsensusService, readConsensus } from "./service.ts";
