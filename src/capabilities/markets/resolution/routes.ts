import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import { createResolutionSchemas } from "./schema.ts";
import type { ResolutionService } from "./service.ts";

export function resolutionRoutes(app: FastifyInstance, service: ResolutionService, venues: VenueIds): void {
  const schemas = createResolutionSchemas(venues);
  defineRoute(app, {
    method: "GET",
    access: "key",
    metering: METERING.INSIGHT,
    tag: "Insights",
    url: "/v1/markets/:platform/:market_id/resolution",
    summary: "Retrieve how and when a market resolves",
    description:
      "Returns the mechanism and the dates of a market's resolution, read from the venue's data, the text of its rules and the calendars of recurring schedules, and what waiting costs.",
    operationId: "get_market_resolution",
    params: schemas.marketPath,
    responses: { 200: schemas.Resolution },
    errors: ["market_not_found", "venue_unavailable"],
    handler: ({ params }) => service.getResolution(params.platform, params.market_id),
  });
}
