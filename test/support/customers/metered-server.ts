import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import Type from "typebox";
import { createMemoryQuotaJournal } from "../../../src/adapters/metering/quota-journal-memory.ts";
import { createAddressLimits } from "../../../src/capabilities/accounts/metering/address-limits.ts";
import { createMeteringGuards, type QuotaRetryAfter } from "../../../src/capabilities/accounts/metering/guards.ts";
import { createMetering, type Metering as MeteringService } from "../../../src/capabilities/accounts/metering/index.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { METERING, type Metering } from "../../../src/domain/metering.ts";
import { type Allowance, PLAN_ALLOWANCES, type Plan } from "../../../src/domain/plan.ts";
import type { Principal } from "../../../src/http/auth.ts";
import { defineRoute } from "../../../src/http/route.ts";
import type { HttpServerOptions } from "../../../src/http/server.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { SharedLimitLog } from "../../../src/ports/limit-log.ts";
import type { QuotaJournal } from "../../../src/ports/quota-journal.ts";
import type { Random } from "../../../src/ports/random.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietLog } from "../quiet-log.ts";
import { KEY_ROUTE, PUBLIC_ROUTE, testServer } from "../test-app.ts";

/** Creates a customer on this plan. Its API key is its customer id. */
export function caller(customerId: string, plan: Plan, allowance: Allowance = PLAN_ALLOWANCES[plan]): Principal {
  return { kind: "customer", customerId, plan, allowance };
}

export interface MeteredServer {
  readonly app: FastifyInstance;
  readonly clock: FakeClock;
  readonly metering: MeteringService;
  /** The paths of the requests that reached a handler. */
  readonly reached: readonly string[];
  /** Sends a GET request as this caller, or without a key if null. */
  get(
    url: string,
    principal: Principal | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<LightMyRequestResponse>;
  /** Returns the calls counted for this caller this month, by tier. */
  used(principal: Principal): Promise<Readonly<Record<string, number>>>;
}

const ROUTES: Readonly<Record<string, Metering>> = {
  listing: METERING.LISTING,
  insight: METERING.INSIGHT,
  strategy: METERING.STRATEGY,
  signal: METERING.SIGNAL,
  deep: METERING.DEEP,
  uncounted: METERING.UNCOUNTED,
};

/**
 * A server with one route per metering kind (`/listing` and so on; the query defines the response), with the metering
 * and guards of production on a real database. Callers use their ids as keys.
 */
export async function openMeteredServer(
  database: Database,
  callers: readonly Principal[],
  options: Partial<HttpServerOptions> & {
    readonly sharedLimits?: SharedLimitLog;
    readonly journal?: QuotaJournal;
    readonly uniform?: () => number;
    readonly quotaRetryAfter?: QuotaRetryAfter;
  } = {},
): Promise<MeteredServer> {
  const clock = new FakeClock();
  const nodeId = `node-${randomUUID()}`;
  const {
    sharedLimits = null,
    journal = createMemoryQuotaJournal(),
    uniform = () => 0,
    quotaRetryAfter,
    ...serverOptions
  } = options;
  const metering = createMetering({ database, journal, clock, log: quietLog, nodeId, sharedLimits });
  await metering.start();
  const random: Random = { uniform, bytes: () => assert.fail("unexpected use of random bytes") };
  const upgradeUrl = () => "https://parallax.example/account";
  const addressLimits = createAddressLimits({ clock, random, meter: metering });
  const { app } = await testServer({
    guards: [createMeteringGuards({ meter: metering, random, upgradeUrl, addresses: addressLimits, quotaRetryAfter })],
    authentication: {
      authenticate: (bearer) => callers.find(({ customerId }) => customerId === bearer) ?? null,
    },
    ...serverOptions,
  });
  const reachedPaths: string[] = [];
  for (const [name, entry] of Object.entries(ROUTES)) {
    defineRoute(app, {
      ...KEY_ROUTE,
      url: `/${name}`,
      metering: entry,
      operationId: name,
      errors: ["market_not_found"],
      query: Type.Object({ status: Type.Optional(Type.Integer()), given_back: Type.Optional(Type.Boolean()) }),
      responses: { 200: Type.Unknown(), 202: Type.Unknown() },
      handler({ query, request, reply }) {
        reachedPaths.push(`/${name}`);
        if (query.given_back === true) request.metered?.release();
        if (query.status === 404) throw new AppError("market_not_found", "Unknown");
        if (query.status === 409) throw new AppError("ambiguous_query", "Several");
        if (query.status === 500) throw new Error("internal fault");
        if (query.status === 503) throw new AppError("store_unavailable", "Unavailable");
        return reply.code(query.status ?? 200).send({ ok: true });
      },
    });
  }
  for (const [url, entry] of [
    ["/free", METERING.FREE],
    ["/probe", METERING.PROBE],
  ] as const) {
    defineRoute(app, { ...PUBLIC_ROUTE, url, metering: entry, operationId: url, handler: () => ({ ok: true }) });
  }
  return {
    app,
    clock,
    metering,
    reached: reachedPaths,
    get(url, principal, headers = {}) {
      const authorization = principal === null ? {} : { authorization: `Bearer ${principal.customerId}` };
      return app.inject({ method: "GET", url, headers: { ...authorization, ...headers } });
    },
    used: async ({ customerId, allowance }) => (await metering.usage({ customerId, allowance })).usage,
  };
}
