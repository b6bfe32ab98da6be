import type { WorkerModule } from "../../../ports/worker-pool.ts";
import { type PortfolioSize, type PortfolioTask, sizePosition } from "../../../trading/index.ts";

/** Entry point of the worker threads (`ports/worker-pool.ts`). */
export const runTask: WorkerModule<PortfolioTask, PortfolioSize>["runTask"] = (task) => ({
  result: sizePosition(task),
  transfer: [],
});
