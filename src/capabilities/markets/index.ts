/** Markets: the board of what every venue lists now, and the answers made from it. */
export { MarketBoard } from "./board.ts";
export type { PastPrices } from "./history.ts";
export type { BoardChange, BoardMarket } from "./model.ts";
export { marketRoutes } from "./routes.ts";
export { createMarketsService } from "./service.ts";
