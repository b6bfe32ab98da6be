/** Portfolio signals: signals whose size accounts for the caller's positions, and advice on positions. */
export { portfolioSignalRoutes } from "./routes.ts";
export { createPortfolioSignalsService } from "./service.ts";

/** Module of the worker threads that size positions. */
export const PORTFOLIO_WORKER = new URL("./compute.ts", import.meta.url);
