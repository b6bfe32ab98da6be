/** What-if: how the probability of one market changes if another one resolves YES. */
export { whatIfRoutes } from "./routes.ts";
export { createWhatIfService } from "./service.ts";
