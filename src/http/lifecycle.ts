import type { FastifyInstance } from "fastify";
import type { Clock } from "../ports/clock.ts";

/** starting: does not serve requests yet. draining: finishes open requests and accepts no new connections. */
type LifecycleState = "starting" | "ready" | "draining";

/** The state that readiness probes report. */
export class Lifecycle {
  #state: LifecycleState = "starting";

  get state(): LifecycleState {
    return this.#state;
  }

  /** Has no effect if the server is draining. */
  markReady(): void {
    if (this.#state === "starting") this.#state = "ready";
  }

  markDraining(): void {
    this.#state = "draining";
  }
}

/**
 * Stops a server gracefully: readiness changes immediately; after `graceMs` the server accepts no new connections,
 * sends `Connection: close`, closes idle connections and lets open requests finish until the deadline. `preClose` hooks
 * close open streams.
 *
 * @param options.deadlineMs  time for open requests to finish before their connections are closed
 * @param options.graceMs  time to keep accepting requests, so that load balancers stop routing first
 */
export async function drain(
  app: FastifyInstance,
  options: { readonly clock: Clock; readonly deadlineMs: number; readonly graceMs?: number },
): Promise<void> {
  const { clock, deadlineMs, graceMs = 0 } = options;
  app.lifecycle.markDraining();
  if (graceMs > 0) await clock.sleep(graceMs);
  const cancel = clock.setTimeout(() => app.server.closeAllConnections(), deadlineMs);
  try {
    await app.close();
  } finally {
    cancel();
  }
}
