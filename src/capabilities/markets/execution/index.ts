/** Execution guidance for orders in a market, from its order book and its recent quotes. */
export { executionRoutes } from "./routes.ts";
export { createExecutionService } from "./service.ts";
