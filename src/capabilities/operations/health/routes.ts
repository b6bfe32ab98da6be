import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { AppError } from "../../../domain/errors.ts";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import { type HealthReport, HealthSchema } from "./schema.ts";

/** Options of all routes of this file: free, without a key. */
const COMMON_OPTIONS = { method: "GET", access: "public", tag: "Analytics" } as const;

const AliveResponse = Type.Object({ status: Type.Literal("ok") });

/**
 * Defines `/v1/health` and the orchestrators' probes: `/livez` always succeeds, `/readyz` needs a completed start and a store
 * that accepts writes.
 */
export function healthRoutes(
  app: FastifyInstance,
  options: { readonly report: () => HealthReport; readonly isStoreUp: () => boolean },
): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/health",
    metering: METERING.FREE,
    summary: "Health of the service and of each venue",
    operationId: "get_health",
    responses: { 200: HealthSchema },
    handler: () => options.report(),
  });

  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/livez",
    metering: METERING.PROBE,
    summary: "Whether the process is alive",
    operationId: "get_livez",
    responses: { 200: AliveResponse },
    handler: () => ({ status: "ok" as const }),
  });

  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/readyz",
    metering: METERING.PROBE,
    summary: "Whether the process can serve requests",
    operationId: "get_readyz",
    responses: { 200: AliveResponse },
    errors: ["starting", "draining", "store_unavailable"],
    handler() {
      if (app.lifecycle.state === "starting")
        throw new AppError("starting", "Starting: the first sweep of the venues is running");
      if (app.lifecycle.state === "draining") throw new AppError("draining", "Shutting down");
      if (!options.isStoreUp()) throw new AppError("store_unavailable", "The store does not accept writes");
      return { status: "ok" as const };
    },
  });
}
