import { complement, fromMicros, parseDecimal, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import { isObject } from "../../lib/is-object.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { takerKeyOf } from "../shared/parse-values.ts";
import type { PolymarketContext } from "./client.ts";
import { parseMs, toPlausibleTime } from "./parse-values.ts";
import { isLastTradeMessage, isTradeV1, isTradeV2 } from "./wire.ts";

export interface TokenPair {
  readonly tokenYes: string;
  readonly tokenNo: string;
}

/** The common fields of trade rows (v1 and v2) and stream messages, for the token that the taker traded. */
interface TokenTrade {
  readonly token: string;
  readonly side: "BUY" | "SELL";
  readonly price: unknown;
  readonly size: unknown;
  readonly executedAt: number | null;
  readonly transactionHash: string | null;
  /** The taker's wallet. The stream does not send it. */
  readonly wallet?: unknown;
}

/**
 * Converts the taker's side to the YES side: NO at p is YES at 1 - p, and selling one token is buying the other.
 *
 * The venue sends no trade id. The id consists of the transaction and the taker's side, because the stream sends one
 * message per price level, while REST sends one row per transaction with the average price. Without a transaction, the
 * id consists of the trade's fields, with the time in whole seconds, which is the precision of REST.
 */
function toFill(raw: TokenTrade, tokens: TokenPair, countDrop: DropCounter): Trade | null {
  const price = parseTradablePrice(raw.price);
  if (price === null) {
    countDrop("price_out_of_range");
    return null;
  }
  const size = parseDecimal(raw.size);
  if (size === null || toMicros(size) <= 0 || raw.executedAt === null) {
    countDrop("bad_trade");
    return null;
  }
  const isYesToken = raw.token === tokens.tokenYes;
  if (!isYesToken && raw.token !== tokens.tokenNo) {
    countDrop("foreign_token");
    return null;
  }
  const takerSide = isYesToken === (raw.side === "BUY") ? "yes" : "no";
  const yesPrice = isYesToken ? price : complement(price);
  const taker = takerKeyOf(raw.wallet);
  const content = `${Math.floor(raw.executedAt / 1000)}:${toMicros(yesPrice)}:${toMicros(size)}`;
  return {
    tradeId: `${raw.transactionHash ?? content}:${takerSide}`,
    executedAt: raw.executedAt,
    yesPrice,
    size,
    takerSide,
    ...(taker !== undefined && { taker }),
  };
}

/**
 * Parses trade rows (v1 or v2) to trades, in the order of their first rows. The rows of one transaction and side are
 * added up to one trade. Equal rows are separate fills.
 */
export function parseTrades(
  rows: readonly unknown[],
  tokens: TokenPair,
  { countDrop, driftDetectors }: Pick<PolymarketContext, "countDrop" | "driftDetectors">,
): Trade[] {
  const fillsById = new Map<string, Trade[]>();
  for (const row of rows) {
    const raw = parseRow(row, tokens, driftDetectors);
    if (raw === null) {
      countDrop("bad_row");
      continue;
    }
    const fill = toFill(raw, tokens, countDrop);
    if (fill === null) continue;
    const fills = fillsById.get(fill.tradeId);
    if (fills === undefined) fillsById.set(fill.tradeId, [fill]);
    else fills.push(fill);
  }
  return fillsById.values().map(sumFills).toArray();
}

/** Returns null if the row is invalid. A trade of protocol V2 has a position id, with or without a token id. */
function parseRow(
  row: unknown,
  tokens: TokenPair,
  driftDetectors: PolymarketContext["driftDetectors"],
): TokenTrade | null {
  if (isObject(row) && "asset" in row) {
    if (!driftDetectors.trade_v1.check(row, isTradeV1)) return null;
    const { asset: token, transactionHash, proxyWallet: wallet } = row;
    return toTokenTrade(row, { token, transactionHash, wallet });
  }
  if (!driftDetectors.trade.check(row, isTradeV2)) return null;
  const { token_id, position_id, transaction_hash: transactionHash, proxy_wallet: wallet } = row;
  const isOfMarket = (id: unknown) => id === tokens.tokenYes || id === tokens.tokenNo;
  const token = isOfMarket(position_id) ? position_id : (token_id ?? position_id);
  return token ? toTokenTrade(row, { token, transactionHash, wallet }) : null;
}

function toTokenTrade(
  row: { readonly timestamp: number | string } & Pick<TokenTrade, "side" | "price" | "size">,
  ids: { readonly token: string; readonly transactionHash?: string | null; readonly wallet: unknown },
): TokenTrade {
  const { side, price, size, timestamp } = row;
  const executedAt = toPlausibleTime(Number(timestamp) * 1000);
  return { ...ids, side, price, size, executedAt, transactionHash: ids.transactionHash || null };
}

/** Parses a message of the stream to a fill of a trade: the part of a transaction at one price. */
export function parseStreamFill(message: unknown, tokens: TokenPair, countDrop: DropCounter): Trade | null {
  if (!isLastTradeMessage(message)) return null;
  const { asset_id: token, side, price, size, transaction_hash, timestamp } = message;
  const transactionHash = transaction_hash || null;
  return toFill({ token, side, price, size, executedAt: parseMs(timestamp), transactionHash }, tokens, countDrop);
}

/** Maximum number of transactions that are kept per market. */
const TRANSACTIONS_MAX = 64;
/** Maximum number of fills of one transaction; further fills are not added. */
const FILLS_MAX = 1_000;
/** Time for which a transaction is kept, because its fills are sent one by one and the stream may repeat messages. */
const TRANSACTION_MS_MAX = 60_000;

interface Total {
  readonly trade: Trade;
  /** Price and size of each fill. */
  readonly fills: Set<string>;
  sizeMicros: number;
  /** Sum of price times size. */
  notional: number;
  readonly startedAt: number;
}

/**
 * Adds up the fills of each transaction in one market. An equal fill is ignored as a repeated message, so a total is
 * never larger than the trade.
 */
export class TransactionTotals {
  readonly #totals = new Map<string, Total>();

  /**
   * Adds a fill. Returns the trade with all fills of the transaction so far, or null if the message is repeated.
   *
   * @param now monotonic milliseconds
   */
  add(fill: Trade, now: number): Trade | null {
    for (const [id, { startedAt }] of this.#totals) {
      const isFull = this.#totals.size >= TRANSACTIONS_MAX && !this.#totals.has(fill.tradeId);
      if (now - startedAt > TRANSACTION_MS_MAX || isFull) this.#totals.delete(id);
      else break;
    }
    const total = this.#totals.get(fill.tradeId) ?? {
      trade: fill,
      fills: new Set<string>(),
      sizeMicros: 0,
      notional: 0,
      startedAt: now,
    };
    this.#totals.set(fill.tradeId, total);
    const key = `${toMicros(fill.yesPrice)}:${toMicros(fill.size)}`;
    if (total.fills.size >= FILLS_MAX || total.fills.has(key)) return null;
    total.fills.add(key);
    total.sizeMicros += toMicros(fill.size);
    total.notional += fill.yesPrice * fill.size;
    return toTrade(total);
  }
}

/** Combines the fills of one transaction to a trade at their average price. */
function sumFills(fills: readonly Trade[]): Trade {
  const [trade] = fills;
  if (trade === undefined) throw new RangeError("a trade has at least one fill");
  const sizeMicros = fills.reduce((sum, { size }) => sum + toMicros(size), 0);
  const notional = fills.reduce((sum, { yesPrice, size }) => sum + yesPrice * size, 0);
  return toTrade({ trade, sizeMicros, notional });
}

function toTrade({ trade, sizeMicros, notional }: Pick<Total, "trade" | "sizeMicros" | "notional">): Trade {
  return { ...trade, size: fromMicros(sizeMicros), yesPrice: fromMicros(toMicros(notional / fromMicros(sizeMicros))) };
}
