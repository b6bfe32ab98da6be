import type { FastifyInstance } from "fastify";
import type { ListedMarket, World } from "../../world/types.ts";
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { polymarketConditionId, polymarketQuestionId, sha256Hex } from "./ids.ts";
import { enforceRequestLimits } from "./limits.ts";
import { decimal, marketState, payoutsOf } from "./market-state.ts";
import { integerParam, listParam, type Query, textParam, ValidationError } from "./query.ts";
import { newestTrades, tradeRowV1, tradeRowV2 } from "./trades.ts";

const ROWS_DEFAULT = 100;
const ROWS_V1_MAX = 10_000;
const ROWS_V2_MAX = 1_000;
/** `/v2/trades` omits trades of fewer tokens. */
const DUST_TOKENS = 0.01;
const CONDITIONS_MAX = 20;
/** Sentinel of the oracle for a price that was never proposed. */
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

interface Cursor {
  /** Time of the last row returned, Unix milliseconds. */
  readonly until: number;
  /** Number of rows with that time which were already returned. */
  readonly skip: number;
}

const encodeCursor = ({ until, skip }: Cursor) => Buffer.from(`${until}.${skip}`).toString("base64url");

function decodeCursor(text: string): Cursor {
  const [, until, skip] = /^(\d{1,15})\.(\d{1,9})$/.exec(Buffer.from(text, "base64url").toString("utf8")) ?? [];
  if (until === undefined) throw new ValidationError("invalid cursor");
  return { until: Number(until), skip: Number(skip) };
}

/** The markets of the condition ids in parameter `name`; unknown ids are ignored. */
function requestedMarkets(catalogue: Catalogue, query: Query, name: string, idsMax: number): ListedMarket[] {
  const conditionIds = listParam(query, name);
  if (conditionIds === null) throw new ValidationError(`${name} is required`);
  if (conditionIds.length > idsMax) throw new ValidationError(`${name} takes at most ${idsMax} values`);
  return conditionIds.flatMap((id) => catalogue.marketByCondition(id) ?? []);
}

/** Registers `/trades` and `/v2/trades`: the trades of some markets as seen by the taker. */
function installTrades(app: FastifyInstance, { world, now }: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/trades", async ({ query }) => {
    const count = Math.min(ROWS_V1_MAX, integerParam(query, "limit") ?? ROWS_DEFAULT);
    const markets = requestedMarkets(catalogue, query, "market", Number.POSITIVE_INFINITY);
    return newestTrades(world, { markets, until: now(), count }).map(tradeRowV1);
  });

  app.get<{ Querystring: Query }>("/v2/trades", async ({ query }) => {
    const limit = integerParam(query, "limit") ?? ROWS_DEFAULT;
    if (limit < 1 || limit > ROWS_V2_MAX) throw new ValidationError(`limit must be between 1 and ${ROWS_V2_MAX}`);
    const markets = requestedMarkets(catalogue, query, "condition", CONDITIONS_MAX);
    const cursorText = textParam(query, "cursor");
    const cursor = cursorText === null ? { until: now(), skip: 0 } : decodeCursor(cursorText);
    const count = cursor.skip + limit + 1;
    const rows = newestTrades(world, { markets, until: cursor.until, count, sizeMin: DUST_TOKENS }).slice(cursor.skip);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const withLastTime = page.filter((row) => row.at === last?.at).length;
    const skip = last?.at === cursor.until ? cursor.skip + withLastTime : withLastTime;
    return {
      data: page.map(tradeRowV2),
      pagination: { has_more: hasMore, next_cursor: hasMore ? encodeCursor({ until: last.at, skip }) : null },
    };
  });
}

function installResolutions(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/v2/resolutions", async ({ query }) => {
    const markets = requestedMarkets(catalogue, query, "condition", CONDITIONS_MAX);
    return { data: markets.map((market) => resolutionRow(context.world, market, context.now())) };
  });
}

/** Resolution state of one question. Prices are payouts of the first token. */
function resolutionRow(world: World, market: ListedMarket, now: number) {
  const { lifecycle, oracle } = marketState(world, market, now);
  const payouts = lifecycle.outcome === null ? null : payoutsOf(lifecycle.outcome);
  const proposed = payouts === null ? UNSET_PRICE : decimal(payouts[0]);
  const isResolved = oracle.status === "resolved";
  const isReproposed = isResolved ? market.disputed : oracle.status === "reproposed";
  const resolvedAt = isResolved ? Math.floor(lifecycle.since / 1000) : null;
  return {
    question_id: polymarketQuestionId(market),
    condition_id: polymarketConditionId(market),
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
    last_update_timestamp: Math.floor(Math.max(lifecycle.since, market.openAt) / 1000),
    resolved_at: resolvedAt,
    resolved_block: resolvedAt === null ? null : Math.floor(resolvedAt / 2),
    transaction_hash: `0x${sha256Hex(`resolution:${market.index}:${oracle.status}`)}`,
    log_index: market.position,
  };
}
