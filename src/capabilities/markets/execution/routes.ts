import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import { createExecutionSchemas, SIZE_USD_DEFAULT } from "./schema.ts";
import type { ExecutionService } from "./service.ts";

export function executionRoutes(app: FastifyInstance, service: ExecutionService, venues: VenueIds): void {
  const schemas = createExecutionSchemas(venues);
  defineRoute(app, {
    method: "GET",
    access: "key",
    metering: METERING.STRATEGY,
    tag: "Strategy",
    url: "/v1/markets/:platform/:market_id/execution",
    summary: "Retrieve execution guidance for a market",
    description:
      "Describes how to fill an order: the current order book, its spread against the last 48 hours, the slippage of a reference order, and a recommendation with its reasons. A market that is closed, has no order book, or lacks a side of it has the recommendation `WAIT` and null for what is unknown.",
    operationId: "get_execution",
    params: schemas.path,
    query: schemas.query,
    responses: { 200: schemas.ExecutionGuidance },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    handler: ({ params, query }) =>
      service.getGuidance(params.platform, params.market_id, query.size_usd ?? SIZE_USD_DEFAULT),
  });
}
