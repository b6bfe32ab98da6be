import { complement, parseDecimal, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { millisecondsOf, plausibleTime } from "./parse-values.ts";
import type { PolymarketDriftDetectors } from "./wire.ts";
import { isLastTradeMessage, isTradeV1, isTradeV2, type TradeV1 } from "./wire.ts";

export interface TokenPair {
  readonly tokenYes: string;
  readonly tokenNo: string;
}

/** A row of either tape or of the stream, before it is told from the YES side. */
interface RawTrade {
  readonly token: string;
  readonly side: "BUY" | "SELL";
  readonly price: unknown;
  readonly size: unknown;
  readonly at: number | null;
  readonly transactionHash: string | null;
}

/**
 * The taker's leg from the YES side: NO at p is YES at 1 - p, and selling one is buying the other. The id is what the row
 * says, because the venue gives none; the time is left out of it where there is a transaction, since stream and tape tell
 * the same match with different precision.
 */
function tradeOf(
  raw: RawTrade,
  tokens: TokenPair,
  drop: DropCounter,
): { readonly key: string; readonly trade: Omit<Trade, "tradeId"> } | null {
  const price = parseTradablePrice(raw.price);
  if (price === null) {
    drop("price_out_of_range");
    return null;
  }
  const size = parseDecimal(raw.size);
  if (size === null || size <= 0 || raw.at === null) {
    drop("bad_trade");
    return null;
  }
  const isYesToken = raw.token === tokens.tokenYes;
  if (!isYesToken && raw.token !== tokens.tokenNo) {
    drop("foreign_token");
    return null;
  }
  const isYesBet = isYesToken === (raw.side === "BUY");
  const origin = raw.transactionHash ?? String(Math.floor(raw.at / 1000));
  return {
    key: `${origin}:${isYesToken ? "yes" : "no"}:${raw.side}:${toMicros(price)}:${toMicros(size)}`,
    trade: {
      executedAt: raw.at,
      yesPrice: isYesToken ? price : complement(price),
      size,
      takerSide: isYesBet ? "yes" : "no",
    },
  };
}

const hashOf = (value: string | null | undefined) =>
  value === undefined || value === null || value === "" ? null : value;

/**
 * Tape rows, v1 or v2, in the order given. Equal rows of one transaction are separate matches and numbered.
 */
export function parseTape(
  rows: readonly unknown[],
  tokens: TokenPair,
  { drop, detectors }: { readonly drop: DropCounter; readonly detectors: PolymarketDriftDetectors },
): Trade[] {
  const seen = new Map<string, number>();
  const trades: Trade[] = [];
  for (const row of rows) {
    const raw = rawOfTape(row, detectors);
    if (raw === null) {
      drop("bad_row");
      continue;
    }
    const parsed = tradeOf(raw, tokens, drop);
    if (parsed === null) continue;
    const ordinal = seen.get(parsed.key) ?? 0;
    seen.set(parsed.key, ordinal + 1);
    trades.push({ tradeId: `${parsed.key}#${ordinal}`, ...parsed.trade });
  }
  return trades;
}

function rawOfTape(row: unknown, detectors: PolymarketDriftDetectors): RawTrade | null {
  if (typeof row === "object" && row !== null && "asset" in row) {
    return detectors.trade_v1.check(row, isTradeV1) ? rawOfTapeV1(row) : null;
  }
  if (detectors.trade.check(row, isTradeV2)) {
    return {
      ...row,
      token: row.token_id,
      at: plausibleTime(row.timestamp * 1000),
      transactionHash: hashOf(row.transaction_hash),
    };
  }
  return null;
}

function rawOfTapeV1(row: TradeV1): RawTrade {
  return {
    ...row,
    token: row.asset,
    at: plausibleTime(row.timestamp * 1000),
    transactionHash: hashOf(row.transactionHash),
  };
}

/**
 * A match told by the stream. It always gets the ordinal 0: the stream may repeat itself, and a second, equal match of the
 * same transaction is rare and comes with the tape.
 */
export function parseStreamTrade(message: unknown, tokens: TokenPair, drop: DropCounter): Trade | null {
  if (!isLastTradeMessage(message)) return null;
  const at = millisecondsOf(message.timestamp);
  const raw = { ...message, token: message.asset_id, at, transactionHash: hashOf(message.transaction_hash) };
  const parsed = tradeOf(raw, tokens, drop);
  return parsed === null ? null : { tradeId: `${parsed.key}#0`, ...parsed.trade };
}
