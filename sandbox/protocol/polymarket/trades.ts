import { HOUR_MS } from "../../../src/lib/durations.ts";
import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import {
  dataConditionId,
  polymarketConditionId,
  polymarketEventSlug,
  polymarketMarketSlug,
  polymarketTokenIds,
  sha256Hex,
  type TokenSide,
  walletOf,
} from "./ids.ts";
import { formatDecimal, outcomeNamesOf, toOppositePrice } from "./market-state.ts";

const MICROS = 1_000_000;
const WINDOW_GROWTH = 4;
/** About one trade in 32 is returned as two equal rows, because a transaction of the venue can have identical rows. */
const SPLIT_TRADE_INTERVAL = 32;
/** About one trade in three takes two price levels. */
const TWO_LEVEL_INTERVAL = 3;
/** Share of such a trade at the better price. */
const BETTER_PRICE_SHARE = 0.3;
/** The venue rounds average prices to this unit. */
const AVERAGE_PRICE_UNITS = 1e10;

/** One side of a match, with the side, token and price that this trader traded. */
export interface TradeRow {
  readonly market: ListedMarket;
  /** Unix milliseconds; responses have whole seconds. */
  readonly at: number;
  readonly transactionHash: string;
  readonly wallet: string;
  readonly side: "BUY" | "SELL";
  readonly token: TokenSide;
  /** Average price of that token over the levels of the match, in [0, 1]. */
  readonly price: number;
  /** Price of that token at the last level. */
  readonly lastPrice: number;
  readonly size: number;
}

/** The part of a match at one level. */
export interface Fill {
  readonly yesPrice: number;
  readonly size: number;
}

export const transactionHashOf = (trade: WorldTrade) => `0x${sha256Hex(`transaction:${trade.id}`)}`;
const hashNumberOf = (transactionHash: string) => Number.parseInt(transactionHash.slice(2, 10), 16);

/**
 * Returns the levels that a match takes, best price first. The last one has the price of the trade. A recording has the
 * prices of the recorded trades.
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

/** Returns the taker's token and side. Buying YES and selling NO are equivalent, so the hash of the trade decides. */
export function takerOf(trade: WorldTrade): { readonly token: TokenSide; readonly side: "BUY" | "SELL" } {
  const isBuy = hashNumberOf(transactionHashOf(trade)) % 10 < 7;
  return { token: (trade.takerSide === "yes") === isBuy ? 0 : 1, side: isBuy ? "BUY" : "SELL" };
}

/**
 * Creates the rows of one match, at the average price of its levels. `withMakers` adds the maker's row: in the same
 * token or, if shares were minted, in the other token.
 */
function createTradeRows(market: ListedMarket, trade: WorldTrade, withMakers: boolean): TradeRow[] {
  const transactionHash = transactionHashOf(trade);
  const hashNumber = hashNumberOf(transactionHash);
  const taker = takerOf(trade);
  const notional = listFills(market, trade).reduce((sum, { yesPrice, size }) => sum + yesPrice * size, 0);
  const averagePrice = Math.round((notional / trade.size) * AVERAGE_PRICE_UNITS) / AVERAGE_PRICE_UNITS;
  const leg = (token: TokenSide, side: "BUY" | "SELL", wallet: string, size: number): TradeRow => ({
    market,
    at: trade.at,
    transactionHash,
    wallet,
    side,
    token,
    price: token === 0 ? averagePrice : Math.round((1 - averagePrice) * AVERAGE_PRICE_UNITS) / AVERAGE_PRICE_UNITS,
    lastPrice: token === 0 ? trade.yesPrice : toOppositePrice(trade.yesPrice),
    size,
  });
  const half = Math.floor((trade.size * MICROS) / 2) / MICROS;
  const sizes =
    hashNumber % SPLIT_TRADE_INTERVAL === 0 && half > 0 && half * 2 === trade.size ? [half, half] : [trade.size];
  return sizes.flatMap((size) => {
    const takerLeg = leg(taker.token, taker.side, walletOf(trade.taker), size);
    if (!withMakers) return [takerLeg];
    const isMint = (hashNumber >>> 8) % 2 === 0;
    const makerToken: TokenSide = isMint ? (taker.token === 0 ? 1 : 0) : taker.token;
    const makerSide = isMint === (taker.side === "BUY") ? "BUY" : "SELL";
    return [takerLeg, leg(makerToken, makerSide, walletOf(`maker:${trade.id}`), size)];
  });
}

export interface TradeSelection {
  readonly markets: readonly ListedMarket[];
  /** Time of the newest row to return, Unix milliseconds. */
  readonly until: number;
  /** Maximum number of rows. */
  readonly count: number;
  readonly withMakers: boolean;
  readonly accepts: (row: TradeRow) => boolean;
  /** Maximum age of a row before `until`. */
  readonly lookBackMs: number;
}

/**
 * Returns the newest rows of the given markets, newest first. Reads backwards in growing windows until `count` rows are
 * found.
 */
export function findNewestTrades(world: World, selection: TradeSelection): TradeRow[] {
  const { markets, until, count } = selection;
  const oldest = Math.max(until - selection.lookBackMs, Math.min(...markets.map((market) => market.openAt)));
  const rows: TradeRow[] = [];
  let to = until + 1;
  for (let spanMs = HOUR_MS; to > oldest && rows.length < count; spanMs *= WINDOW_GROWTH) {
    const from = Math.max(oldest, to - spanMs);
    const found = markets.flatMap((market) =>
      world.trades(market, from, to).flatMap((trade) => createTradeRows(market, trade, selection.withMakers)),
    );
    found.sort((a, b) => b.at - a.at || compareText(a.transactionHash, b.transactionHash));
    for (const row of found) if (selection.accepts(row)) rows.push(row);
    to = from;
  }
  return rows.slice(0, count);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns the newest row of a market, or null if it has no trades. */
export function findLastTrade(world: World, market: ListedMarket, now: number): TradeRow | null {
  return findNewestTakerTrades(world, market, now, 1)[0] ?? null;
}

function findNewestTakerTrades(world: World, market: ListedMarket, now: number, count: number): TradeRow[] {
  return findNewestTrades(world, {
    markets: [market],
    until: now,
    count,
    withMakers: false,
    accepts: () => true,
    lookBackMs: Number.POSITIVE_INFINITY,
  });
}

/** Row of `/trades`. Names of traders are derived from the wallet. */
export function presentTradeV1(row: TradeRow) {
  const { market } = row;
  return {
    proxyWallet: row.wallet,
    side: row.side,
    asset: polymarketTokenIds(market)[row.token],
    conditionId: dataConditionId(market),
    size: row.size,
    price: row.price,
    timestamp: Math.floor(row.at / 1000),
    title: market.question,
    slug: polymarketMarketSlug(market),
    icon: "",
    eventSlug: polymarketEventSlug(market.event),
    outcome: outcomeNamesOf(market)[row.token],
    outcomeIndex: row.token,
    name: `trader-${row.wallet.slice(2, 8)}`,
    pseudonym: `Trader ${row.wallet.slice(2, 8)}`,
    bio: "",
    profileImage: "",
    profileImageOptimized: "",
    transactionHash: row.transactionHash,
  };
}

/** Row of `/v2/trades`. */
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
    title: v1.title,
    slug: v1.slug,
    icon: v1.icon,
    event_slug: v1.eventSlug,
    outcome: v1.outcome,
    outcome_index: v1.outcomeIndex,
    name: v1.name,
    pseudonym: v1.pseudonym,
    transaction_hash: v1.transactionHash,
  };
}

const CLOB_ACTIVITY_ROWS = 10;

/** Response of the CLOB's activity endpoint: the newest trades of a market. */
export function presentClobActivity(world: World, market: ListedMarket, now: number) {
  return findNewestTakerTrades(world, market, now, CLOB_ACTIVITY_ROWS).map((row) => {
    const v1 = presentTradeV1(row);
    return {
      event_type: "trade",
      market: {
        condition_id: polymarketConditionId(market),
        asset_id: v1.asset,
        question: v1.title,
        icon: "",
        slug: v1.slug,
      },
      user: {
        address: row.wallet,
        username: v1.name,
        profile_picture: "",
        optimized_profile_picture: "",
        pseudonym: v1.pseudonym,
      },
      side: row.side,
      size: formatDecimal(row.size),
      fee_rate_bps: "0",
      price: formatDecimal(row.lastPrice),
      outcome: v1.outcome,
      outcome_index: row.token,
      transaction_hash: row.transactionHash,
      timestamp: String(v1.timestamp),
    };
  });
}
