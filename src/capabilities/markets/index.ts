/** Public API for markets, events, price history and sentiment, based on the market board and the store. */
export { marketRoutes } from "./routes.ts";
export { createMarketsService } from "./service.ts";
