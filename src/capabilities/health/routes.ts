import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { AppError } from "../../domain/errors.ts";
import { METERING } from "../../domain/metering.ts";
import { defineRoute } from "../../http/route.ts";

const venueStatus = Type.Unsafe<"starting" | "ok" | "degraded" | "down">({
  type: "string",
  enum: ["starting", "ok", "degraded", "down"],
});
const nullableTime = Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" });
const time = Type.String({ format: "date-time" });
const nullableText = Type.Unsafe<string | null>({
  type: ["string", "null"],
  description: "Type and redacted value of the first",
});
const nullableNumber = Type.Unsafe<number | null>({ type: ["number", "null"] });
const part = Type.Object({
  status: Type.Unsafe<"ok" | "degraded" | "down">({ type: "string", enum: ["ok", "degraded", "down"] }),
  detail: Type.Optional(Type.String()),
});

const Health = Type.Object({
  status: Type.Unsafe<"ok" | "degraded" | "down">({ type: "string", enum: ["ok", "degraded", "down"] }),
  version: Type.String(),
  data: Type.Unsafe<"live" | "sandbox">({
    type: "string",
    enum: ["live", "sandbox"],
    description: "Whether prices are real or simulated",
  }),
  uptime_seconds: Type.Number(),
  checks: Type.Object({
    store: part,
    bus: part,
    jobs: part,
    venues: Type.Record(
      Type.String(),
      Type.Object({
        status: venueStatus,
        role: Type.Unsafe<"ingest" | "follower">({
          type: "string",
          enum: ["ingest", "follower"],
          description: "Whether this node reads the venue itself or follows what the node that does has stored",
        }),
        last_success_at: nullableTime,
        lag_seconds: nullableNumber,
        markets: Type.Integer(),
        stream: Type.Unsafe<"up" | "down" | "none">({ type: "string", enum: ["up", "down", "none"] }),
        sweep: Type.Object({
          rows: Type.Integer({ description: "Rows read in the sweep under way or just ended" }),
          total: Type.Unsafe<number | null>({
            type: ["integer", "null"],
            description: "Rows in all, where the venue says",
          }),
          completed: Type.Integer({ description: "Sweeps completed since the start" }),
          incomplete: Type.Integer({ description: "Sweeps whose pages were not all there, since the start" }),
        }),
        drops: Type.Record(Type.String(), Type.Integer(), {
          description: "What the venue sent and could not be used, by reason",
        }),
        drift: Type.Array(
          Type.Object({
            name: Type.String({ description: "Kind of object and field" }),
            kind: Type.Unsafe<"unknown_value" | "missing" | "new">({
              type: "string",
              enum: ["unknown_value", "missing", "new"],
            }),
            count: Type.Integer({ description: "Objects found so; new fields are looked for in a sample of all" }),
            sample: nullableText,
            first_seen_at: time,
            last_seen_at: time,
          }),
          { description: "Where the venue's interface departs from what is documented of it; at most 63 entries" },
        ),
      }),
    ),
  }),
});
const Alive = Type.Object({ status: Type.Literal("ok") });

export type HealthReport = Type.Static<typeof Health>;

/** GET /v1/health, and the probes of orchestrators: /livez depends on nothing, /readyz on everything. */
export function healthRoutes(
  app: FastifyInstance,
  options: { readonly report: () => HealthReport; readonly isStoreUp: () => boolean },
): void {
  defineRoute(app, {
    method: "GET",
    url: "/v1/health",
    access: "public",
    metering: METERING.FREE,
    tag: "Analytics",
    summary: "Health of the service and of each venue",
    operationId: "get_health",
    responses: { 200: Health },
    handler: () => options.report(),
  });

  defineRoute(app, {
    method: "GET",
    url: "/livez",
    access: "public",
    metering: METERING.PROBE,
    tag: "Analytics",
    summary: "Is the process alive",
    operationId: "get_livez",
    responses: { 200: Alive },
    handler: () => ({ status: "ok" as const }),
  });

  defineRoute(app, {
    method: "GET",
    url: "/readyz",
    access: "public",
    metering: METERING.PROBE,
    tag: "Analytics",
    summary: "Can the process answer",
    operationId: "get_readyz",
    responses: { 200: Alive },
    errors: ["starting", "draining", "store_unavailable"],
    handler() {
      if (app.lifecycle.state === "starting")
        throw new AppError("starting", "Starting: the first sweep of the venues is under way");
      if (app.lifecycle.state === "draining") throw new AppError("draining", "Shutting down");
      if (!options.isStoreUp()) throw new AppError("store_unavailable", "The store cannot be reached");
      return { status: "ok" as const };
    },
  });
}
