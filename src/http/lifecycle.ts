import type { Socket } from "node:net";
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

export interface DrainOptions {
  readonly clock: Clock;
  /** Time for open requests to finish before their connections are closed. */
  readonly deadlineMs: number;
  /** Time to keep accepting requests after readiness has changed, so that load balancers stop routing first. */
  readonly graceMs?: number;
}

/**
 * Stops a server gracefully: readiness changes immediately; after `graceMs` the server accepts no new connections,
 * sends `Connection: close`, closes idle connections and lets open requests finish until the deadline. `preClose` hooks
 * close open streams. Repeated calls return the same promise.
 *
 * @returns `hasDisconnected`: whether connections were closed at the deadline
 */
export function drain(app: FastifyInstance, options: DrainOptions): Promise<{ readonly hasDisconnected: boolean }> {
  const result = drainResults.get(app) ?? drainOnce(app, options);
  drainResults.set(app, result);
  return result;
}

const drainResults = new WeakMap<FastifyInstance, Promise<{ readonly hasDisconnected: boolean }>>();

async function drainOnce(app: FastifyInstance, options: DrainOptions): Promise<{ readonly hasDisconnected: boolean }> {
  app.lifecycle.markDraining();
  if ((options.graceMs ?? 0) > 0) await options.clock.sleep(options.graceMs ?? 0);
  let hasDisconnected = false;
  const cancel = options.clock.setTimeout(() => {
    hasDisconnected = true;
    app.server.closeAllConnections();
  }, options.deadlineMs);
  try {
    await app.close();
  } finally {
    cancel();
  }
  return { hasDisconnected };
}

/**
 * Closes connections that never sent a request when the server closes. Node does not treat them as idle, so a spare
 * connection of a browser or load balancer would delay the stop until its deadline.
 */
export function closeUnusedConnections(app: FastifyInstance): void {
  const unusedSockets = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    unusedSockets.add(socket);
    socket.once("close", () => unusedSockets.delete(socket));
  });
  app.server.on("request", ({ socket }: { socket: Socket }) => {
    unusedSockets.delete(socket);
  });
  app.addHook("preClose", (done) => {
    for (const socket of unusedSockets) if (socket.bytesRead === 0) socket.destroy();
    done();
  });
}
