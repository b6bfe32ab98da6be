import type { FastifyInstance } from "fastify";
import type { BoardMarket } from "../../../board/index.ts";
import { METERING, type Metering } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import type { PriceHistory } from "../../../storage/index.ts";
import { type MarketsService, presentHistory } from "../../markets/market-data/index.ts";
import type { CurrentAnalysis } from "./model.ts";
import {
  presentAnalysis,
  presentCausal,
  presentMeta,
  presentRunning,
  presentScenarios,
  presentStatus,
} from "./present.ts";
import { createAnalysisSchemas, LIST_LIMIT_DEFAULT } from "./schema.ts";
import type { AnalysesService } from "./service.ts";

const HISTORY_POINTS = 48;

interface AnalysisRoutesOptions {
  readonly service: AnalysesService;
  readonly venues: VenueIds;
  /** A caller who paid for a run has no key to poll it with. The id, which nobody can guess, is then sufficient. */
  readonly acceptsPayments: boolean;
  readonly getMarket: MarketsService["getListedMarket"];
  readonly getHistory: (market: BoardMarket, period: "7d", maxPoints: number) => Promise<PriceHistory>;
}

/** Metering of the start of an analysis. A payment is settled before the run, because the result comes later. */
export const ANALYZE_METERING: Metering = { ...METERING.INSIGHT, settles: "before" };

const OPTIONS = { access: "key", tag: "Insights" } as const;

export function analysisRoutes(app: FastifyInstance, options: AnalysisRoutesOptions): void {
  const { service, acceptsPayments, getMarket, getHistory } = options;
  const schemas = createAnalysisSchemas(options.venues);
  defineRoute(app, {
    ...OPTIONS,
    method: "POST",
    url: "/v1/markets/:platform/:market_id/analyze",
    metering: ANALYZE_METERING,
    summary: "Start an analysis",
    description:
      "Starts an analysis of a market and returns its id. If an analysis of the market is running, its id is returned. Poll `poll_url` until `status` is `complete`, then read the result with `GET …/analysis`. The call counts when it is accepted, whatever the result. A market that is not open cannot be analysed (422).",
    operationId: "analyze_market",
    params: schemas.marketPath,
    query: schemas.analyzeQuery,
    responses: { 202: schemas.AnalysisStatus },
    errors: ["market_not_found", "rate_limited", "venue_unavailable", "store_unavailable", "overloaded"],
    async handler({ params: { platform: venue, market_id: marketId }, query, principal, reply }) {
      const options = { customerId: principal.customerId, isForced: query.force === true };
      const { analysisId, estimatedSeconds } = await service.analyse(venue, marketId, options);
      reply.code(202);
      return presentRunning({ analysisId, venue, marketId }, estimatedSeconds);
    },
  });
  const statusOptions = {
    ...(acceptsPayments
      ? ({ access: "public", metering: METERING.FREE } as const)
      : ({ access: "key", metering: METERING.UNCOUNTED } as const)),
    method: "GET",
    tag: "Insights",
    responses: { 200: schemas.AnalysisStatus },
    errors: ["analysis_not_found", "store_unavailable"],
    cacheControl: "no-store",
  } as const;
  defineRoute(app, {
    ...statusOptions,
    url: "/v1/markets/:platform/:market_id/analyze/:analysis_id/status",
    summary: "Retrieve the status of an analysis",
    description: "Returns the status of a run. The call is free of charge.",
    operationId: "get_analysis_status",
    params: schemas.runPath,
    handler: async ({ params: { platform: venue, market_id: marketId, analysis_id: id } }) =>
      presentStatus(await service.getStatus(id, { venue, marketId })),
  });
  defineRoute(app, {
    ...statusOptions,
    url: "/v1/analyses/:analysis_id/status",
    summary: "Retrieve the status of an analysis by its id",
    description: "Returns the status of a run without naming its market. The call is free of charge.",
    operationId: "get_analysis_status_by_id",
    params: schemas.idPath,
    handler: async ({ params }) => presentStatus(await service.getStatus(params.analysis_id, null)),
  });
  const readHistory = async ({ venue, marketId }: CurrentAnalysis) => {
    const market = await getMarket(venue, marketId);
    return presentHistory(market, await getHistory(market, "7d", HISTORY_POINTS));
  };
  defineRoute(app, {
    ...OPTIONS,
    method: "GET",
    url: "/v1/markets/:platform/:market_id/analysis",
    metering: METERING.INSIGHT,
    summary: "Retrieve the latest analysis of a market",
    description: "Returns the result of the market's latest completed analysis, whoever requested it.",
    operationId: "get_analysis",
    params: schemas.marketPath,
    query: schemas.analysisQuery,
    responses: { 200: schemas.Analysis },
    errors: ["market_not_found", "analysis_not_found", "venue_unavailable", "store_unavailable"],
    async handler({ params: { platform, market_id }, query }) {
      const stored = await service.getCurrent(platform, market_id);
      const expansions = new Set<string>(query.expand);
      return {
        ...presentAnalysis(stored),
        ...(expansions.has("causal") ? { causal: presentCausal(stored) } : null),
        ...(expansions.has("scenarios") ? { scenarios: presentScenarios(stored) } : null),
        ...(expansions.has("meta") ? { meta: presentMeta(stored) } : null),
        ...(expansions.has("history") ? { history: await readHistory(stored) } : null),
      };
    },
  });
  defineRoute(app, {
    ...OPTIONS,
    method: "GET",
    url: "/v1/analyses",
    metering: METERING.INSIGHT,
    summary: "List your analyses",
    description:
      "Returns the completed analyses that you started or joined in the last 30 days, newest first, without expansions.",
    operationId: "list_analyses",
    query: schemas.listQuery,
    responses: { 200: schemas.AnalysisList },
    errors: ["store_unavailable"],
    async handler({ query: { limit = LIST_LIMIT_DEFAULT }, principal }) {
      return (await service.listOf(principal.customerId, limit)).map(presentAnalysis);
    },
  });
}
