import type { FastifyInstance } from "fastify";
import { createMemoryQuotaJournal } from "../../src/adapters/metering/quota-journal-memory.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { createAddressLimits } from "../../src/capabilities/accounts/metering/address-limits.ts";
import { createMeteringGuards } from "../../src/capabilities/accounts/metering/guards.ts";
import { createMetering, type Metering } from "../../src/capabilities/accounts/metering/index.ts";
import { METERING } from "../../src/domain/metering.ts";
import type { Principal } from "../../src/http/auth.ts";
import { defineRoute } from "../../src/http/route.ts";
import { createHttpServer } from "../../src/http/server.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { UNREACHED_ALLOWANCE } from "../../test/support/venues/lifted-limits.ts";

export interface MeteredRouteOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly sharedLimits: Parameters<typeof createMetering>[0]["sharedLimits"];
  readonly authenticate: (key: string) => Principal;
  /** Handles a call that the metering has accepted. */
  readonly handler: () => Promise<object>;
}

/** Opens a server with the metering of production and one route, `/call`, that counts as INSIGHT. `closers` stops both. */
export async function openMeteredRoute(
  closers: AsyncDisposableStack,
  { database, nodeId, sharedLimits, authenticate, handler }: MeteredRouteOptions,
): Promise<{ readonly app: FastifyInstance; readonly metering: Metering }> {
  const shared = { clock: systemClock, random: systemRandom };
  const journal = createMemoryQuotaJournal();
  const metering = createMetering({ database, journal, clock: systemClock, log: quietLog, nodeId, sharedLimits });
  await metering.start();
  closers.defer(() => metering.stop());
  const guards = createMeteringGuards({
    meter: metering,
    random: systemRandom,
    upgradeUrl: () => "https://parallax.example/account",
    addresses: createAddressLimits({ ...shared, meter: metering }),
  });
  const app = await createHttpServer({
    ...shared,
    log: quietLog,
    data: "sandbox",
    guards: [guards],
    authentication: { authenticate },
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
    errors: ["venue_unavailable"],
    responses: { 200: { type: "object" } },
    handler,
  });
  return { app, metering };
}

/** Returns a customer with the monthly limits of `UNREACHED_ALLOWANCE`. @param perMinute  calls a minute */
export function createCaller(customerId: string, perMinute: number = UNREACHED_ALLOWANCE.rateLimits.general) {
  const rateLimits = { general: perMinute, strategy: perMinute };
  const allowance = { quotas: UNREACHED_ALLOWANCE.quotas, rateLimits };
  return { kind: "customer", customerId, plan: "enterprise", allowance } as const;
}
