import type { FastifyInstance } from "fastify";
import { METERING, type Metering } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import { createConsensusSchemas } from "./schema.ts";
import type { ConsensusService } from "./service.ts";

/**
 * Free, because reports improve the consensus for all customers. Requires an account, because an anonymous payer could
 * pretend to be many agents.
 */
const REPORT_METERING: Metering = { ...METERING.ACCOUNT, minimumPlan: "pro" };

/**
 * GET /v1/markets/{platform}/{market_id}/consensus and POST /v1/trades/report.
 *
 * @param venues  ids of the venues that clients can query
 */
export function consensusRoutes(app: FastifyInstance, service: ConsensusService, venues: readonly string[]): void {
  const schemas = createConsensusSchemas(venues);
  const options = { access: "key", tag: "Consensus" } as const;

  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/markets/:platform/:market_id/consensus",
    metering: METERING.STRATEGY,
    summary: "Retrieve the consensus of reported trades",
    description:
      "Returns the probability implied by the trades that agents reported with `POST /v1/trades/report`, and how many they are.",
    operationId: "get_consensus",
    params: schemas.marketPath,
    query: schemas.consensusQuery,
    responses: { 200: schemas.Consensus },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    handler: ({ params: { platform, market_id }, query: { period = "7d" } }) =>
      service.getConsensus(platform, market_id, period),
  });

  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/trades/report",
    metering: REPORT_METERING,
    summary: "Report a trade for the consensus",
    description:
      "Stores a trade that you made at a venue. The call is free of charge. It can be repeated safely: an equal report counts once.",
    operationId: "report_trade",
    headers: schemas.reportHeaders,
    body: schemas.reportBody,
    responses: { 200: schemas.TradeReportResult },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    async handler({ body, headers, principal }) {
      const { platform: venue, market_id: marketId, side, price, size_usd: sizeUsd, client_ref: clientRef = "" } = body;
      const report = { venue, marketId, side, price, sizeUsd, clientRef };
      const tradeCount = await service.report(principal.customerId, report, headers["idempotency-key"] ?? null);
      return { status: "accepted" as const, trade_count: tradeCount };
    },
  });
}
