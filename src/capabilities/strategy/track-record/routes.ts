import type { FastifyInstance } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import { METERING } from "../../../domain/metering.ts";
import type { Principal } from "../../../http/auth.ts";
import { defineRoute } from "../../../http/route.ts";
import type { PerformanceMode, PerformanceReport, TimedPerformanceReport } from "./model.ts";
import { presentDays, presentPerformance } from "./present.ts";
import { PerformanceHistorySchema, PerformanceSchema, performanceQuery } from "./schema.ts";

interface PerformanceRoutesOptions {
  readonly shadow: { read(): Promise<TimedPerformanceReport> };
  /** Computes the performance of the trades that a customer reported. */
  readonly livePerformance: (customerId: string) => Promise<PerformanceReport>;
  readonly now: () => number;
}

const OPTIONS = {
  method: "GET",
  access: "key",
  metering: METERING.LISTING,
  tag: "Analytics",
  query: performanceQuery,
  // `account_required`: `mode=live` without an account.
  errors: ["account_required", "store_unavailable"],
  cacheControl: "private, no-store",
} as const;

export function performanceRoutes(
  app: FastifyInstance,
  { shadow, livePerformance, now }: PerformanceRoutesOptions,
): void {
  const read = async (mode: PerformanceMode, { kind, customerId }: Principal): Promise<TimedPerformanceReport> => {
    if (mode === "shadow") return shadow.read();
    if (kind !== "customer") throw new AppError("account_required", "The mode live needs an account of this service");
    const generatedAt = now();
    return { report: await livePerformance(customerId), generatedAt };
  };
  defineRoute(app, {
    ...OPTIONS,
    url: "/v1/performance",
    summary: "Retrieve the performance of signals",
    description:
      "Returns what following every signal would have earned, or what your own reported trades have earned. Each recommended trade is entered at the price of its order book at that moment, fees included. The figures of `shadow` are at most a minute old (`generated_at`).",
    operationId: "get_performance",
    responses: { 200: PerformanceSchema },
    handler: async ({ query: { mode = "shadow" }, principal }) => presentPerformance(mode, await read(mode, principal)),
  });
  defineRoute(app, {
    ...OPTIONS,
    url: "/v1/performance/history",
    summary: "Retrieve the performance of signals by day",
    description: "Returns the same summary as `GET /v1/performance`, and the profit or loss of each UTC day.",
    operationId: "get_performance_history",
    responses: { 200: PerformanceHistorySchema },
    async handler({ query: { mode = "shadow" }, principal }) {
      const timed = await read(mode, principal);
      return { ...presentPerformance(mode, timed), daily_history: presentDays(timed.report) };
    },
  });
}
