import { complement, parseDecimal, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import type { PolymarketPorts } from "./client.ts";
import { millisecondsOf, plausibleTime } from "./parse-values.ts";
import { isLastTradeMessage, isTradeV1, isTradeV2 } from "./wire.ts";

export interface TokenPair {
  readonly tokenYes: string;
  readonly tokenNo: string;
}

/** The common fields of trade rows (v1 and v2) and stream messages, from the side of the traded token. */
interface TokenTrade {
  readonly token: string;
  readonly side: "BUY" | "SELL";
  readonly price: unknown;
  readonly size: unknown;
  readonly executedAt: number | null;
  readonly transactionHash: string | null;
}

/**
 * Converts the taker's side to the YES side: NO at p is YES at 1 - p, and selling one token is buying the other. The
 * venue sends no trade id, so `key` is built from the fields. It contains the time only without a transaction, because
 * stream and REST report the same trade with different precision.
 */
function toYesTrade(
  raw: TokenTrade,
  tokens: TokenPair,
  countDrop: DropCounter,
): { readonly key: string; readonly trade: Omit<Trade, "tradeId"> } | null {
  const price = parseTradablePrice(raw.price);
  if (price === null) {
    countDrop("price_out_of_range");
    return null;
  }
  const size = parseDecimal(raw.size);
  if (size === null || size <= 0 || raw.executedAt === null) {
    countDrop("bad_trade");
    return null;
  }
  const isYesToken = raw.token === tokens.tokenYes;
  if (!isYesToken && raw.token !== tokens.tokenNo) {
    countDrop("foreign_token");
    return null;
  }
  const takerBuysYes = isYesToken === (raw.side === "BUY");
  const origin = raw.transactionHash ?? String(Math.floor(raw.executedAt / 1000));
  return {
    key: `${origin}:${isYesToken ? "yes" : "no"}:${raw.side}:${toMicros(price)}:${toMicros(size)}`,
    trade: {
      executedAt: raw.executedAt,
      yesPrice: isYesToken ? price : complement(price),
      size,
      takerSide: takerBuysYes ? "yes" : "no",
    },
  };
}

/**
 * Parses trade rows (v1 or v2) in the given order. Equal rows of one transaction are separate trades; their ids differ
 * by a sequence number.
 */
export function parseTrades(
  rows: readonly unknown[],
  tokens: TokenPair,
  { countDrop, driftDetectors }: Pick<PolymarketPorts, "countDrop" | "driftDetectors">,
): Trade[] {
  const countByKey = new Map<string, number>();
  const trades: Trade[] = [];
  for (const row of rows) {
    const raw = parseRow(row, driftDetectors);
    if (raw === null) {
      countDrop("bad_row");
      continue;
    }
    const parsed = toYesTrade(raw, tokens, countDrop);
    if (parsed === null) continue;
    const sequence = countByKey.get(parsed.key) ?? 0;
    countByKey.set(parsed.key, sequence + 1);
    trades.push({ tradeId: `${parsed.key}#${sequence}`, ...parsed.trade });
  }
  return trades;
}

function parseRow(row: unknown, driftDetectors: PolymarketPorts["driftDetectors"]): TokenTrade | null {
  if (typeof row === "object" && row !== null && "asset" in row) {
    if (!driftDetectors.trade_v1.check(row, isTradeV1)) return null;
    return toTokenTrade(row, row.asset, row.transactionHash);
  }
  return driftDetectors.trade.check(row, isTradeV2) ? toTokenTrade(row, row.token_id, row.transaction_hash) : null;
}

function toTokenTrade(
  row: { readonly timestamp: number } & Pick<TokenTrade, "side" | "price" | "size">,
  token: string,
  transactionHash: string | null | undefined,
): TokenTrade {
  const { side, price, size, timestamp } = row;
  const executedAt = plausibleTime(timestamp * 1000);
  return { token, side, price, size, executedAt, transactionHash: transactionHash || null };
}

/**
 * Parses a trade of the stream. Its sequence number is always 0, because the stream may repeat a message. A second
 * equal trade of the same transaction is rare and is read over REST.
 */
export function parseStreamTrade(message: unknown, tokens: TokenPair, countDrop: DropCounter): Trade | null {
  if (!isLastTradeMessage(message)) return null;
  const { asset_id: token, side, price, size, transaction_hash, timestamp } = message;
  const raw = {
    token,
    side,
    price,
    size,
    executedAt: millisecondsOf(timestamp),
    transactionHash: transaction_hash || null,
  };
  const parsed = toYesTrade(raw, tokens, countDrop);
  return parsed === null ? null : { tradeId: `${parsed.key}#0`, ...parsed.trade };
}
