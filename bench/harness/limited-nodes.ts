import type { FastifyInstance } from "fastify";
import { openRedisLimitLog } from "../../src/adapters/metering/redis-limit-log.ts";
import { LIMIT_WINDOW_MS } from "../../src/capabilities/accounts/metering/index.ts";
import { createCaller, openMeteredRoute } from "./metered-route.ts";
import { openTemporaryStore } from "./open-store.ts";

const NODE_COUNT = 3;

/** Servers of one route that share their minute limits in Redis. */
export interface LimitedNodes extends AsyncDisposable {
  readonly nodes: readonly FastifyInstance[];
  /** Calls the counted route of a node with this key, and returns the status. */
  call(node: number, key: string): Promise<number>;
}

/**
 * Opens three servers with the metering of production on one embedded store. Each key belongs to another customer.
 *
 * @param options.perMinute  calls a minute that a key may make
 */
export async function openLimitedNodes(options: {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly perMinute: (key: string) => number;
}): Promise<LimitedNodes> {
  await using closers = new AsyncDisposableStack();
  const { redisUrl: url, prefix, perMinute } = options;
  const database = await openTemporaryStore(closers);
  const nodes: FastifyInstance[] = [];
  for (let number = 0; number < NODE_COUNT; number++) {
    const sharedLimits = openRedisLimitLog({ url, prefix, windowMs: LIMIT_WINDOW_MS });
    closers.defer(() => sharedLimits.close());
    const { app } = await openMeteredRoute(closers, {
      database,
      nodeId: `node-${number}`,
      sharedLimits,
      authenticate: (key) => createCaller(key, perMinute(key)),
      handler: async () => ({}),
    });
    nodes.push(app);
  }
  const owned = closers.move();
  return {
    nodes,
    async call(node, key) {
      const response = await nodes[node]?.inject({ url: "/call", headers: { authorization: `Bearer ${key}` } });
      if (response === undefined) throw new RangeError(`there is no node ${node}`);
      return response.statusCode;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
