import type { FastifyInstance, FastifyReply } from "fastify";
import { METERING } from "../../domain/metering.ts";
import { defineRoute } from "../../http/route.ts";
import type { VenueIds } from "../../http/schema-types.ts";
import { presentRun, presentSignal } from "./present.ts";
import { createSignalSchemas } from "./schema.ts";
import type { SignalsService } from "./service.ts";

/** A response 202 only refers to a running analysis: the call is not counted. A waiting call is paid for in advance. */
export const SIGNAL_METERING = { ...METERING.SIGNAL, settles: "before", acceptedIsFree: true } as const;

/** Errors of all routes that need a market and its analysis. */
export const SIGNAL_ERRORS = [
  "market_not_found",
  "analysis_failed",
  "venue_unavailable",
  "store_unavailable",
  "overloaded",
] as const;

export interface SignalRoutesOptions {
  readonly service: SignalsService;
  readonly venues: VenueIds;
}

/** POST /v1/signals. */
export function signalRoutes(app: FastifyInstance, { service, venues }: SignalRoutesOptions): void {
  const schemas = createSignalSchemas(venues);
  app.addHook("preClose", (done) => {
    service.stop();
    done();
  });
  defineRoute(app, {
    access: "key",
    tag: "Strategy",
    metering: SIGNAL_METERING,
    method: "POST",
    url: "/v1/signals",
    summary: "Generate a signal",
    description:
      "Says what to buy in a market, at most at which price, how much, and until when. A `fresh` or `stale` analysis is used. Without one an analysis is started: the response is 202 with its status, which is not counted, or with `wait=true` the signal once it has ended. Every recommended trade becomes part of the public track record.",
    operationId: "generate_signal",
    query: schemas.query,
    body: schemas.body,
    responses: { 200: schemas.Signal, 202: schemas.AnalysisStatus },
    errors: SIGNAL_ERRORS,
    async handler({ query, body, principal, reply }) {
      const result = await service.generate({
        customerId: principal.customerId,
        venue: body.platform ?? null,
        marketId: body.market_id ?? null,
        question: body.market_query ?? null,
        isForced: body.force === true,
        waits: query.wait === true,
        signal: disconnectOf(reply),
      });
      if (result.kind === "running") {
        reply.code(202);
        return presentRun(result.run);
      }
      const expandsCausal = query.expand?.includes("causal") === true;
      return presentSignal(result.signal, service.freshnessOf(result.signal.stored), { expandsCausal });
    },
  });
}

/** Returns a signal that aborts when the caller disconnects before the response is sent. */
export function disconnectOf({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  raw.once("close", () => disconnected.abort());
  return disconnected.signal;
}
