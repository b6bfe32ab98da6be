/** Kalshi's REST paths and WebSocket commands over recorded rows. */
import {
  collect,
  framesOf,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  spacingOf,
  splitByRepeatedId,
} from "../json.ts";
import type { Recording } from "../recording.ts";
import { NOT_FOUND, openTimes, type Replay, rangeOf, readFixture, UNKNOWN_PATH } from "../replay.ts";

const LONG_AGO = "2020-01-01T00:00:00Z";
/** Nothing is in the historical tier. */
const CUTOFFS = { market_settled_ts: LONG_AGO, trades_created_ts: LONG_AGO, orders_updated_ts: LONG_AGO };
const UNNAMED = "RECORDED-MARKET";
/** Value of the row's `status` by value of the request's `status`. */
const STATUSES: Readonly<Record<string, string>> = { unopened: "initialized", open: "active", paused: "inactive" };
/** Channel of each type of frame. Other types are replies to commands. */
const CHANNELS: Readonly<Record<string, string>> = {
  ticker: "ticker",
  trade: "trade",
  market_lifecycle_v2: "market_lifecycle_v2",
};

interface World {
  readonly markets: readonly JsonObject[];
  readonly events?: readonly JsonObject[];
  readonly series?: readonly JsonObject[];
  readonly books?: ReadonlyMap<string, JsonObject>;
  readonly candles?: ReadonlyMap<string, readonly JsonObject[]>;
  readonly trades?: readonly JsonObject[];
}

const isEvent = (row: JsonObject) => typeof row.event_ticker === "string" && typeof row.series_ticker === "string";
const isMarket = (row: JsonObject) => typeof row.ticker === "string" && typeof row.event_ticker === "string";
/** Documentation of the field `price_ranges`. */
const isStructure = (row: JsonObject) => typeof row.price_level_structure === "string" && row.ticker === undefined;
const isSeries = (row: JsonObject) => typeof row.ticker === "string" && typeof row.fee_type === "string";

export function replayKalshi(recording: Recording, payloads: readonly unknown[]): Replay[] {
  const { payload, capturedAt, kind } = recording;
  const sources = [payload, ...payloads];
  /** Rows of this recording come first. */
  const related = (isWanted: (row: JsonObject) => boolean, id: string) => {
    const rows = sources.flatMap((source) => collect(source, isWanted));
    return [...new Map(rows.toReversed().map((row) => [row[id], row])).values()];
  };
  const sample = (ticker: string) => sampleMarket(ticker, capturedAt);
  if (kind === "markets") {
    const [events, series] = [related(isEvent, "event_ticker"), related(isSeries, "ticker")];
    const structures = collect(payload, isStructure);
    const rows = [
      ...collect(payload, isMarket),
      ...structures.map((row) => ({ ...sample(String(row.price_level_structure)), ...row })),
    ];
    return splitByRepeatedId(rows, (row) => String(row.ticker)).map((markets) => ({
      reply: replyOf({ markets, events, series }),
      ids: markets.map(({ ticker }) => String(ticker)),
    }));
  }
  if (kind === "series") {
    const series = collect(payload, isSeries);
    const markets = series.map((row) => sample(String(row.ticker)));
    const events = markets.map(({ ticker, event_ticker }) => ({
      event_ticker,
      series_ticker: ticker,
      title: "Event",
      mutually_exclusive: false,
    }));
    return [{ reply: replyOf({ markets, events, series }), ids: markets.map(({ ticker }) => String(ticker)) }];
  }
  if (kind === "book") {
    // The object was called `orderbook` until spring 2026. Its lists of dollar prices had the present names.
    const holders = collect(payload, (row) => isObject(row.orderbook_fp ?? row.orderbook));
    return [
      replayBooks(
        holders.map((row) => [String(row.ticker ?? UNNAMED), objectOf(row.orderbook_fp ?? row.orderbook)]),
        sample,
      ),
    ];
  }
  if (kind === "history") {
    const tickerOf = (row: JsonObject) => String(row.ticker ?? row.market_ticker ?? UNNAMED);
    const holders = collect(payload, (row) => Array.isArray(row.candlesticks));
    const candles = new Map(holders.map((row) => [tickerOf(row), listOf(row.candlesticks).filter(isObject)]));
    const ranges = new Map(
      [...candles].map(([ticker, rows]) => {
        const times = rows.map(({ end_period_ts }) => Number(end_period_ts) * 1_000);
        const stated = Number(recording.query.get("period_interval") ?? Number.NaN) * 60_000;
        return [ticker, rangeOf(times, Number.isNaN(stated) ? spacingOf(times) : stated)];
      }),
    );
    const ids = [...candles.keys()];
    return [{ reply: replyOf({ markets: ids.map(sample), candles }), ids, ranges }];
  }
  if (kind === "trades") {
    const trades = collect(payload, (row) => "trade_id" in row);
    const ids = [...new Set(trades.map(({ ticker }) => String(ticker ?? UNNAMED)))];
    return [{ reply: replyOf({ markets: ids.map(sample), trades }), ids, hasTrades: true }];
  }
  const frames = framesOf(payload).map(({ frame, receivedAt }) => ({ frame: objectOf(frame), receivedAt }));
  const isSent = ({ frame }: { frame: JsonObject }) => CHANNELS[String(frame.type)] !== undefined;
  const tickers = tickersOf(frames.filter(isSent).map(({ frame }) => frame));
  const sids = new Map<string, number>();
  const stream: Replay = {
    reply: replyOf({ markets: tickers.map(sample) }),
    ids: tickers,
    answer: (text) => answerCommand(objectOf(JSON.parse(text)), sids),
    get frames() {
      return frames.filter(isSent).map(({ frame, receivedAt }) => ({
        message: JSON.stringify({ ...frame, sid: sids.get(CHANNELS[String(frame.type)] ?? "") }),
        at: receivedAt ?? capturedAt,
      }));
    },
  };
  const ladders = laddersAfterFrames(frames.map(({ frame }) => frame));
  return [...(tickers.length > 0 ? [stream] : []), ...(ladders.length > 0 ? [replayBooks(ladders, sample)] : [])];
}

type NamedBook = readonly [ticker: string, ladders: JsonObject];

function replayBooks(recorded: readonly NamedBook[], sample: (ticker: string) => JsonObject): Replay {
  const books = new Map<string, JsonObject>();
  const ids = [...new Set(recorded.map(([ticker]) => ticker))];
  return {
    reply: replyOf({ markets: ids.map(sample), books }),
    ids,
    books: recorded.map(([id, ladders]) => ({ id, serve: () => books.set(id, ladders) })),
  };
}

/**
 * The adapter reads books over REST and not from `orderbook_delta`. Returns the book after each frame of that channel, as
 * the order book endpoint returns it.
 */
function laddersAfterFrames(frames: readonly JsonObject[]): NamedBook[] {
  const books = new Map<string, Readonly<Record<string, Map<string, number>>>>();
  const ladderOf = (rows: unknown) =>
    new Map(listOf(rows).map((row) => [String(listOf(row)[0]), Number(listOf(row)[1])] as const));
  return frames.flatMap(({ type, msg }): NamedBook[] => {
    const { market_ticker, yes_dollars_fp, no_dollars_fp, side, price_dollars, delta_fp } = objectOf(msg);
    const ticker = String(market_ticker);
    if (type === "orderbook_snapshot")
      books.set(ticker, { yes: ladderOf(yes_dollars_fp), no: ladderOf(no_dollars_fp) });
    const book = books.get(ticker);
    if (book === undefined) return [];
    const ladder = book[String(side)];
    if (type === "orderbook_delta" && ladder !== undefined) {
      const size = (ladder.get(String(price_dollars)) ?? 0) + Number(delta_fp);
      ladder.set(String(price_dollars), Math.round(size * 100) / 100);
    }
    const rowsOf = (levels = new Map<string, number>()) =>
      [...levels]
        .filter(([, size]) => size > 0)
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([price, size]) => [price, size.toFixed(2)]);
    return type === "orderbook_snapshot" || type === "orderbook_delta"
      ? [[ticker, { yes_dollars: rowsOf(book.yes), no_dollars: rowsOf(book.no) }]]
      : [];
  });
}

const tickersOf = (frames: readonly JsonObject[]) => [
  ...new Set(frames.map(({ msg }) => String(objectOf(msg).market_ticker))),
];

function replyOf({ markets, events = [], series = [], books, candles, trades = [] }: World): Replay["reply"] {
  const one = (name: string, row: JsonObject | undefined) => (row === undefined ? NOT_FOUND : { [name]: row });
  return ({ path, query }) => {
    const wanted = (query.get("tickers") ?? query.get("ticker") ?? query.get("market_tickers"))?.split(",");
    const isWanted = (ticker: unknown) => ticker === undefined || wanted?.includes(String(ticker)) !== false;
    const [, name = "", id = "", detail = ""] =
      /^\/(?:series\/[^/]+\/(?=markets\/))?(\w+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
    if (name === "historical") return detail === "" ? { ...CUTOFFS, markets: [], trades: [], cursor: "" } : NOT_FOUND;
    if (path === "/markets/trades") return { trades: trades.filter(({ ticker }) => isWanted(ticker)), cursor: "" };
    if (detail === "candlesticks") return { ticker: id, candlesticks: candles?.get(id) ?? [] };
    if (id === "candlesticks") {
      const known = [...(candles ?? [])].filter(([ticker]) => isWanted(ticker));
      return { markets: known.map(([market_ticker, candlesticks]) => ({ market_ticker, candlesticks })) };
    }
    if (detail === "orderbook") return { orderbook_fp: books?.get(id) ?? { yes_dollars: [], no_dollars: [] } };
    if (detail !== "") return UNKNOWN_PATH;
    if (name === "markets" && id !== "")
      return one(
        "market",
        markets.find(({ ticker }) => ticker === id),
      );
    if (name === "events" && id !== "")
      return one(
        "event",
        events.find(({ event_ticker }) => event_ticker === id),
      );
    if (name === "series" && id !== "")
      return one(
        "series",
        series.find(({ ticker }) => ticker === id),
      );
    if (name === "markets") {
      return { markets: markets.filter((row) => isWanted(row.ticker) && isListed(row, query)), cursor: "" };
    }
    if (name === "events") {
      return { events: events.filter(({ event_ticker }) => isWanted(event_ticker)), cursor: "" };
    }
    return name === "series" ? { series } : UNKNOWN_PATH;
  };
}

function isListed(row: JsonObject, query: URLSearchParams): boolean {
  const status = query.get("status");
  if (status !== null && STATUSES[status] !== row.status) return false;
  if (query.get("mve_filter") === "exclude" && (row.mve_collection_ticker ?? "") !== "") return false;
  const since = query.get("min_updated_ts");
  return since === null || Date.parse(String(row.updated_time ?? row.created_time)) >= Number(since) * 1_000;
}

/** Confirms subscriptions. */
function answerCommand({ id, cmd, params }: JsonObject, sids: Map<string, number>): JsonObject[] {
  const { channels, sid } = objectOf(params);
  if (cmd === "list_subscriptions") {
    return [{ id, type: "ok", msg: [...sids].map(([channel, number]) => ({ channel, sid: number })) }];
  }
  if (cmd !== "subscribe") return [{ id, type: "ok", sid }];
  return listOf(channels).map((channel) => {
    sids.set(String(channel), sids.size + 1);
    return { id, type: "subscribed", msg: { channel, sid: sids.get(String(channel)) } };
  });
}

function sampleMarket(ticker: string, now: number): JsonObject {
  const { openAt, closeAt } = openTimes(now);
  const times = { created_time: openAt, open_time: openAt, close_time: closeAt, latest_expiration_time: closeAt };
  const { market } = readFixture("kalshi/fixtures/market/active");
  return { ...objectOf(market), ...times, ticker, event_ticker: `${ticker}-EVENT` };
}
