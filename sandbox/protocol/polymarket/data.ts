import type { FastifyInstance } from "fastify";
import type { ListedMarket, World } from "../../world/types.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import type { Query } from "../query.ts";
import type { Catalogue } from "./catalogue.ts";
import { findMarketByDataCondition, installTrades } from "./data-trades.ts";
import { dataConditionId } from "./ids.ts";
import type { RequestLimits } from "./limits.ts";
import { computeMarketState, payoutsOf } from "./market-state.ts";
import { createInvalidError, parseJoinedParam } from "./query.ts";
import { createRestHost } from "./rest-host.ts";

const IDS_MAX = 20;
const PAYOUT_UNIT = 1_000_000;

const REQUEST_LIMITS: RequestLimits = { host: 1_000, paths: [[/^(\/v2)?\/trades$/, 200]] };

/** The Data API: public trades and resolutions. */
export const dataService = (context: ExchangeContext, catalogue: Catalogue): ExchangeService =>
  createRestHost("data", context, REQUEST_LIMITS, (app) => {
    installTrades(app, context, catalogue);
    installResolutions(app, context, catalogue);
  });

function installResolutions(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/v2/resolutions", async ({ query }) => {
    const ids = parseJoinedParam(query, "condition");
    if (ids === null) throw createInvalidError("condition is required");
    if (ids.length > IDS_MAX) throw createInvalidError(`condition takes at most ${IDS_MAX} values`);
    const markets = ids.map((id) => findMarketByDataCondition(catalogue, id)).filter((market) => market !== null);
    return { data: markets.map((market) => presentResolution(context.world, market, context.now())) };
  });
}

/** Formats an ISO time without milliseconds. */
const formatSecond = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Presents the resolution state of one market. Payouts are in millionths. */
function presentResolution(world: World, market: ListedMarket, now: number) {
  const { lifecycle, oracle } = computeMarketState(world, market, now);
  const isResolved = oracle.status === "resolved";
  const payouts = isResolved && lifecycle.outcome !== null ? payoutsOf(lifecycle.outcome) : null;
  return {
    condition_id: dataConditionId(market),
    status: oracle.status,
    payouts: payouts?.map((value) => Math.round(value * PAYOUT_UNIT)) ?? null,
    resolved_at: isResolved ? formatSecond(lifecycle.since) : null,
  };
}
