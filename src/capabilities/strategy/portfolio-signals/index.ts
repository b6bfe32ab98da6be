/** Portfolio signals: how much of a market to buy, given the positions that the caller holds. */
export { portfolioSignalRoutes } from "./routes.ts";
export { createPortfolioSignalsService } from "./service.ts";

/** Module of the worker threads that size positions. */
export const PORTFOLIO_WORKER = new URL("./compute.ts", import.meta.url);
