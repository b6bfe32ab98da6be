/** The caller's own books: trades that it reported (live) and trades that it entered on paper (shadow). */
export { createPaperTrades } from "./paper-trades.ts";
export { deletePaperTrades, deletePaperTradesBefore } from "./queries.ts";
export { portfolioRoutes } from "./routes.ts";
export { createPortfolioService, type PortfolioService } from "./service.ts";
