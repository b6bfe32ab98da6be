/** Kalshi's REST paths and WebSocket commands over recorded rows. */

import { isCombo } from "../expected/kalshi-markets.ts";
import { KALSHI_CHANNELS } from "../expected/kalshi-stream.ts";
import { isObject, isoTimeOf, type JsonObject, numberOf, objectOf, textOf } from "../json.ts";
import { type LoopbackReply, type LoopbackRequest, NOT_FOUND, type Respond } from "./loopback.ts";

const BASE_PATH = "/trade-api/v2";
/** Rows per page; smaller than the venue's, so that recordings have several pages. */
const PAGE_ROWS_MAX = 100;
const LONG_AGO = "2020-01-01T00:00:00Z";

/** Values of the row's `status` by value of the request's `status`. */
const STATUS_FILTERS: Readonly<Record<string, readonly string[]>> = {
  unopened: ["initialized"],
  open: ["active"],
  paused: ["inactive"],
  closed: ["closed", "determined", "disputed", "amended"],
  settled: ["finalized"],
};

export interface CandleSeries {
  readonly ticker: string;
  readonly periodMinutes: number;
  readonly candles: readonly JsonObject[];
}

export interface KalshiWorld {
  readonly markets?: readonly JsonObject[];
  readonly events?: readonly JsonObject[];
  readonly series?: readonly JsonObject[];
  /** Ladders by ticker. */
  readonly books?: ReadonlyMap<string, JsonObject>;
  readonly candles?: readonly CandleSeries[];
  readonly trades?: readonly JsonObject[];
  /** Whether trades and candles are in the historical tier. Markets always remain in the live tier. */
  readonly isHistorical?: boolean;
}

export function kalshiRespond(world: KalshiWorld): Respond {
  const { markets = [], events = [], series = [], books, candles = [], trades = [], isHistorical = false } = world;
  const findByTicker = (rows: readonly JsonObject[], field: string, ticker: string) =>
    rows.find((row) => row[field] === ticker);
  const routes: readonly (readonly [RegExp, (match: readonly string[], query: URLSearchParams) => LoopbackReply])[] = [
    [
      /^\/markets$/,
      (_, query) =>
        pageOf(
          "markets",
          markets.filter((row) => isInQuery(row, query)),
          query,
        ),
    ],
    [/^\/markets\/trades$/, (_, query) => tradesPage(isHistorical ? [] : trades, query)],
    [/^\/historical\/trades$/, (_, query) => tradesPage(isHistorical ? trades : [], query)],
    [/^\/historical\/markets$/, (_, query) => pageOf("markets", [], query)],
    [/^\/historical\/cutoff$/, () => ({ json: cutoff(isHistorical) })],
    [
      /^\/markets\/candlesticks$/,
      (_, query) => {
        const tickers = (query.get("market_tickers") ?? "").split(",");
        const found = isHistorical ? [] : candles.filter(({ ticker }) => tickers.includes(ticker));
        const rows = found.map((each) => ({ market_ticker: each.ticker, candlesticks: candlesIn(each, query) }));
        return { json: { markets: rows } };
      },
    ],
    [
      /^\/series\/[^/]+\/markets\/([^/]+)\/candlesticks$/,
      ([ticker = ""], query) => candlesReply(isHistorical ? [] : candles, ticker, query),
    ],
    [
      /^\/historical\/markets\/([^/]+)\/candlesticks$/,
      ([ticker = ""], query) => candlesReply(isHistorical ? candles : [], ticker, query),
    ],
    [/^\/historical\/markets\/[^/]+$/, () => NOT_FOUND],
    // An unknown ticker has a book with empty sides.
    [
      /^\/markets\/([^/]+)\/orderbook$/,
      ([ticker = ""]) => ({ json: { orderbook_fp: books?.get(ticker) ?? { yes_dollars: [], no_dollars: [] } } }),
    ],
    [/^\/markets\/([^/]+)$/, ([ticker = ""]) => one("market", findByTicker(markets, "ticker", ticker))],
    [
      /^\/events$/,
      (_, query) =>
        pageOf(
          "events",
          events.filter((row) => isInTickers(row.event_ticker, query)),
          query,
        ),
    ],
    [/^\/events\/([^/]+)$/, ([ticker = ""]) => one("event", findByTicker(events, "event_ticker", ticker))],
    [/^\/series$/, () => ({ json: { series } })],
    [/^\/series\/([^/]+)$/, ([ticker = ""]) => one("series", findByTicker(series, "ticker", ticker))],
  ];
  return (_service, { path, query }: LoopbackRequest) => {
    if (!path.startsWith(`${BASE_PATH}/`)) return null;
    for (const [pattern, reply] of routes) {
      const match = pattern.exec(path.slice(BASE_PATH.length));
      if (match !== null) return reply(match.slice(1), query);
    }
    return null;
  };
}

function one(field: string, row: JsonObject | undefined): LoopbackReply {
  return row === undefined ? NOT_FOUND : { json: { [field]: row } };
}

function isInTickers(ticker: unknown, query: URLSearchParams): boolean {
  const tickers = query.get("tickers");
  return tickers === null || tickers.split(",").includes(String(ticker));
}

function isInQuery(row: JsonObject, query: URLSearchParams): boolean {
  const status = query.get("status");
  if (status !== null && STATUS_FILTERS[status]?.includes(String(row.status)) !== true) return false;
  if (query.get("mve_filter") === "exclude" && isCombo(row)) return false;
  const updatedAt = isoTimeOf(row.updated_time) ?? isoTimeOf(row.created_time) ?? 0;
  return updatedAt >= Number(query.get("min_updated_ts") ?? 0) * 1_000 && isInTickers(row.ticker, query);
}

function pageOf(field: string, rows: readonly unknown[], query: URLSearchParams): LoopbackReply {
  const start = Number(query.get("cursor") ?? 0);
  const limit = Math.min(PAGE_ROWS_MAX, numberOf(query.get("limit")) ?? PAGE_ROWS_MAX);
  const end = start + limit;
  return { json: { [field]: rows.slice(start, end), cursor: end < rows.length ? String(end) : "" } };
}

function tradesPage(trades: readonly JsonObject[], query: URLSearchParams): LoopbackReply {
  const ticker = query.get("ticker");
  return pageOf(
    "trades",
    trades.filter((row) => ticker === null || row.ticker === undefined || row.ticker === ticker),
    query,
  );
}

function cutoff(isHistorical: boolean): JsonObject {
  const at = isHistorical ? new Date(Date.UTC(2100, 0)).toISOString() : LONG_AGO;
  return { market_settled_ts: LONG_AGO, trades_created_ts: at, orders_updated_ts: LONG_AGO };
}

function candlesIn({ candles, periodMinutes }: CandleSeries, query: URLSearchParams): JsonObject[] {
  if (Number(query.get("period_interval")) !== periodMinutes) return [];
  const [start, end] = [Number(query.get("start_ts")), Number(query.get("end_ts"))];
  return candles.filter((candle) => {
    const at = numberOf(candle.end_period_ts) ?? 0;
    return at >= start && at <= end;
  });
}

function candlesReply(candles: readonly CandleSeries[], ticker: string, query: URLSearchParams): LoopbackReply {
  const found = candles.find((each) => each.ticker === ticker);
  return found === undefined ? NOT_FOUND : { json: { ticker, candlesticks: candlesIn(found, query) } };
}

/** The server side of the WebSocket: confirms subscriptions and counts them. */
export class KalshiSocket {
  readonly #sidByChannel = new Map<string, number>();
  #subscriptions = 0;

  get channels(): ReadonlySet<string> {
    return new Set(this.#sidByChannel.keys());
  }

  get subscriptions(): number {
    return this.#subscriptions;
  }

  readonly onText = (text: string, reply: (text: string) => void): void => {
    const command = objectOf(JSON.parse(text));
    const { id, cmd } = command;
    const params = objectOf(command.params);
    if (cmd === "subscribe" && Array.isArray(params.channels)) {
      for (const channel of params.channels) {
        this.#subscriptions += 1;
        const sid = this.#sidByChannel.size + 1;
        this.#sidByChannel.set(String(channel), sid);
        reply(JSON.stringify({ id, type: "subscribed", msg: { channel, sid } }));
      }
    } else if (cmd === "unsubscribe" && Array.isArray(params.sids)) {
      for (const sid of params.sids) reply(JSON.stringify({ id, type: "unsubscribed", sid }));
    } else if (cmd === "list_subscriptions") {
      const listed = [...this.#sidByChannel].map(([channel, sid]) => ({ channel, sid }));
      reply(JSON.stringify({ id, type: "ok", msg: listed }));
    } else reply(JSON.stringify({ id, type: "ok", sid: params.sid }));
  };

  /** Returns the frame as text with the subscription id of this connection. */
  textOf(frame: unknown): string {
    const channel = isObject(frame) ? KALSHI_CHANNELS[textOf(frame.type) ?? ""] : undefined;
    const sid = channel === undefined ? undefined : this.#sidByChannel.get(channel);
    return JSON.stringify(isObject(frame) && sid !== undefined ? { ...frame, sid } : frame);
  }
}
