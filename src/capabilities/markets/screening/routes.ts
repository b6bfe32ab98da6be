import type { FastifyInstance } from "fastify";
import { InvalidRequestError, type ValidationItem } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { parseMarketName } from "../../../domain/market-name.ts";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import { valueError } from "../../../http/validation/index.ts";
import { createScreeningSchemas, LIMIT_DEFAULT } from "./schema.ts";
import type { ScreeningService } from "./service.ts";

export function screeningRoutes(app: FastifyInstance, service: ScreeningService, venues: VenueIds): void {
  const schemas = createScreeningSchemas(venues);
  defineRoute(app, {
    method: "POST",
    access: "key",
    metering: METERING.INSIGHT,
    tag: "Insights",
    url: "/v1/screen",
    summary: "Screen markets",
    description:
      "Scores all active markets that match the filters by volume, liquidity, spread, time to resolution and movement, and returns those with the highest scores first. `score` states the formula. Markets that currently accept no orders are left out.",
    operationId: "screen_markets",
    body: schemas.body,
    responses: { 200: schemas.ScreenResult },
    handler({ body }) {
      const platform = body.platform ?? null;
      const ids = body.market_ids ?? [];
      return service.screen({
        markets: ids.length === 0 ? null : parseMarketNames(ids, platform, venues.trading),
        venues: platform === null ? venues.trading : [platform],
        category: body.category ?? null,
        text: body.query ?? null,
        minVolume24h: body.min_volume_24h ?? null,
        minLiquidity: body.min_liquidity ?? null,
        maxSpread: body.max_spread ?? null,
        minHoursToResolution: body.min_hours_to_resolution ?? null,
        maxHoursToResolution: body.max_hours_to_resolution ?? null,
        minScore: body.min_score ?? null,
        limit: body.limit ?? LIMIT_DEFAULT,
      });
    },
  });
}

/** @throws InvalidRequestError that lists every name without a venue */
function parseMarketNames(names: readonly string[], platform: VenueId | null, trading: readonly VenueId[]) {
  const errors: ValidationItem[] = [];
  const text = "an id must have the form platform/market_id, unless platform is given";
  const markets = names.flatMap((name, index) => {
    const market = parseMarketName(name, trading, platform);
    if (market === null) errors.push(valueError(["body", "market_ids", index], text, name));
    return market ?? [];
  });
  if (errors.length > 0) throw new InvalidRequestError(errors);
  return markets;
}
