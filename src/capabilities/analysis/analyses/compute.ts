import { type Analysis, analyse, ENGINE_COEFFICIENTS, type MarketView } from "../../../engine/index.ts";
import type { WorkerModule } from "../../../ports/worker-pool.ts";

/** The module with `runTask`, for `OpenWorkerPool`. */
export const ANALYSIS_WORKER_URL = new URL(import.meta.url);

/** Entry point of the worker threads (`ports/worker-pool.ts`). The result is null if the market has no price. */
export const runTask: WorkerModule<MarketView, Analysis | null>["runTask"] = (view) => ({
  result: analyse(view, ENGINE_COEFFICIENTS),
  transfer: [],
});
