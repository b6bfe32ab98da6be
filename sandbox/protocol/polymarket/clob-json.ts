import { createHash } from "node:crypto";
import type { Level, ListedMarket } from "../../world/types.ts";
import { polymarketConditionId, polymarketMarketSlug, polymarketTokenIds, type TokenSide } from "./ids.ts";
import {
  formatDecimal,
  isNegRisk,
  type MarketState,
  ORDER_SIZE_MIN,
  outcomeNamesOf,
  rewardsOf,
  toTokenBook,
} from "./market-state.ts";

const REWARD_ASSET_ADDRESS = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";

/** Returns levels in wire format, best level last. */
function presentLevels(levels: readonly Level[]): { price: string; size: string }[] {
  return levels.map(({ price, size }) => ({ price: formatDecimal(price), size: formatDecimal(size) })).reverse();
}

/**
 * Presents the book of one token. The hash is the SHA-1 of the JSON with an empty hash, as in the venue's client
 * library, so the order of the fields matters.
 */
export function presentBook(state: MarketState, side: TokenSide) {
  const { market } = state;
  const book = toTokenBook(state.book, side);
  const summary = {
    market: polymarketConditionId(market),
    asset_id: polymarketTokenIds(market)[side],
    timestamp: String(Math.floor(state.book.changedAt)),
    hash: "",
    bids: presentLevels(book.bids),
    asks: presentLevels(book.asks),
    min_order_size: String(ORDER_SIZE_MIN),
    tick_size: formatDecimal(market.tick),
    neg_risk: isNegRisk(market.event),
    last_trade_price: book.lastPrice === null ? "" : formatDecimal(book.lastPrice),
  };
  return { ...summary, hash: createHash("sha1").update(JSON.stringify(summary)).digest("hex") };
}

function presentTokens(state: MarketState) {
  const names = outcomeNamesOf(state.market);
  const tokens = polymarketTokenIds(state.market);
  return ([0, 1] as const).map((side) => ({
    token_id: tokens[side],
    outcome: names[side],
    price: state.prices[side],
    winner: state.isClosed && state.prices[side] === 1,
  }));
}

function presentRewards(market: ListedMarket) {
  const rewards = rewardsOf(market);
  return {
    rates: rewards === null ? null : [{ asset_address: REWARD_ASSET_ADDRESS, rewards_daily_rate: rewards.dailyRate }],
    min_size: rewards?.minSize ?? 0,
    max_spread: rewards?.maxSpread ?? 0,
  };
}

/** Market object of `/simplified-markets`. */
export function presentSimplifiedMarket(state: MarketState) {
  return {
    condition_id: polymarketConditionId(state.market),
    rewards: presentRewards(state.market),
    tokens: presentTokens(state),
    active: true,
    closed: state.isClosed,
    archived: false,
    accepting_orders: state.acceptsOrders,
  };
}

/** Market object of `/markets`. */
export function presentClobMarket(state: MarketState) {
  const { market } = state;
  return {
    ...presentSimplifiedMarket(state),
    enable_order_book: !state.isClosed,
    minimum_order_size: ORDER_SIZE_MIN,
    minimum_tick_size: market.tick,
    question: market.question,
    description: market.rules,
    market_slug: polymarketMarketSlug(market),
    end_date_iso: Number.isFinite(market.closeAt) ? new Date(market.closeAt).toISOString() : null,
    neg_risk: isNegRisk(market.event),
  };
}
