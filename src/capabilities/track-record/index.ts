/** The track record: the shadow book of every recommended trade, how markets were settled, and the performance. */
export type { BookReport, Verification } from "./model.ts";
export { createShadowPerformance, type ShadowPerformance } from "./performance.ts";
export { performanceRoutes } from "./routes.ts";
export { createShadowBook, type ShadowBook } from "./shadow-book.ts";
