import { setImmediate as nextIteration } from "node:timers/promises";

const WAIT_MS_MAX = 20_000;

/** Waits for a condition, one iteration of the event loop at a time. */
export async function waitUntil(check: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!check()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${check}`);
    await nextIteration();
  }
}
