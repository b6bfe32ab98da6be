import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { sendJsonPieces } from "../../../http/response/pieces.ts";
import { defineRoute } from "../../../http/route.ts";
import { eventPath } from "../../../http/schema-types.ts";
import { createCorrelationSchemas, type PairQuery } from "./schema.ts";
import type { CorrelationService, PairChoice } from "./service.ts";

/** Text for both route descriptions. The limit of 256 KiB is that of `sendJsonPieces`. */
const LARGE_RESPONSES =
  "Coefficients have four decimals. A response above 256 KiB is sent in pieces, without `Content-Length` and `ETag`; `min_correlation` and `limit` ask for fewer pairs.";

const readChoice = (choice: PairQuery): PairChoice => ({
  period: choice.period ?? "7d",
  minCorrelation: choice.min_correlation ?? null,
  limit: choice.limit ?? null,
});

/**
 * POST /v1/correlation and GET /v1/events/{slug}/correlation. @param venues  ids of the venues that clients can query
 */
export function correlationRoutes(app: FastifyInstance, service: CorrelationService, venues: readonly string[]): void {
  const schemas = createCorrelationSchemas(venues);
  const options = { access: "key", tag: "Analytics", metering: METERING.DEEP } as const;

  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/correlation",
    summary: "Correlate markets",
    description: `Compares how the prices of up to 500 markets move: all pairs, groups of markets that move together, and warnings about positions that add up. ${LARGE_RESPONSES}`,
    operationId: "correlate_markets",
    body: schemas.body,
    responses: { 200: schemas.Correlation },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable", "overloaded"],
    async handler({ body: { market_ids, platform = null, ...choice }, reply }) {
      return sendJsonPieces(reply, await service.correlateMarkets(market_ids, platform, readChoice(choice)));
    },
  });

  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/events/:slug/correlation",
    summary: "Correlate the markets of an event",
    description: `Compares how the prices of an event's markets move. An event with one market has no pairs. Of more than 500 markets, those with the largest 24-hour volume are compared. ${LARGE_RESPONSES}`,
    operationId: "get_event_correlation",
    params: eventPath,
    query: schemas.query,
    responses: { 200: schemas.Correlation },
    errors: ["event_not_found", "store_unavailable", "overloaded"],
    async handler({ params: { slug }, query, reply }) {
      return sendJsonPieces(reply, await service.correlateEvent(slug, readChoice(query)));
    },
  });
}
