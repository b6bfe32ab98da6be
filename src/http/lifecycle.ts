import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../ports/clock.ts";

/** starting: not yet able to answer. ready. draining: finishing what is under way, taking nothing new. */
type LifecycleState = "starting" | "ready" | "draining";

/** Told by readiness probes; changed by the start and by `drain`. */
export interface Lifecycle {
  readonly state: LifecycleState;
  /** Everything needed to answer is there. Without effect once draining. */
  markReady(): void;
  markDraining(): void;
}

export function createLifecycle(): Lifecycle {
  let state: LifecycleState = "starting";
  return {
    get state() {
      return state;
    },
    markReady() {
      if (state === "starting") state = "ready";
    },
    markDraining() {
      state = "draining";
    },
  };
}

export interface DrainOptions {
  readonly clock: Clock;
  /** How long requests under way may take to finish before their connections are cut. */
  readonly deadlineMs: number;
  /** How long to go on accepting while readiness already says no, so that balancers look away first. */
  readonly graceMs?: number;
}

/**
 * Stops a server without failing anyone: readiness flips, after `graceMs` nothing new is accepted, answers say
 * `Connection: close`, idle connections are closed, requests under way finish, the rest is cut at the deadline.
 * Open streams are ended by `preClose` hooks of those who own them. Calling it twice waits for the same end.
 *
 * @returns whether connections had to be cut
 */
export function drain(app: FastifyInstance, options: DrainOptions): Promise<{ readonly cut: boolean }> {
  const running = drains.get(app);
  if (running !== undefined) return running;
  const started = drainOnce(app, options);
  drains.set(app, started);
  return started;
}

const drains = new WeakMap<FastifyInstance, Promise<{ readonly cut: boolean }>>();

async function drainOnce(app: FastifyInstance, options: DrainOptions): Promise<{ readonly cut: boolean }> {
  app.lifecycle.markDraining();
  if ((options.graceMs ?? 0) > 0) await options.clock.sleep(options.graceMs ?? 0);
  let cut = false;
  const cancel = options.clock.setTimeout(() => {
    cut = true;
    app.server.closeAllConnections();
  }, options.deadlineMs);
  try {
    await app.close();
  } finally {
    cancel();
  }
  return { cut };
}

/**
 * Closes connections that never asked anything when the server closes: Node does not count them as idle, so a browser's
 * or balancer's spare connection would hold the stop up until its deadline.
 */
export function closeUnusedConnections(app: FastifyInstance): void {
  const unused = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  app.server.on("request", ({ socket }: { socket: Socket }) => {
    unused.delete(socket);
  });
  app.addHook("preClose", (done) => {
    for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
    done();
  });
}
