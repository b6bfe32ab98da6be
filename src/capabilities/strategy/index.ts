/** Signals, portfolio signals, portfolios, and the public track record. */
export { registerStrategyRoutes } from "./routes.ts";
export { createTrading, type Trading } from "./trading.ts";
