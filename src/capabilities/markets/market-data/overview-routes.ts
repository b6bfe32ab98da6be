import type { FastifyInstance } from "fastify";
import { sendPreserialised } from "../../../http/response/preserialised.ts";
import { defineRoute } from "../../../http/route.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { encodeJson } from "../../../lib/round-numbers.ts";
import { presentMarket } from "./present.ts";
import { COMMON_OPTIONS, type RouteContext } from "./route-context.ts";

export function overviewRoutes(app: FastifyInstance, { service, board, schemas, now }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/categories",
    summary: "List categories",
    description: "Returns the categories that have active markets, largest 24-hour volume first.",
    operationId: "list_categories",
    responses: { 200: schemas.CategoryList },
    handler: () =>
      service.listCategories().map(({ category, marketCount, volume24hUsd }) => ({
        category,
        market_count: marketCount,
        volume_24h: volume24hUsd,
      })),
  });
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/sentiment",
    tag: "Analytics",
    summary: "Retrieve the overall market sentiment",
    operationId: "get_sentiment",
    responses: { 200: schemas.Sentiment },
    errors: ["store_unavailable"],
    async handler({ reply }) {
      const sentiment = await service.getSentiment();
      const body = {
        fear_greed_index: sentiment.fearGreedIndex,
        market_regime: sentiment.marketRegime,
        volume_trend: sentiment.volumeTrend,
        spread_trend: sentiment.spreadTrend,
        active_market_count: sentiment.activeMarketCount,
        dominant_category: sentiment.dominantCategory,
        top_movers: sentiment.topMovers.map((market) => presentMarket(market, board.eventOf(market), service.lookups)),
        generated_at: toIso(now()),
      };
      return sendPreserialised(reply, Buffer.from(encodeJson(body)));
    },
  });
}
