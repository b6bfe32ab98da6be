/** Screening: scores all active markets and returns those that deserve a closer look. */
export { screeningRoutes } from "./routes.ts";
export { createScreeningService } from "./service.ts";
