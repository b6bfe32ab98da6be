import type { FastifyInstance } from "fastify";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { createMemoryQuotaJournal } from "../../src/adapters/metering/quota-journal-memory.ts";
import { openRedisLimitLog } from "../../src/adapters/metering/redis-limit-log.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { createAddressLimits } from "../../src/capabilities/metering/address-limits.ts";
import { createMeteringGuards } from "../../src/capabilities/metering/guards.ts";
import { createMetering, LIMIT_WINDOW_MS } from "../../src/capabilities/metering/index.ts";
import { METERING } from "../../src/domain/metering.ts";
import type { Principal } from "../../src/http/auth.ts";
import { defineRoute } from "../../src/http/route.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";

const NODE_COUNT = 3;
const UNREACHED_LIMIT = 1e9;

/** Servers of one route that share their minute limits in Redis. */
export interface LimitedNodes extends AsyncDisposable {
  readonly nodes: readonly FastifyInstance[];
  /** Calls the counted route of a node with this key, and returns the status. */
  call(node: number, key: string): Promise<number>;
}

/**
 * Opens three servers with the metering of production on one embedded store. A key is a customer of its own with a
 * minute limit.
 *
 * @param options.perMinute  the limit of a key
 */
export async function openLimitedNodes(options: {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly perMinute: (key: string) => number;
}): Promise<LimitedNodes> {
  await using closers = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  closers.defer(folder.release);
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  closers.defer(() => database.close());
  await migrateDatabase(database);
  const nodes: FastifyInstance[] = [];
  for (let number = 0; number < NODE_COUNT; number++) {
    const { redisUrl: url, prefix } = options;
    const sharedLimits = openRedisLimitLog({ url, prefix, windowMs: LIMIT_WINDOW_MS });
    closers.defer(() => sharedLimits.close());
    const meter = createMetering({
      database,
      journal: createMemoryQuotaJournal(),
      clock: systemClock,
      log: quietLog,
      nodeId: `node-${number}`,
      sharedLimits,
    });
    await meter.start();
    closers.defer(() => meter.stop());
    const app = await createHttpServer({
      clock: systemClock,
      log: quietLog,
      random: systemRandom,
      data: "sandbox",
      guards: [
        createMeteringGuards({
          meter,
          random: systemRandom,
          upgradeUrl: () => "https://parallax.example/account",
          addresses: createAddressLimits({ clock: systemClock, random: systemRandom, meter }),
        }),
      ],
      authentication: { authenticate: (key) => createCaller(key, options.perMinute(key)) },
    });
    closers.defer(() => app.close());
    defineRoute(app, {
      method: "GET",
      url: "/call",
      access: "key",
      metering: METERING.INSIGHT,
      operationId: "call",
      tag: "Markets",
      summary: "Call",
      responses: { 200: { type: "object" } },
      handler: () => ({}),
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

function createCaller(key: string, perMinute: number): Principal {
  const quotas = {
    LISTING: UNREACHED_LIMIT,
    INSIGHT: UNREACHED_LIMIT,
    STRATEGY: UNREACHED_LIMIT,
    DEEP: UNREACHED_LIMIT,
  };
  const rateLimits = { general: perMinute, strategy: perMinute };
  return { kind: "customer", customerId: key, plan: "enterprise", allowance: { quotas, rateLimits } };
}
