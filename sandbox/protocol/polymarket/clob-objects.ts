import { createHash } from "node:crypto";
import type { Level, ListedMarket } from "../../world/types.ts";
import {
  negRiskMarketId,
  polymarketConditionId,
  polymarketMarketSlug,
  polymarketQuestionId,
  polymarketTokenIds,
  sha256Hex,
  type TokenSide,
} from "./ids.ts";
import {
  decimal,
  feeRate,
  isNegRisk,
  type MarketState,
  ORDER_SIZE_MIN,
  outcomeNames,
  rewardsOf,
  tokenBook,
} from "./market-state.ts";
import { tagsOf } from "./series-and-tags.ts";

const REWARD_ASSET = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";

/** Levels as the venue sends them: the best one last. */
function wireLevels(levels: readonly Level[]): { price: string; size: string }[] {
  return levels.map(({ price, size }) => ({ price: decimal(price), size: decimal(size) })).reverse();
}

/**
 * One token's book. The hash is the SHA-1 of the object with an empty hash, as the venue's client computes it, so the
 * order of the fields matters.
 */
export function bookObject(state: MarketState, side: TokenSide) {
  const { market } = state;
  const book = tokenBook(state.book, side);
  const summary = {
    market: polymarketConditionId(market),
    asset_id: polymarketTokenIds(market)[side],
    timestamp: String(Math.floor(state.book.changedAt)),
    hash: "",
    bids: wireLevels(book.bids),
    asks: wireLevels(book.asks),
    min_order_size: String(ORDER_SIZE_MIN),
    tick_size: decimal(market.tick),
    neg_risk: isNegRisk(market.event),
    last_trade_price: book.lastPrice === null ? "" : decimal(book.lastPrice),
  };
  return { ...summary, hash: createHash("sha1").update(JSON.stringify(summary)).digest("hex") };
}

function tokensOf(state: MarketState) {
  const names = outcomeNames(state.market);
  const tokens = polymarketTokenIds(state.market);
  const isWinner = (side: TokenSide) => state.isClosed && state.prices[side] === 1;
  return ([0, 1] as const).map((side) => ({
    token_id: tokens[side],
    outcome: names[side],
    price: state.prices[side],
    winner: isWinner(side),
  }));
}

function rewardsObject(market: ListedMarket) {
  const rewards = rewardsOf(market);
  return {
    rates: rewards === null ? null : [{ asset_address: REWARD_ASSET, rewards_daily_rate: rewards.dailyRate }],
    min_size: rewards?.minSize ?? 0,
    max_spread: rewards?.maxSpread ?? 0,
  };
}

/** The CLOB's own market object. */
export function clobMarket(state: MarketState) {
  const { market } = state;
  const { event } = market;
  const negRisk = isNegRisk(event);
  return {
    enable_order_book: !state.isClosed,
    active: true,
    closed: state.isClosed,
    archived: false,
    accepting_orders: state.acceptsOrders,
    accepting_order_timestamp: new Date(market.openAt).toISOString(),
    minimum_order_size: ORDER_SIZE_MIN,
    minimum_tick_size: market.tick,
    condition_id: polymarketConditionId(market),
    question_id: polymarketQuestionId(market),
    question: market.question,
    description: market.rules,
    market_slug: polymarketMarketSlug(market),
    end_date_iso: Number.isFinite(market.closeAt) ? new Date(market.closeAt).toISOString() : null,
    game_start_time: null,
    seconds_delay: 0,
    fpmm: "",
    maker_base_fee: 0,
    taker_base_fee: feeRate(event) > 0 ? 1000 : 0,
    notifications_enabled: true,
    neg_risk: negRisk,
    neg_risk_market_id: negRisk ? negRiskMarketId(event) : "",
    neg_risk_request_id: negRisk ? `0x${sha256Hex(`request:${market.index}`)}` : "",
    icon: "",
    image: "",
    rewards: rewardsObject(market),
    is_50_50_outcome: state.isClosed && state.prices[0] === 0.5,
    tokens: tokensOf(state),
    tags: tagsOf(event).map((tag) => tag.label),
  };
}

export function simplifiedMarket(state: MarketState) {
  return {
    condition_id: polymarketConditionId(state.market),
    rewards: rewardsObject(state.market),
    tokens: tokensOf(state),
    active: true,
    closed: state.isClosed,
    archived: false,
    accepting_orders: state.acceptsOrders,
  };
}

/** The trading parameters of a market under one-letter names. */
export function compactMarket(state: MarketState) {
  const { market } = state;
  const names = outcomeNames(market);
  const rate = feeRate(market.event);
  return {
    c: polymarketConditionId(market),
    t: polymarketTokenIds(market).map((token, side) => ({ t: token, o: names[side === 0 ? 0 : 1] })),
    mts: market.tick,
    mos: ORDER_SIZE_MIN,
    nr: isNegRisk(market.event),
    ...(rate > 0 ? { fd: { r: rate, e: 1, to: true } } : {}),
    ao: state.acceptsOrders,
    sd: 0,
    gst: null,
    mbf: 0,
    tbf: rate > 0 ? 1000 : 0,
  };
}

/** Reward configuration of one market; the venue lists it by market. */
export function rewardObject(state: MarketState) {
  const { market } = state;
  const rewards = rewardsOf(market);
  if (rewards === null) return null;
  return {
    condition_id: polymarketConditionId(market),
    question: market.question,
    market_slug: polymarketMarketSlug(market),
    event_slug: "",
    image: "",
    rewards_max_spread: rewards.maxSpread,
    rewards_min_size: rewards.minSize,
    tokens: tokensOf(state).map(({ token_id, outcome, price }) => ({ token_id, outcome, price })),
    rewards_config: [
      {
        asset_address: REWARD_ASSET,
        start_date: new Date(market.openAt).toISOString().slice(0, 10),
        end_date: new Date(market.closeAt).toISOString().slice(0, 10),
        rate_per_day: rewards.dailyRate,
        total_rewards: 0,
      },
    ],
  };
}
