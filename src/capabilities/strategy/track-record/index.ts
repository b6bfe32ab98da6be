/** The track record: the shadow book (all recommended trades), the settlements of markets, and the performance. */
export { hasSkillFigures, type PerformanceReport, type Verification } from "./model.ts";
export { createShadowPerformance } from "./performance.ts";
export { performanceRoutes } from "./routes.ts";
export { createShadowBook } from "./shadow-book.ts";
export { marketColumns } from "./sql.ts";
export { verifyShadowBook } from "./verify.ts";
