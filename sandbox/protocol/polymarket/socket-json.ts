import type { Level, ListedMarket, WorldTrade } from "../../world/types.ts";
import { presentBook } from "./clob-json.ts";
import {
  polymarketConditionId,
  polymarketMarketId,
  polymarketMarketSlug,
  polymarketTokenIds,
  sha256Hex,
  type TokenSide,
} from "./ids.ts";
import { feeRateOf, formatDecimal, type MarketState, outcomeNamesOf, toTokenBook } from "./market-state.ts";
import { createTradeRows } from "./trades.ts";

interface BookSides {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** Full book of one token. `timestamp` is in Unix milliseconds. */
export function createBookMessage(state: MarketState, side: TokenSide, at: number = state.book.changedAt) {
  return { event_type: "book", ...presentBook(state, side), timestamp: String(Math.floor(at)) };
}

/** Returns the changed levels with their new size; removed levels have size 0. */
function findChangedLevels(before: readonly Level[], after: readonly Level[]): Level[] {
  const previousSizes = new Map(before.map(({ price, size }) => [price, size]));
  const changed = after.filter(({ price, size }) => previousSizes.get(price) !== size);
  const prices = new Set(after.map(({ price }) => price));
  return [...changed, ...before.filter(({ price }) => !prices.has(price)).map(({ price }) => ({ price, size: 0 }))];
}

/** Changes in the books of the given tokens since `previous`, in one message. */
export function createPriceChangeMessage(
  state: MarketState,
  previous: BookSides,
  sides: readonly TokenSide[],
  at: number,
) {
  const tokens = polymarketTokenIds(state.market);
  const changes = sides.flatMap((token) => {
    const before = toTokenBook({ ...state.book, bids: previous.bids, asks: previous.asks }, token);
    const after = toTokenBook(state.book, token);
    const tops = {
      best_bid: formatDecimal(after.bids[0]?.price ?? 0),
      best_ask: formatDecimal(after.asks[0]?.price ?? 1),
    };
    const hash = sha256Hex(`${state.market.index}:${state.book.version}:${token}`).slice(0, 40);
    const entry = (side: "BUY" | "SELL") => (level: Level) => ({
      asset_id: tokens[token],
      price: formatDecimal(level.price),
      size: formatDecimal(level.size),
      side,
      hash,
      ...tops,
    });
    return [
      ...findChangedLevels(before.bids, after.bids).map(entry("BUY")),
      ...findChangedLevels(before.asks, after.asks).map(entry("SELL")),
    ];
  });
  return {
    event_type: "price_change",
    market: polymarketConditionId(state.market),
    timestamp: String(Math.floor(at)),
    price_changes: changes,
  };
}

/** Creates the messages of a trade for the token that the taker traded. */
export function createLastTradeMessages(market: ListedMarket, trade: WorldTrade) {
  const tokens = polymarketTokenIds(market);
  return createTradeRows(market, trade, false).map((row) => ({
    side: row.token,
    message: {
      event_type: "last_trade_price",
      asset_id: tokens[row.token],
      market: polymarketConditionId(market),
      price: formatDecimal(row.price),
      size: formatDecimal(row.size),
      side: row.side,
      fee_rate_bps: feeRateOf(market.event) > 0 ? "1000" : "0",
      timestamp: String(Math.floor(row.at)),
      transaction_hash: row.transactionHash,
    },
  }));
}

/** Best bid and ask per token; an empty side is "". */
export function createBestPriceMessages(state: MarketState, sides: readonly TokenSide[], at: number) {
  const tokens = polymarketTokenIds(state.market);
  return sides.map((token) => {
    const { bids, asks } = toTokenBook(state.book, token);
    const bid = bids[0]?.price;
    const ask = asks[0]?.price;
    return {
      event_type: "best_bid_ask",
      market: polymarketConditionId(state.market),
      asset_id: tokens[token],
      best_bid: bid === undefined ? "" : formatDecimal(bid),
      best_ask: ask === undefined ? "" : formatDecimal(ask),
      spread: bid === undefined || ask === undefined ? "" : formatDecimal(ask - bid),
      timestamp: String(Math.floor(at)),
    };
  });
}

export function createNewMarketMessage(market: ListedMarket, at: number) {
  return {
    event_type: "new_market",
    id: polymarketMarketId(market),
    question: market.question,
    market: polymarketConditionId(market),
    slug: polymarketMarketSlug(market),
    description: market.rules,
    assets_ids: polymarketTokenIds(market),
    outcomes: outcomeNamesOf(market),
    timestamp: String(Math.floor(at)),
  };
}

/** Message of a settled market. A partially paid or void market has no winning token. */
export function createResolvedMessage(state: MarketState, at: number) {
  const tokens = polymarketTokenIds(state.market);
  const names = outcomeNamesOf(state.market);
  const winner = state.prices[0] === 1 ? 0 : state.prices[1] === 1 ? 1 : null;
  return {
    event_type: "market_resolved",
    id: polymarketMarketId(state.market),
    question: state.market.question,
    market: polymarketConditionId(state.market),
    slug: polymarketMarketSlug(state.market),
    assets_ids: tokens,
    outcomes: names,
    winning_asset_id: winner === null ? "" : tokens[winner],
    winning_outcome: winner === null ? "" : names[winner],
    timestamp: String(Math.floor(at)),
  };
}
