/** Public API for markets, events, price history and sentiment, based on the market board and the store. */
export { presentMarket } from "./present.ts";
export { marketRoutes } from "./routes.ts";
export { createMarketsService, type MarketsService } from "./service.ts";
