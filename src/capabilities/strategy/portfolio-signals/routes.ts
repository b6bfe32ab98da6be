import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import { disconnectSignal, readSizing, respondRunning, SIGNAL_ERRORS, SIGNAL_METERING } from "../signals/index.ts";
import { presentPortfolioSignal } from "./present.ts";
import { createPortfolioSignalSchemas } from "./schema.ts";
import type { PortfolioSignalsService } from "./service.ts";

export function portfolioSignalRoutes(app: FastifyInstance, service: PortfolioSignalsService, venues: VenueIds): void {
  const schemas = createPortfolioSignalSchemas(venues);
  defineRoute(app, {
    access: "key",
    tag: "Strategy",
    metering: SIGNAL_METERING,
    method: "POST",
    url: "/v1/signals/portfolio",
    summary: "Generate a signal beside a portfolio",
    description:
      "Without a market, says for each position whether to keep, reduce, close or hedge it, and what that costs. With a market, says how much of a market to buy beside the positions that you hold. The joint outcomes of all markets honour logical constraints (the same question on two venues, outcomes of one event, thresholds) exactly, and the correlations of 30 days of price moves. The size is the one with the largest expected growth of the whole portfolio. Nothing is stored: the signal is no part of the track record. Without a usable analysis the response is 202, as in `POST /v1/signals`.",
    operationId: "generate_portfolio_signal",
    query: schemas.query,
    body: schemas.body,
    responses: { 200: Type.Union([schemas.PortfolioSignal, schemas.PortfolioAdvice]), 202: schemas.AnalysisStatus },
    errors: SIGNAL_ERRORS,
    async handler({ query, body, principal, request, reply }) {
      const positions = (body.portfolio ?? []).map(({ platform, market_id, side, size_usd, entry_price }) => ({
        venue: platform,
        marketId: market_id,
        side,
        sizeUsd: size_usd,
        entryPrice: entry_price,
      }));
      const sizing = readSizing(body);
      const namesMarket = body.market_id !== undefined || (body.market_query ?? "").trim() !== "";
      if (!namesMarket && positions.length > 0) return service.advise(positions, sizing);
      const options = { isForced: false, waits: query.wait === true };
      const result = await service.generate({
        customerId: principal.customerId,
        venue: body.platform ?? null,
        marketId: body.market_id ?? null,
        question: body.market_query ?? null,
        ...options,
        signal: disconnectSignal(reply),
        positions,
        sizing,
      });
      if (result.kind === "signal") return presentPortfolioSignal(result.signal);
      return respondRunning({ request, reply }, options, result.run);
    },
  });
}
