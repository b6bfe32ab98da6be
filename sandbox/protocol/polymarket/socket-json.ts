import type { Level, ListedMarket, WorldTrade } from "../../world/types.ts";
import { presentBook } from "./clob-json.ts";
import { polymarketConditionId, polymarketMarketId, polymarketTokenIds, type TokenSide } from "./ids.ts";
import { formatDecimal, type MarketState, toOppositePrice, toTokenBook } from "./market-state.ts";
import { listFills, takerOf, transactionHashOf } from "./trades.ts";

interface BookSides {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** Creates a message with the full book of one token after a match. `timestamp` is in Unix milliseconds. */
export function createBookMessage(state: MarketState, side: TokenSide, at: number = state.book.changedAt) {
  const { market, asset_id, hash, bids, asks } = presentBook(state, side);
  return { event_type: "book", market, asset_id, bids, asks, hash, timestamp: String(Math.floor(at)) };
}

/**
 * Creates the first message of a subscription: the full book of one token, with the tick size and the last price, which
 * is the same for both tokens.
 */
export function createFirstBookMessage(state: MarketState, side: TokenSide) {
  const { tick_size, last_trade_price } = presentBook(state, 0);
  return { ...createBookMessage(state, side), tick_size, last_trade_price };
}

/** Returns the changed levels with their new sizes. Removed levels have size 0. */
function findChangedLevels(before: readonly Level[], after: readonly Level[]): Level[] {
  const previousSizes = new Map(before.map(({ price, size }) => [price, size]));
  const changed = after.filter(({ price, size }) => previousSizes.get(price) !== size);
  const prices = new Set(after.map(({ price }) => price));
  return [...changed, ...before.filter(({ price }) => !prices.has(price)).map(({ price }) => ({ price, size: 0 }))];
}

/**
 * Creates one message for each level changed since `previous`, with the entries of the given tokens. All messages have
 * the same timestamp and the best prices after all changes.
 */
export function createPriceChangeMessages(
  state: MarketState,
  previous: BookSides,
  sides: readonly TokenSide[],
  at: number,
) {
  const tokens = polymarketTokenIds(state.market);
  const created = (levels: readonly Level[], side: "BUY" | "SELL") => levels.map((level) => ({ level, side }));
  const { bids, asks } = state.book;
  const changes = [
    ...created(findChangedLevels(previous.asks, asks), "SELL"),
    ...created(findChangedLevels(previous.bids, bids), "BUY"),
  ];
  const tokenFields = sides.map((token) => {
    const book = toTokenBook(state.book, token);
    const best_bid = formatDecimal(book.bids[0]?.price ?? 0);
    const best_ask = formatDecimal(book.asks[0]?.price ?? 1);
    return { token, asset_id: tokens[token], best_bid, best_ask };
  });
  return changes.map(({ level, side }) => ({
    event_type: "price_change",
    market: polymarketConditionId(state.market),
    timestamp: String(Math.floor(at)),
    price_changes: tokenFields.map(({ token, asset_id, best_bid, best_ask }) => ({
      asset_id,
      price: formatDecimal(token === 0 ? level.price : toOppositePrice(level.price)),
      size: formatDecimal(level.size),
      side: (token === 0) === (side === "BUY") ? "BUY" : "SELL",
      best_bid,
      best_ask,
    })),
  }));
}

/** Creates the messages of a trade, one per price level, for the token that the taker traded. */
export function createLastTradeMessages(market: ListedMarket, trade: WorldTrade) {
  const tokens = polymarketTokenIds(market);
  const { token, side } = takerOf(trade);
  return listFills(market, trade).map(({ yesPrice, size }) => ({
    side: token,
    message: {
      event_type: "last_trade_price",
      asset_id: tokens[token],
      market: polymarketConditionId(market),
      price: formatDecimal(token === 0 ? yesPrice : toOppositePrice(yesPrice)),
      size: formatDecimal(size),
      side,
      timestamp: String(Math.floor(trade.at)),
      transaction_hash: transactionHashOf(trade),
    },
  }));
}

export function createNewMarketMessage(market: ListedMarket, at: number) {
  return {
    event_type: "new_market",
    id: polymarketMarketId(market),
    market: polymarketConditionId(market),
    assets_ids: polymarketTokenIds(market),
    timestamp: String(Math.floor(at)),
  };
}

/** Creates the message of a settled market. A partially paid or void market has no winning token. */
export function createResolvedMessage(state: MarketState, at: number) {
  const tokens = polymarketTokenIds(state.market);
  const winner = state.prices[0] === 1 ? 0 : state.prices[1] === 1 ? 1 : null;
  return {
    event_type: "market_resolved",
    id: polymarketMarketId(state.market),
    market: polymarketConditionId(state.market),
    assets_ids: tokens,
    winning_asset_id: winner === null ? "" : tokens[winner],
    timestamp: String(Math.floor(at)),
  };
}
