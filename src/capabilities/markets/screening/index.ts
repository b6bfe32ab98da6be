/** Screening: scores all active markets and returns the markets with the highest scores. */
export { screeningRoutes } from "./routes.ts";
export { createScreeningService } from "./service.ts";
