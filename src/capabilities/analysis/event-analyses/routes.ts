import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import { eventPath } from "../../../http/schema-types.ts";
import { presentEventAnalysis, presentProbabilityMap, presentStart } from "./present.ts";
import { createEventAnalysisSchemas } from "./schema.ts";
import type { EventAnalysesService } from "./service.ts";

/**
 * POST /v1/events/{slug}/analyze, GET …/analysis and GET …/probability-map.
 *
 * @param venues  ids of the venues that clients can query
 */
export function eventAnalysisRoutes(
  app: FastifyInstance,
  service: EventAnalysesService,
  venues: readonly string[],
): void {
  const schemas = createEventAnalysisSchemas(venues);
  const options = { access: "key", tag: "Insights", params: eventPath } as const;

  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/events/:slug/analyze",
    metering: { ...METERING.INSIGHT, settles: "before" },
    summary: "Start analyses of an event",
    description:
      "Starts an analysis of each open market of an event, at most 20, without new research. Running analyses are joined. The call counts once.",
    operationId: "analyze_event",
    responses: { 202: schemas.EventAnalysisStart },
    errors: ["event_not_found", "analysis_not_found", "rate_limited", "store_unavailable", "overloaded"],
    async handler({ params: { slug }, principal, reply }) {
      const started = await service.analyse(slug, principal.customerId);
      reply.code(202);
      return presentStart(slug, started);
    },
  });

  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/events/:slug/analysis",
    metering: METERING.INSIGHT,
    summary: "Retrieve the analyses of an event",
    description: "Returns the latest analysis of each open market of an event, whoever requested it.",
    operationId: "get_event_analysis",
    responses: { 200: schemas.EventAnalysis },
    errors: ["event_not_found", "analysis_not_found", "store_unavailable"],
    handler: async ({ params: { slug } }) => presentEventAnalysis(await service.read(slug)),
  });

  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/events/:slug/probability-map",
    metering: METERING.INSIGHT,
    summary: "Compare the estimates of an event",
    description:
      "Returns the price and the latest estimate of each open market of an event, and whether the sum of the estimates is possible.",
    operationId: "get_event_probability_map",
    responses: { 200: schemas.ProbabilityMap },
    errors: ["event_not_found"],
    handler: ({ params: { slug } }) => presentProbabilityMap(service.mapProbabilities(slug)),
  });
}
