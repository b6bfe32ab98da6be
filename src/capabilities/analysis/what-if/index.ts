/** What-if: the conditional probability of one market, given the outcome of another. */
export { whatIfRoutes } from "./routes.ts";
export { createWhatIfService } from "./service.ts";
