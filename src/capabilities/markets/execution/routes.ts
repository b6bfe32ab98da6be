import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import type { ExecutionGuidance, SideGuidance } from "./model.ts";
import { createExecutionSchemas, SIZE_USD_DEFAULT } from "./schema.ts";
import type { ExecutionService } from "./service.ts";

export interface ExecutionRoutesOptions {
  readonly service: ExecutionService;
  readonly venues: VenueIds;
}

/** GET /v1/markets/{platform}/{market_id}/execution. */
export function executionRoutes(app: FastifyInstance, { service, venues }: ExecutionRoutesOptions): void {
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
    handler: async ({ params, query }) =>
      presentGuidance(await service.getGuidance(params.platform, params.market_id, query.size_usd ?? SIZE_USD_DEFAULT)),
  });
}

function presentGuidance(guidance: ExecutionGuidance) {
  const { listing } = guidance.market;
  return {
    market_id: listing.marketId,
    platform: listing.venue,
    title: listing.title,
    current_bid: guidance.bid,
    current_ask: guidance.ask,
    current_spread: guidance.spread,
    avg_spread_48h: guidance.averageSpread,
    spread_percentile: guidance.spreadPercentile,
    spread_trend: guidance.spreadTrend,
    liquidity_score: guidance.liquidityScore,
    estimated_slippage_pct: guidance.slippagePercent,
    recommendation: guidance.recommendation,
    suggested_limit_price: guidance.limitPrice,
    rationale: guidance.rationale,
    buy_yes: presentSide(guidance.sides?.buyYes),
    buy_no: presentSide(guidance.sides?.buyNo),
    sell_yes: presentSide(guidance.sides?.sellYes),
    sell_no: presentSide(guidance.sides?.sellNo),
    upcoming_event: guidance.nextEvent?.label ?? null,
    hours_to_event: guidance.nextEvent?.hours ?? null,
    tick_count: guidance.tickCount,
    reference_size_usd: guidance.sizeUsd,
    generated_at: new Date(guidance.generatedAt).toISOString(),
  };
}

function presentSide(side: SideGuidance | undefined) {
  if (side === undefined) return null;
  return {
    limit_price: side.limitPrice,
    contracts: side.contracts,
    average_price: side.averagePrice,
    worst_price: side.worstPrice,
    slippage_pct: side.slippagePercent,
    fee_usd: side.feeUsd,
  };
}
