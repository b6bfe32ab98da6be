/**
 * Distorts prices and times in the JSON that a venue sends, by field name. The simulated world and `/truth` keep the
 * correct values.
 */
import { isObject } from "../../src/lib/is-object.ts";
import type { VenueFaults } from "./venue-faults.ts";

/** Names of the bid and ask fields of all venues. Values are prices, lists of levels, or objects with a price. */
const BID_ASK_FIELD_NAMES: readonly (readonly [bid: string, ask: string])[] = [
  ["yes_bid_dollars", "yes_ask_dollars"],
  ["no_bid_dollars", "no_ask_dollars"],
  ["bestBid", "bestAsk"],
  ["best_bid", "best_ask"],
  ["bids", "asks"],
  ["sell", "buy"],
];
/** Names of the fields with the YES bids and the NO bids. The book is crossed if the best bids sum to more than 1. */
const YES_NO_FIELD_NAMES = ["yes_dollars", "no_dollars"] as const;
const PRICE_FIELD_PATTERN =
  /^(yes_bid_dollars|yes_ask_dollars|no_bid_dollars|no_ask_dollars|yes_price_dollars|no_price_dollars|price_dollars|last_price_dollars|close_dollars|mean_dollars|bestBid|bestAsk|best_bid|best_ask|lastTradePrice|last_trade_price|outcomePrices|price|p|prices|yesPrice|noPrice|prob|probability|probBefore|probAfter|yes_dollars|no_dollars)$/;
/** Returns whether the field contains the prices of both outcomes if its value is an array. */
const isOutcomePrices = (name: string) => name === "market" || name === "limit";
const TIME_FIELD_PATTERN =
  /^(ts|ts_ms|timestamp|created_time|updated_time|createdTime|createdAt|updatedAt|lastUpdatedTime|lastBetTime)$/;
const JSON_DEPTH_MAX = 12;

type Fields = Record<string, unknown>;

/** Returns whether a switch that distorts JSON is on. If not, callers need not parse the JSON. */
export function canDistort(faults: VenueFaults): boolean {
  return (
    faults.isOn("crossed_book") ||
    faults.isOn("empty_book") ||
    faults.isOn("price_out_of_range") ||
    faults.isOn("clock_skew")
  );
}

/**
 * Returns a distorted copy of a JSON value. Draws price faults once per object with prices, `clock_skew` once per call.
 */
export function distort(value: unknown, faults: VenueFaults): unknown {
  const skew = faults.draw("clock_skew");
  const minutes = skew === null ? 0 : Number(skew.minutes) * (faults.uniform("clock_skew") < 0.5 ? -1 : 1);
  return distortValue(value, faults, minutes * 60_000, 0);
}

function distortValue(value: unknown, faults: VenueFaults, skewMs: number, depth: number): unknown {
  if (depth > JSON_DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => distortValue(item, faults, skewMs, depth + 1));
  if (!isObject(value)) return value;
  const fields: Fields = {};
  for (const [name, field] of Object.entries(value)) fields[name] = distortValue(field, faults, skewMs, depth + 1);
  if (skewMs !== 0)
    for (const name of Object.keys(fields))
      if (TIME_FIELD_PATTERN.test(name)) fields[name] = shiftTime(fields[name], skewMs);
  const names = Object.keys(fields);
  if (
    BID_ASK_FIELD_NAMES.some(([bid, ask]) => bid in fields && ask in fields) ||
    YES_NO_FIELD_NAMES.every((name) => name in fields)
  ) {
    if (isCrossable(fields) && faults.draw("crossed_book") !== null) crossBook(fields);
    if (faults.draw("empty_book") !== null) emptyBook(fields);
  }
  const isPrice = (name: string) =>
    PRICE_FIELD_PATTERN.test(name) || (isOutcomePrices(name) && Array.isArray(fields[name]));
  if (names.some((name) => isPrice(name) && hasPrice(fields[name]))) {
    const setting = faults.draw("price_out_of_range");
    if (setting !== null) {
      const kind = faults.pickKind("price_out_of_range", setting);
      for (const name of names) if (isPrice(name)) fields[name] = replacePrices(fields[name], kind);
    }
  }
  return fields;
}

/** Returns whether swapping the sides would cross the book: both sides have a price and the prices differ. */
function isCrossable(fields: Fields): boolean {
  const areDifferent = (bid: number, ask: number) => bid < ask || bid > ask;
  return (
    BID_ASK_FIELD_NAMES.some(([bid, ask]) =>
      areDifferent(parseFirstPrice(fields[bid]), parseFirstPrice(fields[ask])),
    ) || YES_NO_FIELD_NAMES.every((name) => Array.isArray(fields[name]) && fields[name].length > 0)
  );
}

/** Returns the first price of a book side in the format of any venue, or NaN if the side is empty. */
function parseFirstPrice(side: unknown): number {
  if (Array.isArray(side)) return parseFirstPrice(side[0]);
  if (isObject(side)) return parseFirstPrice(side.price ?? side.market);
  return typeof side === "string" || typeof side === "number" ? Number(side) : Number.NaN;
}

function crossBook(fields: Fields): void {
  for (const [bid, ask] of BID_ASK_FIELD_NAMES) {
    if (!(bid in fields && ask in fields)) continue;
    [fields[bid], fields[ask]] = [fields[ask], fields[bid]];
  }
  for (const name of YES_NO_FIELD_NAMES) {
    const levels = fields[name];
    if (!Array.isArray(levels)) continue;
    fields[name] = levels.map((level) =>
      Array.isArray(level) ? [(1 - Number(level[0])).toFixed(4), ...level.slice(1)] : level,
    );
  }
}

function emptyBook(fields: Fields): void {
  const clear = (name: string, price: number) => {
    const value = fields[name];
    if (Array.isArray(value)) fields[name] = [];
    else if (typeof value === "string") fields[name] = price.toFixed(4);
    else if (typeof value === "number") fields[name] = price;
    else if (isObject(value)) fields[name] = null;
  };
  for (const [bid, ask] of BID_ASK_FIELD_NAMES) {
    clear(bid, 0);
    clear(ask, 1);
  }
  for (const name of YES_NO_FIELD_NAMES) clear(name, 0);
}

/** Replaces a price, or every price of a list, by an invalid price. A string is replaced by a string. */
function replacePrices(value: unknown, kind: string): unknown {
  if (Array.isArray(value)) {
    // An array inside the list is a level: [price, size].
    return value.map((item) =>
      Array.isArray(item) ? [replacePrices(item[0], kind), ...item.slice(1)] : replacePrices(item, kind),
    );
  }
  if (typeof value === "string" && value.startsWith("[")) return JSON.stringify(replacePrices(JSON.parse(value), kind));
  const price = Number(value);
  if ((typeof value !== "string" && typeof value !== "number") || value === "" || !Number.isFinite(price)) return value;
  const invalid = toInvalidPrice(price, kind);
  if (Number.isNaN(invalid)) return "NaN";
  return typeof value === "string" ? invalid.toFixed(4) : invalid;
}

/** Returns whether the field contains a price that `replacePrices` changes. */
const hasPrice = (value: unknown): boolean => JSON.stringify(replacePrices(value, "above")) !== JSON.stringify(value);

function toInvalidPrice(price: number, kind: string): number {
  if (kind === "percent") return Math.round(price * 10_000) / 100;
  if (kind === "above") return price + 1.7;
  return kind === "negative" ? -price - 0.01 : Number.NaN;
}

/** Shifts a time: Unix seconds or milliseconds as a number or string, or an ISO string. */
function shiftTime(value: unknown, byMs: number): unknown {
  if (typeof value === "number") {
    if (value > 1e11) return value + byMs;
    return value > 1e8 ? value + Math.round(byMs / 1000) : value;
  }
  if (typeof value !== "string") return value;
  if (/^\d{9,14}$/.test(value)) return String(shiftTime(Number(value), byMs));
  const at = /^\d{4}-/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? new Date(at + byMs).toISOString() : value;
}

/** Returns whether the value contains a list of at least two rows. */
export function hasRows(value: unknown): boolean {
  const lists = isObject(value) ? Object.values(value) : [value];
  return lists.some((list) => Array.isArray(list) && list.length > 1);
}

/** Returns half of the rows ("short"), repeated rows ("repeat") or the cursor of the request ("loop"). */
export function corruptPage(value: unknown, kind: string, requestCursor: string | null): unknown {
  if (Array.isArray(value)) return corruptRows(value, kind);
  if (!isObject(value)) return value;
  const fields: Fields = { ...value };
  const cursor = ["cursor", "next_cursor"].find((name) => typeof fields[name] === "string" && fields[name] !== "");
  if (kind === "loop" && cursor !== undefined && requestCursor !== null) {
    fields[cursor] = requestCursor;
    return fields;
  }
  for (const [name, field] of Object.entries(fields)) if (Array.isArray(field)) fields[name] = corruptRows(field, kind);
  return fields;
}

function corruptRows(rows: readonly unknown[], kind: string): unknown[] {
  const half = rows.slice(0, Math.ceil(rows.length / 2));
  return kind === "short" ? half : [...half, ...half].slice(0, rows.length);
}
