/**
 * Makes a venue's true JSON false on its way out, by the names of its fields: the simulator behind it stays true, and so
 * does `/truth`.
 */
import type { VenueFaults } from "./venue-faults.ts";

/** Bid and ask, in the words of each venue; values are prices, lists of levels, or what buying and selling cost. */
const PAIRS: readonly (readonly [bid: string, ask: string])[] = [
  ["yes_bid_dollars", "yes_ask_dollars"],
  ["no_bid_dollars", "no_ask_dollars"],
  ["bestBid", "bestAsk"],
  ["best_bid", "best_ask"],
  ["bids", "asks"],
  ["sell", "buy"],
];
/** Bids for YES and for NO: crossed when their best prices add up to more than 1. */
const LADDERS = ["yes_dollars", "no_dollars"] as const;
const PRICE_FIELD =
  /^(yes_bid_dollars|yes_ask_dollars|no_bid_dollars|no_ask_dollars|yes_price_dollars|no_price_dollars|price_dollars|last_price_dollars|close_dollars|mean_dollars|bestBid|bestAsk|best_bid|best_ask|lastTradePrice|last_trade_price|outcomePrices|price|p|prices|yesPrice|noPrice|prob|probability|probBefore|probAfter|yes_dollars|no_dollars)$/;
/** Prices of both outcomes under these names, and other things under the same names elsewhere. */
const isBothSides = (name: string) => name === "market" || name === "limit";
const TIME_FIELD =
  /^(ts|ts_ms|timestamp|created_time|updated_time|createdTime|createdAt|updatedAt|lastUpdatedTime|lastBetTime)$/;
const DEPTH_MAX = 12;

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether any of the switches for data is on: without them nothing has to be parsed. */
export function isDistorting(faults: VenueFaults): boolean {
  return (
    faults.isOn("crossed_book") ||
    faults.isOn("empty_book") ||
    faults.isOn("price_out_of_range") ||
    faults.isOn("clock_skew")
  );
}

/** A changed copy of a JSON value; what happens is drawn for every object with prices, and once for the clock. */
export function distort(value: unknown, faults: VenueFaults): unknown {
  const skew = faults.draw("clock_skew");
  const minutes = skew === null ? 0 : Number(skew.minutes) * (faults.share("clock_skew") < 0.5 ? -1 : 1);
  return walk(value, faults, minutes * 60_000, 0);
}

function walk(value: unknown, faults: VenueFaults, skewMs: number, depth: number): unknown {
  if (depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => walk(item, faults, skewMs, depth + 1));
  if (!isFields(value)) return value;
  const fields: Fields = {};
  for (const [name, field] of Object.entries(value)) fields[name] = walk(field, faults, skewMs, depth + 1);
  if (skewMs !== 0)
    for (const name of Object.keys(fields)) if (TIME_FIELD.test(name)) fields[name] = shift(fields[name], skewMs);
  const names = Object.keys(fields);
  if (PAIRS.some(([bid, ask]) => bid in fields && ask in fields) || LADDERS.every((name) => name in fields)) {
    if (isCrossable(fields) && faults.draw("crossed_book") !== null) cross(fields);
    if (faults.draw("empty_book") !== null) empty(fields);
  }
  const isPrice = (name: string) => PRICE_FIELD.test(name) || (isBothSides(name) && Array.isArray(fields[name]));
  if (names.some((name) => isPrice(name) && holdsPrice(fields[name]))) {
    const setting = faults.draw("price_out_of_range");
    if (setting !== null) {
      const kind = faults.kindOf("price_out_of_range", setting);
      for (const name of names) if (isPrice(name)) fields[name] = misprice(fields[name], kind);
    }
  }
  return fields;
}

/** Sides without a price, or with the same one, are not crossed by being changed over. */
function isCrossable(fields: Fields): boolean {
  const areApart = (bid: number, ask: number) => bid < ask || bid > ask;
  return (
    PAIRS.some(([bid, ask]) => areApart(firstPrice(fields[bid]), firstPrice(fields[ask]))) ||
    LADDERS.every((name) => Array.isArray(fields[name]) && fields[name].length > 0)
  );
}

/** The price that a side begins with, in whichever form the venue writes sides; NaN where there is none. */
function firstPrice(side: unknown): number {
  if (Array.isArray(side)) return firstPrice(side[0]);
  if (isFields(side)) return firstPrice(side.price ?? side.market);
  return typeof side === "string" || typeof side === "number" ? Number(side) : Number.NaN;
}

function cross(fields: Fields): void {
  for (const [bid, ask] of PAIRS) {
    if (!(bid in fields && ask in fields)) continue;
    [fields[bid], fields[ask]] = [fields[ask], fields[bid]];
  }
  for (const name of LADDERS) {
    const levels = fields[name];
    if (!Array.isArray(levels)) continue;
    fields[name] = levels.map((level) =>
      Array.isArray(level) ? [(1 - Number(level[0])).toFixed(4), ...level.slice(1)] : level,
    );
  }
}

function empty(fields: Fields): void {
  const clear = (name: string, price: number) => {
    const value = fields[name];
    if (Array.isArray(value)) fields[name] = [];
    else if (typeof value === "string") fields[name] = price.toFixed(4);
    else if (typeof value === "number") fields[name] = price;
    else if (isFields(value)) fields[name] = null;
  };
  for (const [bid, ask] of PAIRS) {
    clear(bid, 0);
    clear(ask, 1);
  }
  for (const name of LADDERS) clear(name, 0);
}

/** A price or a list of them; text stays text. */
function misprice(value: unknown, kind: string): unknown {
  if (Array.isArray(value)) {
    // A level is a price and a size: only the first is a price. A list of plain prices is changed as a whole.
    return value.map((item) =>
      Array.isArray(item) ? [misprice(item[0], kind), ...item.slice(1)] : misprice(item, kind),
    );
  }
  if (typeof value === "string" && value.startsWith("[")) return JSON.stringify(misprice(JSON.parse(value), kind));
  const price = Number(value);
  if ((typeof value !== "string" && typeof value !== "number") || value === "" || !Number.isFinite(price)) return value;
  const wrong = wrongPrice(price, kind);
  if (typeof value === "string") return Number.isNaN(wrong) ? "NaN" : wrong.toFixed(4);
  return Number.isNaN(wrong) ? "NaN" : wrong;
}

/** Whether anything in the field is a price that `misprice` changes. */
function holdsPrice(value: unknown): boolean {
  return JSON.stringify(misprice(value, "above")) !== JSON.stringify(value);
}

function wrongPrice(price: number, kind: string): number {
  if (kind === "percent") return Math.round(price * 10_000) / 100;
  if (kind === "above") return price + 1.7;
  return kind === "negative" ? -price - 0.01 : Number.NaN;
}

/** A time in Unix seconds or milliseconds, as number or text, or as ISO text. */
function shift(value: unknown, byMs: number): unknown {
  if (typeof value === "number") {
    if (value > 1e11) return value + byMs;
    return value > 1e8 ? value + Math.round(byMs / 1000) : value;
  }
  if (typeof value !== "string") return value;
  if (/^\d{9,14}$/.test(value)) return String(shift(Number(value), byMs));
  const at = /^\d{4}-/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? new Date(at + byMs).toISOString() : value;
}

/** Whether there are rows of which half can be left out. */
export function isPage(value: unknown): boolean {
  const lists = isFields(value) ? Object.values(value) : [value];
  return lists.some((list) => Array.isArray(list) && list.length > 1);
}

/** A page with half its rows, with the cursor that asked for it, or with the same rows twice. */
export function halve(value: unknown, kind: string, askedCursor: string | null): unknown {
  if (Array.isArray(value)) return halveRows(value, kind);
  if (!isFields(value)) return value;
  const fields: Fields = { ...value };
  const cursor = ["cursor", "next_cursor"].find((name) => typeof fields[name] === "string" && fields[name] !== "");
  if (kind === "loop" && cursor !== undefined && askedCursor !== null) {
    fields[cursor] = askedCursor;
    return fields;
  }
  for (const [name, field] of Object.entries(fields)) if (Array.isArray(field)) fields[name] = halveRows(field, kind);
  return fields;
}

function halveRows(rows: readonly unknown[], kind: string): unknown[] {
  const half = rows.slice(0, Math.ceil(rows.length / 2));
  return kind === "short" ? half : [...half, ...half].slice(0, rows.length);
}
