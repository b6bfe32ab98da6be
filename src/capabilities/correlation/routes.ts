import type { FastifyInstance } from "fastify";
import { METERING } from "../../domain/metering.ts";
import { sendPreserialised } from "../../http/response/preserialised.ts";
import { defineRoute } from "../../http/route.ts";
import type { CorrelationPeriod } from "./model.ts";
import { createCorrelationSchemas } from "./schema.ts";
import type { CorrelationService, PairChoice } from "./service.ts";

export interface CorrelationRoutesOptions {
  readonly service: CorrelationService;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly string[];
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);

const readChoice = (choice: {
  readonly period?: CorrelationPeriod;
  readonly min_correlation?: number;
  readonly limit?: number;
}): PairChoice => ({
  period: choice.period ?? "7d",
  minCorrelation: choice.min_correlation ?? null,
  limit: choice.limit ?? null,
});

/** POST /v1/correlation and GET /v1/events/{slug}/correlation. */
export function correlationRoutes(app: FastifyInstance, { service, venues }: CorrelationRoutesOptions): void {
  const schemas = createCorrelationSchemas(venues);
  const options = { access: "key", tag: "Analytics", metering: METERING.DEEP } as const;

  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/correlation",
    summary: "Correlate markets",
    description:
      "Compares how the prices of up to 500 markets move: all pairs, groups of markets that move together, and warnings about positions that add up.",
    operationId: "correlate_markets",
    body: schemas.body,
    responses: { 200: schemas.Correlation },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable", "overloaded"],
    async handler({ body: { market_ids, platform = null, ...choice }, reply }) {
      return sendPreserialised(
        reply,
        asBuffer(await service.correlateMarkets(market_ids, platform, readChoice(choice))),
      );
    },
  });

  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/events/:slug/correlation",
    summary: "Correlate the markets of an event",
    description:
      "Compares how the prices of an event's markets move. An event with one market has no pairs. Of more than 500 markets, those with the largest 24-hour volume are compared.",
    operationId: "get_event_correlation",
    params: schemas.slugPath,
    query: schemas.query,
    responses: { 200: schemas.Correlation },
    errors: ["event_not_found", "store_unavailable", "overloaded"],
    async handler({ params: { slug }, query, reply }) {
      return sendPreserialised(reply, asBuffer(await service.correlateEvent(slug, readChoice(query))));
    },
  });
}
