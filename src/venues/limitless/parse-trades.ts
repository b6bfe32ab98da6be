import { complement, fromMicros, parseDecimal, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import { isObject } from "../../lib/is-object.ts";
import { parsePrice, takerKeyOf } from "../shared/parse-values.ts";
import type { LimitlessContext } from "./client.ts";
import { parseSize, parseTime } from "./parse-values.ts";
import { isFeedEvent, isTradeEvent } from "./wire.ts";

type Counters = Pick<LimitlessContext, "countDrop" | "driftDetectors">;

export interface TradePage {
  /** Trades at or after the requested time. */
  readonly trades: readonly Trade[];
  /** Includes invalid and older rows. */
  readonly rowCount: number;
  /** Whether the page has rows before the requested time. */
  readonly hasOlder: boolean;
}

/**
 * Parses trades of an order-book market. NO trades are converted to YES price and side. The venue sends no trade id, so
 * the id consists of the trade's fields and an ordinal that distinguishes equal rows of a page. Only the account is
 * read from the taker's profile.
 *
 * @param sinceMs  older rows are not parsed, because a poll reads mostly rows that earlier polls have read
 */
export function parseTrades(
  rows: readonly unknown[],
  noToken: string | null,
  sinceMs: number,
  { countDrop, driftDetectors }: Counters,
): TradePage {
  const ordinals = new Map<string, number>();
  const trades: Trade[] = [];
  const newRows = rows.filter((row) => !isBefore(row, sinceMs));
  for (const row of driftDetectors.trade.filter(newRows, isTradeEvent, () => countDrop("bad_trade_row"))) {
    const executedAt = parseTime(row.createdAt);
    const price = parsePrice(row.price, countDrop);
    const size = parseSize(row.matchedSize);
    if (executedAt === null || price === null || size === null) {
      countDrop("bad_trade_row");
      continue;
    }
    const taker = takerKeyOf(isObject(row.profile) ? row.profile.account : undefined);
    const isNo = row.tokenId === noToken;
    const key = [row.txHash ?? "", isNo ? "no" : "yes", row.matchedSize, toMicros(price), executedAt].join(":");
    trades.push({
      tradeId: withOrdinal(key, ordinals),
      executedAt,
      yesPrice: isNo ? complement(price) : price,
      size,
      takerSide: takerSide(isNo, parseDecimal(row.side)),
      ...(taker !== undefined && { taker }),
    });
  }
  return { trades, rowCount: rows.length, hasOlder: newRows.length < rows.length };
}

/**
 * Parses trades of an AMM market. The price is the amount paid divided by the contracts.
 *
 * @param sinceMs  older rows are not parsed
 */
export function parseFeed(json: unknown, sinceMs: number, { countDrop, driftDetectors }: Counters): TradePage {
  const rows = feedRows(json);
  if (rows === null) {
    countDrop("bad_feed");
    return { trades: [], rowCount: 0, hasOlder: false };
  }
  const ordinals = new Map<string, number>();
  const trades: Trade[] = [];
  const newRows = rows.filter((row) => !isBefore(row, sinceMs));
  for (const row of driftDetectors.feed_event.filter(newRows, isFeedEvent, () => countDrop("bad_trade_row"))) {
    const { outcome, strategy, txHash, ...amounts } = row.data;
    const size = parseDecimal(amounts.contracts);
    const paid = parseDecimal(amounts.tradeAmountUSD);
    const executedAt = parseTime(row.createdAt);
    if (executedAt === null || size === null || size <= 0 || paid === null) {
      countDrop("bad_trade_row");
      continue;
    }
    const price = parsePrice(fromMicros(toMicros(paid / size)), countDrop);
    if (price === null) continue;
    const isNo = outcome === "NO";
    const action = strategy?.toLowerCase();
    trades.push({
      tradeId: withOrdinal([txHash ?? "", row.id ?? "", outcome, size, paid, executedAt].join(":"), ordinals),
      executedAt,
      yesPrice: isNo ? complement(price) : price,
      size,
      takerSide: takerSide(isNo, action === "buy" ? 0 : action === "sell" ? 1 : null),
    });
  }
  return { trades, rowCount: rows.length, hasOlder: newRows.length < rows.length };
}

function isBefore(row: unknown, sinceMs: number): boolean {
  const executedAt = isObject(row) ? parseTime(row.createdAt) : null;
  return executedAt !== null && executedAt < sinceMs;
}

function feedRows(json: unknown): readonly unknown[] | null {
  if (Array.isArray(json)) return json;
  if (!isObject(json)) return null;
  const { data, events } = json;
  if (Array.isArray(data)) return data;
  return Array.isArray(events) ? events : null;
}

/** Returns the side that the taker bought. Side 0 buys the token and 1 sells it; selling NO is buying YES. */
function takerSide(isNo: boolean, side: number | null): "yes" | "no" | null {
  if (side !== 0 && side !== 1) return null;
  return isNo === (side === 1) ? "yes" : "no";
}

function withOrdinal(key: string, ordinals: Map<string, number>): string {
  const ordinal = ordinals.get(key) ?? 0;
  ordinals.set(key, ordinal + 1);
  return `${key}:${ordinal}`;
}
