/** Arbitrage: the same question at different prices, on two venues or within one event. */
export { arbitrageRoutes } from "./routes.ts";
export { createArbitrageService } from "./service.ts";
