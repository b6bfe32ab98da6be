/** What Polymarket's books, trades and price histories mean. */
import { price, time } from "../expectation.ts";
import { collect, isObject, type JsonObject, listOf, numberOf, textOf } from "../json.ts";
import { type ExpectedBook, type ExpectedItem, type Level, leftOutItem, orderedBook, tradeItem } from "./data.ts";
import { complementOf, tradablePrice } from "./price.ts";

const SECOND_MS = 1_000;
/** `outcome_index` of a trade whose outcome the venue does not know. */
const UNKNOWN_OUTCOME = 999;

export const isBookRow = (row: JsonObject): boolean =>
  typeof row.asset_id === "string" && Array.isArray(row.bids) && Array.isArray(row.asks);

export function expectedPolymarketBook(row: JsonObject): ExpectedBook {
  return orderedBook(levelsOf(row.bids), levelsOf(row.asks), tradablePrice(row.last_trade_price));
}

export function levelsOf(rows: unknown): Level[] {
  return listOf(rows).flatMap((row) => {
    if (!isObject(row)) return [];
    const levelPrice = tradablePrice(row.price);
    const size = numberOf(row.size);
    return levelPrice === null || size === null || size <= 0 ? [] : [{ price: levelPrice, size }];
  });
}

/** Both tokens of a market. */
export interface TokenPair {
  readonly yes: string;
  readonly no: string;
}

export const isPolymarketTrade = (row: JsonObject): boolean =>
  tokenOf(row) !== null && "price" in row && "size" in row && "side" in row;

export function tokenOf(row: JsonObject): string | null {
  return textOf(row.token_id) ?? textOf(row.asset);
}

export function conditionOf(row: JsonObject): string | null {
  return textOf(row.condition_id) ?? textOf(row.conditionId);
}

/** Finds the tokens of a market by the outcome index of its trades: 0 is YES. */
export function tokensOfTrades(rows: readonly JsonObject[], missingToken: string): TokenPair {
  const tokenAt = (index: number) => {
    const row = rows.find((each) => numberOf(each.outcome_index ?? each.outcomeIndex) === index);
    return row === undefined ? null : tokenOf(row);
  };
  const [yes, no] = [tokenAt(0), tokenAt(1)];
  const others = rows.map(tokenOf).filter((token) => token !== null && token !== yes && token !== no);
  const isUnknown = rows.some((row) => numberOf(row.outcome_index ?? row.outcomeIndex) === UNKNOWN_OUTCOME);
  const spare = (isUnknown || (yes === null && no === null) ? others[0] : null) ?? missingToken;
  return { yes: yes ?? spare, no: no ?? (yes === null ? missingToken : spare) };
}

/** NO at p is YES at 1 - p, and selling one token is buying the other. */
export function expectedPolymarketTrade(row: JsonObject, tokens: TokenPair): ExpectedItem {
  const tokenPrice = tradablePrice(row.price);
  const size = numberOf(row.size);
  const seconds = numberOf(row.timestamp);
  if (tokenPrice === null) return leftOutItem(row, "price_out_of_range");
  if (size === null || size <= 0 || seconds === null) return leftOutItem(row, "bad_trade");
  const isYes = tokenOf(row) === tokens.yes;
  const isBuy = row.side === "BUY";
  return tradeItem(row, {
    at: seconds * SECOND_MS,
    yesPrice: isYes ? tokenPrice : complementOf(tokenPrice),
    size,
    takerSide: isYes === isBuy ? "yes" : "no",
    transaction: textOf(row.transaction_hash) ?? textOf(row.transactionHash),
  });
}

export const isHistoryPoint = (row: JsonObject): boolean => "t" in row && "p" in row;

export function historyPointsOf(payload: unknown): JsonObject[] {
  return collect(payload, isHistoryPoint).toSorted((a, b) => (numberOf(a.t) ?? 0) - (numberOf(b.t) ?? 0));
}

/** Points oldest first. The venue's times are not whole minutes, so each point may be moved within its interval. */
export function expectedPolymarketHistory(points: readonly JsonObject[], intervalMs: number): ExpectedItem[] {
  return points.map((point) => {
    const pointPrice = tradablePrice(point.p);
    const seconds = numberOf(point.t);
    if (pointPrice === null || seconds === null) return leftOutItem(point, "price_out_of_range");
    const facts = { at: time(seconds * SECOND_MS, intervalMs), yes_price: price(pointPrice) };
    return { raw: point, leftOut: null, at: seconds * SECOND_MS, facts };
  });
}
