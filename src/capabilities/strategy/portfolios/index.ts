/** Customers' portfolios: reported trades (live) and paper trades (shadow). */
export { createPaperTrades } from "./paper-trades.ts";
export { PAPER_TRADE_DATA } from "./queries.ts";
export { portfolioRoutes } from "./routes.ts";
export { createPortfolioService } from "./service.ts";
