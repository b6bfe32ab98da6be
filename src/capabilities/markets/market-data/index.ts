/** Public API for markets, events, price history and sentiment, based on the market board and the store. */
export { historySchema } from "./market-data-schema.ts";
export { createMarketFinder } from "./market-finder.ts";
export { presentMarket } from "./present.ts";
export { presentHistory } from "./present-market-data.ts";
export { marketRoutes } from "./routes.ts";
export { createMarketsService, type MarketsService } from "./service.ts";
