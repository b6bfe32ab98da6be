import type { FastifyInstance } from "fastify";
import type { ListedMarket, World } from "../../world/types.ts";
import { allowBrowsers } from "../browser-access.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { installTrades } from "./data-trades.ts";
import { installWallets } from "./data-wallets.ts";
import { integerParam, listParam, numberParam, type Query, textParam, ValidationError } from "./gamma-query.ts";
import { polymarketConditionId, polymarketQuestionId, polymarketTokenIds, sha256Hex, walletOf } from "./ids.ts";
import type { Listing } from "./listing.ts";
import { decimal, marketState, outcomeNames, payoutsOf } from "./market-state.ts";
import { HISTORY_INTERVALS, priceHistory } from "./price-history.ts";
import { enforceRequestLimits } from "./request-limits.ts";

const IDS_MAX = 20;
/** What the oracle writes where no price was ever proposed. */
const UNSET_PRICE = "69";
const PAYOUT_UNIT = 1_000_000;
const HISTORY_WINDOW_S = 15 * 86_400;
const HISTORY_ROWS_MAX = 10_000;
const HOLDERS_DEFAULT = 20;
const HOLDERS_MAX = 500;

const LIMIT_RULES = {
  total: 1_000,
  paths: [
    { name: "trades", matches: (path: string) => path === "/trades" || path === "/v2/trades", limit: 200 },
    { name: "positions", matches: (path: string) => path.endsWith("/positions"), limit: 150 },
  ],
};

/** The tape, resolutions, open interest and holders. */
export function dataService(context: ExchangeContext, listing: Listing): ExchangeService {
  return {
    venue: "polymarket",
    name: "data",
    basePath: "",
    scheme: "http",
    listener: "polymarket-data",
    install(app) {
      allowBrowsers(app);
      if (context.enforceLimits) enforceRequestLimits(app, LIMIT_RULES, context.now);
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof ValidationError) return reply.code(400).send({ error: error.message });
        return reply.code(500).send({ error: "internal server error" });
      });
      app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
      app.get("/", async () => ({ data: "OK" }));
      app.get("/v2/status", async () => ({ status: "ok", timestamp: Math.floor(context.now() / 1000) }));
      installTrades(app, context, listing);
      installResolutions(app, context, listing);
      installHistory(app, context, listing);
      installHoldings(app, context, listing);
      installWallets(app);
    },
  };
}

function installResolutions(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  app.get<{ Querystring: Query }>("/v2/resolutions", async ({ query }) => {
    const named = ["question_id", "condition", "event_id"].filter((name) => textParam(query, name) !== null);
    const [name] = named;
    if (named.length !== 1 || name === undefined)
      throw new ValidationError("exactly one of question_id, condition, event_id is required");
    const ids = listParam(query, name) ?? [];
    if (ids.length > IDS_MAX) throw new ValidationError(`${name} takes at most ${IDS_MAX} values`);
    const markets = ids.flatMap((id): readonly ListedMarket[] => {
      if (name === "event_id") return listing.eventById(id)?.markets ?? [];
      const market = name === "condition" ? listing.marketByCondition(id) : listing.marketByQuestion(id);
      return market === null ? [] : [market];
    });
    return { data: markets.map((market) => resolutionRow(context.world, market, context.now())) };
  });
}

/** Where the oracle stands on one question. The proposed price is what the first token would pay. */
function resolutionRow(world: World, market: ListedMarket, now: number) {
  const { lifecycle, oracle } = marketState(world, market, now);
  const payouts = lifecycle.outcome === null ? null : payoutsOf(lifecycle.outcome);
  const proposed = payouts === null ? UNSET_PRICE : decimal(payouts[0]);
  const isResolved = oracle.status === "resolved";
  const isAgain = isResolved ? market.disputed : oracle.status === "reproposed";
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
    reproposed_price: isAgain ? proposed : UNSET_PRICE,
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

function installHistory(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  app.get<{ Querystring: Query }>("/v2/prices-history", async ({ query }) => {
    const token = textParam(query, "token_id") ?? textParam(query, "market");
    if (token === null) throw new ValidationError("token_id is required");
    const interval = textParam(query, "interval");
    const named =
      interval !== null && Object.hasOwn(HISTORY_INTERVALS, interval) ? HISTORY_INTERVALS[interval] : undefined;
    const start = numberParam(query, "start");
    if (named === undefined && start === null) throw new ValidationError("start or a known interval is required");
    const now = context.now();
    const asOf = numberParam(query, "as_of");
    const end = Math.min(numberParam(query, "end") ?? now / 1000, asOf ?? now / 1000, now / 1000);
    if (start !== null && end - start > HISTORY_WINDOW_S)
      throw new ValidationError("the window may be at most 15 days");
    const minutes = named?.spanMs === Number.POSITIVE_INFINITY ? 60 : (named?.fidelity ?? 1);
    const bucketSeconds = Math.max(60, integerParam(query, "bucket_seconds") ?? minutes * 60);
    const limit = Math.min(HISTORY_ROWS_MAX, integerParam(query, "limit") ?? HISTORY_ROWS_MAX);
    const after = integerParam(query, "cursor");
    const from = Math.max(
      start === null ? now - (named?.spanMs ?? 0) : start * 1000,
      after === null ? 0 : after * 1000,
    );
    const found = listing.marketByToken(token);
    if (found === null) return { data: [], pagination: { has_more: false, next_cursor: null } };
    const { market, side } = found;
    const stepMinutes = Math.max(1, Math.round(bucketSeconds / 60));
    const rows = priceHistory(context.world, market, side, { from, to: end * 1000, stepMinutes });
    const shown = rows.slice(0, limit).map(({ t, p }) => ({ timestamp: t, price: p, resolution: bucketSeconds }));
    const { outcome, phase, since } = context.world.lifecycle(market, now);
    const hasMore = rows.length > limit;
    if (!hasMore && phase === "finalized" && outcome !== null && since <= end * 1000) {
      shown.push({ timestamp: Math.floor(since / 1000), price: payoutsOf(outcome)[side], resolution: bucketSeconds });
    }
    return {
      data: shown,
      pagination: { has_more: hasMore, next_cursor: hasMore ? String(shown.at(-1)?.timestamp) : null },
    };
  });
}

function installHoldings(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const { world } = context;
  const openInterest = (market: ListedMarket) => world.activity(market, context.now()).openInterestContracts;
  app.get<{ Querystring: Query }>("/oi", async ({ query }) => {
    const conditions = listParam(query, "market");
    if (conditions === null) {
      const total = listing.markets().reduce((sum, market) => sum + (openInterest(market) ?? 0), 0);
      return [{ market: "GLOBAL", value: total }];
    }
    return conditions.flatMap((id) => {
      const market = listing.marketByCondition(id);
      return market === null ? [] : [{ market: id, value: openInterest(market) }];
    });
  });
  app.get<{ Querystring: Query }>("/live-volume", async ({ query }) => {
    const id = textParam(query, "id");
    if (id === null) throw new ValidationError("required query param 'id' not provided");
    const markets = (listing.eventById(id)?.markets ?? []).map((market) => ({
      market: polymarketConditionId(market),
      value: world.activity(market, context.now()).volumeUsd,
    }));
    return [{ total: markets.reduce((sum, { value }) => sum + (value ?? 0), 0), markets }];
  });
  app.get<{ Querystring: Query }>("/holders", async ({ query }) => {
    const conditions = listParam(query, "market");
    if (conditions === null) throw new ValidationError("required query param 'market' not provided");
    const limit = Math.min(HOLDERS_MAX, integerParam(query, "limit") ?? HOLDERS_DEFAULT);
    const least = numberParam(query, "minBalance") ?? 1;
    return conditions.slice(0, IDS_MAX).flatMap((id) => {
      const market = listing.marketByCondition(id);
      return market === null ? [] : holdersOf(world, market, context.now(), limit, least);
    });
  });
}

/** Net positions of the takers of all matches so far, largest first, one group per token. */
function holdersOf(world: World, market: ListedMarket, now: number, limit: number, least: number) {
  const net = new Map<number, number>();
  for (const trade of world.trades(market, market.openAt, now + 1)) {
    net.set(trade.taker, (net.get(trade.taker) ?? 0) + (trade.takerSide === "yes" ? trade.size : -trade.size));
  }
  const names = outcomeNames(market);
  const tokens = polymarketTokenIds(market);
  return ([0, 1] as const).map((side) => {
    const held = [...net]
      .map(([taker, size]) => ({ taker, amount: side === 0 ? size : -size }))
      .filter(({ amount }) => amount >= least);
    held.sort((a, b) => b.amount - a.amount || a.taker - b.taker);
    return {
      token: tokens[side],
      holders: held.slice(0, limit).map(({ taker, amount }) => ({
        proxyWallet: walletOf(taker),
        asset: tokens[side],
        amount,
        outcomeIndex: side,
        outcome: names[side],
        name: `trader-${walletOf(taker).slice(2, 8)}`,
        pseudonym: `Trader ${walletOf(taker).slice(2, 8)}`,
        bio: "",
        profileImage: "",
        profileImageOptimized: "",
        displayUsernamePublic: false,
      })),
    };
  });
}
