/** The caller's own books: trades that it reported (live) and trades that it entered on paper (shadow). */
export { createPaperTrades } from "./paper-trades.ts";
export { PAPER_TRADE_DATA } from "./queries.ts";
export { portfolioRoutes } from "./routes.ts";
export { createPortfolioService } from "./service.ts";
