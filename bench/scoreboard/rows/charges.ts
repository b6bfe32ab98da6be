import type { FastifyInstance } from "fastify";
import { openEmbeddedDatabase } from "../../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../../src/adapters/database/migrations.ts";
import { createMemoryQuotaJournal } from "../../../src/adapters/metering/quota-journal-memory.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { createAddressLimits } from "../../../src/capabilities/metering/address-limits.ts";
import { createMeteringGuards } from "../../../src/capabilities/metering/guards.ts";
import { createMetering, type Metering } from "../../../src/capabilities/metering/index.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { METERING } from "../../../src/domain/metering.ts";
import { defineRoute } from "../../../src/http/route.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { seededUniform } from "../../../test/support/research/sample-web.ts";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import type { ScoreboardRow } from "../row.ts";

const CALLS = 10_000;
const CALLS_QUICK = 2_000;
const CALLER_COUNT = 64;
const FAULT_SHARE = 0.3;
const UNREACHED_LIMIT = 1e9;
const CUSTOMER = {
  kind: "customer",
  customerId: "cus-1",
  plan: "enterprise",
  allowance: {
    quotas: { LISTING: UNREACHED_LIMIT, INSIGHT: UNREACHED_LIMIT, STRATEGY: UNREACHED_LIMIT, DEEP: UNREACHED_LIMIT },
    rateLimits: { general: UNREACHED_LIMIT, strategy: UNREACHED_LIMIT },
  },
} as const;

export const chargesRow: ScoreboardRow = {
  id: "S4",
  figure: "calls counted, compared with successful calls, while 30% of the calls fail with 502",
  target: `equal, of ${CALLS.toLocaleString("en-US")} calls`,
  mutations: [
    {
      defence: "a call that fails with 5xx is not counted",
      file: "src/capabilities/metering/guards.ts",
      find: "reply.statusCode >= 500 ||",
      replace: "",
    },
  ],
  async measure({ quick, seed }) {
    const calls = quick ? CALLS_QUICK : CALLS;
    const { succeeded, failed, counted } = await countCalls(calls, seededUniform(seed));
    if (succeeded + failed !== calls) throw new Error(`${calls - succeeded - failed} calls had another status`);
    if (failed < (calls * FAULT_SHARE) / 2) throw new Error(`only ${failed} calls failed`);
    return {
      isMet: counted === succeeded,
      value: `${counted} counted, ${succeeded} succeeded, ${failed} failed with 502`,
    };
  },
};

async function countCalls(calls: number, uniform: () => number) {
  await using closers = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  closers.defer(folder.release);
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  closers.defer(() => database.close());
  await migrateDatabase(database);
  const metering = createMetering({
    database,
    journal: createMemoryQuotaJournal(),
    clock: systemClock,
    log: quietLog,
    nodeId: "node-1",
    sharedLimits: null,
  });
  await metering.start();
  closers.defer(() => metering.stop());
  const app = await openServer(metering, uniform);
  closers.defer(() => app.close());
  const counts = new Map<number, number>();
  let started = 0;
  const call = async () => {
    while (started < calls) {
      started += 1;
      const { statusCode } = await app.inject({ url: "/call", headers: { authorization: "Bearer key" } });
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CALLER_COUNT }, call));
  const { usage } = await metering.usage(CUSTOMER);
  return { succeeded: counts.get(200) ?? 0, failed: counts.get(502) ?? 0, counted: usage.INSIGHT };
}

/** Opens a server with one counted route, whose handler fails at random as if the venue did not answer. */
async function openServer(metering: Metering, uniform: () => number): Promise<FastifyInstance> {
  const guards = createMeteringGuards({
    meter: metering,
    random: systemRandom,
    upgradeUrl: () => "https://parallax.example/account",
    addresses: createAddressLimits({ clock: systemClock, random: systemRandom, meter: metering }),
  });
  const app = await createHttpServer({
    clock: systemClock,
    log: quietLog,
    random: systemRandom,
    data: "sandbox",
    guards: [guards],
    authentication: { authenticate: () => CUSTOMER },
  });
  defineRoute(app, {
    method: "GET",
    url: "/call",
    access: "key",
    metering: METERING.INSIGHT,
    operationId: "call",
    tag: "Markets",
    summary: "Call",
    errors: ["venue_unavailable"],
    responses: { 200: { type: "object" } },
    async handler() {
      await systemClock.yieldToEventLoop();
      if (uniform() < FAULT_SHARE) throw new AppError("venue_unavailable", "The venue does not answer.");
      return {};
    },
  });
  return app;
}
