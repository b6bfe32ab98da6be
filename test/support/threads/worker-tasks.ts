import { threadId } from "node:worker_threads";
import type { WorkerModule } from "../../../src/ports/worker-pool.ts";

export type SampleTask =
  | { readonly kind: "sum"; readonly values: Float64Array<ArrayBuffer> }
  | { readonly kind: "thread" }
  | { readonly kind: "throw" }
  | { readonly kind: "exit" }
  | { readonly kind: "loop" };

/** Module of worker threads for tests: returns a sum or the thread's number, fails, ends its thread or never ends. */
export const runTask: WorkerModule<SampleTask, number>["runTask"] = (task) => {
  if (task.kind === "throw") throw new Error("the task failed");
  if (task.kind === "exit") process.exit(3);
  if (task.kind === "thread") return { result: threadId, transfer: [] };
  while (task.kind === "loop");
  return { result: task.values.reduce((sum, value) => sum + value, 0), transfer: [] };
};
