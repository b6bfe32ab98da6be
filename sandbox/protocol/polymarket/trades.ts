import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { readTradeWindows } from "../trade-windows.ts";
import {
  dataConditionId,
  polymarketConditionId,
  polymarketTokenIds,
  sha256Hex,
  type TokenSide,
  walletOf,
} from "./ids.ts";
import { formatDecimal, outcomeNamesOf, toOppositePrice } from "./market-state.ts";

const MICROS = 1_000_000;
/** Number of trades per trade that is returned as two equal rows, because the venue sends such rows. */
const SPLIT_TRADE_INTERVAL = 32;
/** Number of trades per trade that fills at two price levels. */
const TWO_LEVEL_INTERVAL = 3;
/** Share of the size of such a trade that fills at the better price. */
const BETTER_PRICE_SHARE = 0.3;
/** The venue rounds average prices to this unit. */
const AVERAGE_PRICE_UNITS = 1e10;

/** The taker's row of a match, with the side, token and price of the taker. */
export interface TradeRow {
  readonly market: ListedMarket;
  /** Unix milliseconds; responses have whole seconds. */
  readonly at: number;
  readonly transactionHash: string;
  readonly wallet: string;
  readonly side: "BUY" | "SELL";
  readonly token: TokenSide;
  /** Average price of the token over the levels of the match, in [0, 1]. */
  readonly price: number;
  /** Price of that token at the last level. */
  readonly lastPrice: number;
  readonly size: number;
}

/** The part of a match at one price level. */
export interface Fill {
  readonly yesPrice: number;
  readonly size: number;
}

export const transactionHashOf = (trade: WorldTrade) => `0x${sha256Hex(`transaction:${trade.id}`)}`;
const hashNumberOf = (transactionHash: string) => Number.parseInt(transactionHash.slice(2, 10), 16);

/**
 * Returns the fills of a match, best price first. The last fill has the price of the trade. A recorded trade has one
 * fill at its recorded price.
 */
export function listFills(market: ListedMarket, trade: WorldTrade): readonly Fill[] {
  const whole = { yesPrice: trade.yesPrice, size: trade.size };
  const step = trade.takerSide === "yes" ? -market.tick : market.tick;
  const betterPrice = Math.round((trade.yesPrice + step) * MICROS) / MICROS;
  const betterSize = Math.floor(trade.size * BETTER_PRICE_SHARE);
  const hasTwoLevels = (hashNumberOf(transactionHashOf(trade)) >>> 16) % TWO_LEVEL_INTERVAL === 0;
  if (!hasTwoLevels || market.recorded !== undefined || betterSize === 0 || betterPrice <= 0 || betterPrice >= 1)
    return [whole];
  return [
    { yesPrice: betterPrice, size: betterSize },
    { yesPrice: trade.yesPrice, size: trade.size - betterSize },
  ];
}

/**
 * Returns the taker's token and side. The hash of the trade selects between buying YES and the equivalent selling NO.
 */
export function takerOf(trade: WorldTrade): { readonly token: TokenSide; readonly side: "BUY" | "SELL" } {
  const isBuy = hashNumberOf(transactionHashOf(trade)) % 10 < 7;
  return { token: (trade.takerSide === "yes") === isBuy ? 0 : 1, side: isBuy ? "BUY" : "SELL" };
}

/** Creates the taker's rows of one match, at the average price of its levels. */
function createTradeRows(market: ListedMarket, trade: WorldTrade): TradeRow[] {
  const transactionHash = transactionHashOf(trade);
  const { token, side } = takerOf(trade);
  const notional = listFills(market, trade).reduce((sum, { yesPrice, size }) => sum + yesPrice * size, 0);
  const averagePrice = Math.round((notional / trade.size) * AVERAGE_PRICE_UNITS) / AVERAGE_PRICE_UNITS;
  const half = Math.floor((trade.size * MICROS) / 2) / MICROS;
  const isSplit = hashNumberOf(transactionHash) % SPLIT_TRADE_INTERVAL === 0 && half > 0 && half * 2 === trade.size;
  return (isSplit ? [half, half] : [trade.size]).map((size) => ({
    market,
    at: trade.at,
    transactionHash,
    wallet: walletOf(trade.taker),
    side,
    token,
    price: token === 0 ? averagePrice : Math.round((1 - averagePrice) * AVERAGE_PRICE_UNITS) / AVERAGE_PRICE_UNITS,
    lastPrice: token === 0 ? trade.yesPrice : toOppositePrice(trade.yesPrice),
    size,
  }));
}

/**
 * Returns at most `count` rows of a market up to the time `until`, newest first. Reads backwards in growing windows.
 */
export function findNewestTrades(world: World, market: ListedMarket, until: number, count: number): TradeRow[] {
  const rows: TradeRow[] = [];
  for (const trades of readTradeWindows(world, market, { from: market.openAt, to: until + 1 })) {
    const found = trades.flatMap((trade) => createTradeRows(market, trade));
    rows.push(...found.sort((a, b) => b.at - a.at || compareText(a.transactionHash, b.transactionHash)));
    if (rows.length >= count) break;
  }
  return rows.slice(0, count);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Presents a row of `/trades`. */
export function presentTradeV1(row: TradeRow) {
  return {
    proxyWallet: row.wallet,
    side: row.side,
    asset: polymarketTokenIds(row.market)[row.token],
    conditionId: dataConditionId(row.market),
    size: row.size,
    price: row.price,
    timestamp: Math.floor(row.at / 1000),
    outcomeIndex: row.token,
    transactionHash: row.transactionHash,
  };
}

/** Presents a row of `/v2/trades`. */
export function presentTradeV2(row: TradeRow) {
  const v1 = presentTradeV1(row);
  return {
    proxy_wallet: v1.proxyWallet,
    side: v1.side,
    token_id: v1.asset,
    condition_id: v1.conditionId,
    size: v1.size,
    price: v1.price,
    timestamp: v1.timestamp,
    outcome_index: v1.outcomeIndex,
    transaction_hash: v1.transactionHash,
  };
}

const CLOB_ACTIVITY_ROWS = 10;

/** Response of the CLOB's activity endpoint: the newest trades of a market. */
export function presentClobActivity(world: World, market: ListedMarket, now: number) {
  return findNewestTrades(world, market, now, CLOB_ACTIVITY_ROWS).map((row) => ({
    event_type: "trade",
    market: { condition_id: polymarketConditionId(market), asset_id: polymarketTokenIds(market)[row.token] },
    user: { address: row.wallet },
    side: row.side,
    size: formatDecimal(row.size),
    price: formatDecimal(row.lastPrice),
    outcome: outcomeNamesOf(market)[row.token],
    outcome_index: row.token,
    transaction_hash: row.transactionHash,
    timestamp: String(Math.floor(row.at / 1000)),
  }));
}
