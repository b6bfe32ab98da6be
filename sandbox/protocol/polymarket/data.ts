import type { FastifyInstance } from "fastify";
import type { ListedMarket, World } from "../../world/types.ts";
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { findMarketByDataCondition, installTrades } from "./data-trades.ts";
import { dataConditionId, polymarketQuestionId, sha256Hex } from "./ids.ts";
import { enforceRequestLimits } from "./limits.ts";
import { computeMarketState, formatDecimal, payoutsOf } from "./market-state.ts";
import { parseJoinedParam, parseTextParam, type Query, ValidationError } from "./query.ts";

const IDS_MAX = 20;
/** Value of a price that was not proposed to the oracle. */
const UNSET_PRICE = "69";
const PAYOUT_UNIT = 1_000_000;

const LIMIT_RULES = {
  total: 1_000,
  paths: [{ name: "trades", matches: (path: string) => path === "/trades" || path === "/v2/trades", limit: 200 }],
};

/** The Data API: public trades and resolutions. */
export function dataService(context: ExchangeContext, catalogue: Catalogue): ExchangeService {
  return {
    venue: "polymarket",
    name: "data",
    basePath: "",
    scheme: "http",
    listener: "polymarket-data",
    install(app) {
      allowCrossOriginRequests(app);
      if (context.enforceLimits) enforceRequestLimits(app, LIMIT_RULES, context.now);
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof ValidationError) return reply.code(400).send({ error: error.message });
        return reply.code(500).send({ error: "internal server error" });
      });
      app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
      installTrades(app, context, catalogue);
      installResolutions(app, context, catalogue);
    },
  };
}

function installResolutions(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/v2/resolutions", async ({ query }) => {
    const idParams = ["question_id", "condition", "event_id"].filter((name) => parseTextParam(query, name) !== null);
    const [name] = idParams;
    if (idParams.length !== 1 || name === undefined)
      throw new ValidationError("exactly one of question_id, condition, event_id is required");
    const ids = parseJoinedParam(query, name) ?? [];
    if (ids.length > IDS_MAX) throw new ValidationError(`${name} takes at most ${IDS_MAX} values`);
    const markets = ids.flatMap((id): readonly ListedMarket[] => {
      if (name === "event_id") return catalogue.findEventById(id)?.markets ?? [];
      const market =
        name === "condition" ? findMarketByDataCondition(catalogue, id) : catalogue.findMarketByQuestion(id);
      return market === null ? [] : [market];
    });
    return { data: markets.map((market) => presentResolution(context.world, market, context.now())) };
  });
}

/** ISO time without milliseconds. */
const formatSecond = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Resolution state of one question. Prices are the payout of the YES token. */
function presentResolution(world: World, market: ListedMarket, now: number) {
  const { lifecycle, oracle } = computeMarketState(world, market, now);
  const payouts = lifecycle.outcome === null ? null : payoutsOf(lifecycle.outcome);
  const proposed = payouts === null ? UNSET_PRICE : formatDecimal(payouts[0]);
  const isResolved = oracle.status === "resolved";
  const isReproposed = isResolved ? market.disputed : oracle.status === "reproposed";
  return {
    question_id: polymarketQuestionId(market),
    condition_id: dataConditionId(market),
    status: oracle.status,
    was_disputed: oracle.umaResolutionStatuses.includes("disputed"),
    was_arbitrated: false,
    extended_review: false,
    new_version_q: true,
    proposed_price: proposed,
    reproposed_price: isReproposed ? proposed : UNSET_PRICE,
    price: isResolved ? proposed : UNSET_PRICE,
    payouts: isResolved && payouts !== null ? payouts.map((value) => Math.round(value * PAYOUT_UNIT)) : null,
    reporter: market.event.frequency === "fifteen_min" ? "CHAINLINK" : "UMA_OO",
    resolution_source: "reported",
    market_type: market.event.markets.length > 1 ? "multi" : "binary",
    last_update_timestamp: formatSecond(Math.max(lifecycle.since, market.openAt)),
    resolved_at: isResolved ? formatSecond(lifecycle.since) : null,
    resolved_block: isResolved ? Math.floor(lifecycle.since / 2_000) : null,
    transaction_hash: `0x${sha256Hex(`resolution:${market.index}:${oracle.status}`)}`,
    log_index: market.position,
  };
}
