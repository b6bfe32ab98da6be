/** Markets: lists, single markets, history, events and sentiment, answered from the market board and the store. */
export { marketRoutes } from "./routes.ts";
export { createMarketsService } from "./service.ts";
