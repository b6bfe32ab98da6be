/** Checks the recordings of Kalshi. */

import { near } from "../expectation.ts";
import {
  expectedCandles,
  expectedKalshiBook,
  expectedKalshiTrade,
  kalshiBooksOf,
  LadderReplay,
} from "../expected/kalshi-data.ts";
import { expectedKalshiMarket, isKalshiEvent, isKalshiMarket, isKalshiSeries } from "../expected/kalshi-markets.ts";
import { expectedKalshiStream, tickersOfFrames } from "../expected/kalshi-stream.ts";
import { parseFrame, recordedFramesOf } from "../expected/stream.ts";
import { collect, isObject, type JsonObject, numberOf, objectOf, splitByRepeatedId, textOf } from "../json.ts";
import type { AdapterSession } from "../replay/adapter-session.ts";
import { compareBook, compareItems } from "../replay/compare-data.ts";
import { historyFacts, marketFacts, tradeFacts } from "../replay/facts.ts";
import { type CandleSeries, KalshiSocket, type KalshiWorld, kalshiRespond } from "../replay/kalshi-server.ts";
import { checkMarkets } from "../replay/read-markets.ts";
import { openFollowedStream, playStream } from "../replay/read-stream.ts";
import { sampleKalshiMarket } from "../replay/sample-rows.ts";
import {
  type CheckContext,
  fetchListings,
  groupBy,
  listingOf,
  readServedBook,
  reportUnrecognised,
  signal,
  spacingMs,
} from "./context.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const TRADES_MAX = 100_000;
/** `dollar_volume` and `dollar_open_interest` are whole dollars. */
const WHOLE_DOLLAR = 1;
const UNSENT_REASONS: ReadonlySet<string> = new Set(["control_frame", "channel_not_subscribed"]);

export async function checkKalshi(context: CheckContext): Promise<void> {
  const { kind } = context.recording.endpoint;
  if (kind === "markets") return checkRows(context);
  if (kind === "series") return checkSeries(context);
  if (kind === "book") return checkBooks(context);
  if (kind === "history") return checkCandles(context);
  if (kind === "trades") return checkTrades(context);
  return checkStream(context);
}

function openSession({ open }: CheckContext, world: KalshiWorld, socket?: KalshiSocket): Promise<AdapterSession> {
  return open({
    respond: kalshiRespond(world),
    onText: socket?.onText,
  });
}

/** Events and series of all recordings of the venue; rows of this recording come first. */
function relatedRows({ recording, venuePayloads }: CheckContext) {
  const sources = [recording.payload, ...venuePayloads];
  const firstOfEach = (rows: readonly JsonObject[], field: string) => [
    ...new Map(rows.toReversed().map((row) => [row[field], row])).values(),
  ];
  return {
    events: firstOfEach(
      sources.flatMap((payload) => collect(payload, isKalshiEvent)),
      "event_ticker",
    ),
    series: firstOfEach(
      sources.flatMap((payload) => collect(payload, isKalshiSeries)),
      "ticker",
    ),
  };
}

async function checkRows(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const { events, series } = relatedRows(context);
  reportUnrecognised(context, (row) => isKalshiMarket(row) || isKalshiEvent(row));
  const recorded = collect(recording.payload, isKalshiMarket);
  const ownEvents = collect(recording.payload, isKalshiEvent);
  // Events may be listed without their markets.
  const bareEvents = recorded.length > 0 ? [] : ownEvents.map(({ event_ticker }) => String(event_ticker));
  const samples = bareEvents.map((ticker) => sampleKalshiMarket(`${ticker}-A`, recording.capturedAt, ticker));
  const rows = [...recorded, ...samples];
  for (const [index, markets] of splitByRepeatedId(rows, (row) => String(row.ticker)).entries()) {
    const session = await openSession(context, { markets, events, series });
    const expected = markets.map((row) => {
      const event = events.find((each) => each.event_ticker === row.event_ticker) ?? null;
      const ofEvent = series.find((each) => each.ticker === event?.series_ticker) ?? null;
      return expectedKalshiMarket(row, { event, series: ofEvent, capturedAt: recording.capturedAt });
    });
    await checkMarkets(session, expected, findings, index === 0 ? "" : `version ${index + 1} of `);
  }
}

/** A series gives its category and fee to the markets of its events. */
async function checkSeries(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const { capturedAt } = recording;
  const series = collect(recording.payload, isKalshiSeries);
  const parts = series.map((row) => {
    const ticker = String(row.ticker);
    const event = {
      event_ticker: `${ticker}-EVENT`,
      series_ticker: ticker,
      title: `Event ${ticker}`,
      mutually_exclusive: false,
    };
    return { row, event, market: sampleKalshiMarket(`${ticker}-EVENT-A`, capturedAt, event.event_ticker) };
  });
  const session = await openSession(context, {
    series,
    events: parts.map(({ event }) => event),
    markets: parts.map(({ market }) => market),
  });
  for (const { row, event, market } of parts) {
    const name = `series ${row.ticker}`;
    findings.addRow(name);
    const page = await session.adapter.findMarket(String(market.ticker), signal);
    const [snapshot] = page?.markets ?? [];
    if (snapshot === undefined) findings.differ(name, "findMarket", "a market", "none", row);
    else {
      const { facts } = expectedKalshiMarket(market, { event, series: row, capturedAt });
      findings.compare(name, "findMarket", facts, marketFacts(snapshot, page?.events[0] ?? null), row);
    }
  }
}

async function checkBooks(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const named = kalshiBooksOf(recording.payload);
  const books = new Map(named.map(({ ticker, ladders }) => [ticker, ladders]));
  const markets = [...books.keys()].map((ticker) => sampleKalshiMarket(ticker, recording.capturedAt));
  const session = await openSession(context, { markets, books });
  const listings = await fetchListings(session, [...books.keys()]);
  for (const { ticker, ladders } of named) {
    const row = `book ${ticker}`;
    findings.addRow(row);
    const book = await readServedBook(session, listingOf(listings, ticker));
    compareBook(row, expectedKalshiBook(ladders), book, ladders, findings);
  }
}

function candleSeriesOf({ recording }: CheckContext): CandleSeries[] {
  const isCandle = (row: JsonObject) => "end_period_ts" in row;
  const holders = collect(recording.payload, (row) => Array.isArray(row.candlesticks));
  const groups = holders.length > 0 ? holders : [{ ticker: "RECORDED-MARKET", candlesticks: recording.payload }];
  return groups.map((holder) => {
    const candles = collect(holder.candlesticks, isCandle);
    const times = candles.map((candle) => (numberOf(candle.end_period_ts) ?? 0) * SECOND_MS);
    const stated = numberOf(holder.period_interval) ?? numberOf(recording.endpoint.query.get("period_interval"));
    const ticker = textOf(holder.ticker) ?? textOf(holder.market_ticker) ?? "RECORDED-MARKET";
    return { ticker, periodMinutes: stated ?? spacingMs(times, MINUTE_MS) / MINUTE_MS, candles };
  });
}

async function checkCandles(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const series = candleSeriesOf(context);
  const markets = series.map(({ ticker }) => sampleKalshiMarket(ticker, recording.capturedAt));
  const isHistorical = recording.endpoint.path.startsWith("/historical");
  const session = await openSession(context, { markets, candles: series, isHistorical });
  const listings = await fetchListings(
    session,
    series.map(({ ticker }) => ticker),
  );
  for (const { ticker, candles, periodMinutes } of series) {
    const times = candles.map((candle) => (numberOf(candle.end_period_ts) ?? 0) * SECOND_MS);
    if (times.length === 0) continue;
    const intervalMs = periodMinutes * MINUTE_MS;
    const range = { fromMs: Math.min(...times) - intervalMs, toMs: Math.max(...times), intervalMs };
    const points = await session.adapter.getHistory(listingOf(listings, ticker), range, signal);
    const rowOf = (index: number) => `candle ${index + 1} of ${ticker}`;
    compareItems("getHistory", rowOf, expectedCandles(candles), points.map(historyFacts), findings);
  }
}

async function checkTrades(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const rows = collect(recording.payload, (row) => "trade_id" in row && "yes_price_dollars" in row);
  const byTicker = groupBy(rows, (row) => textOf(row.ticker) ?? "RECORDED-MARKET");
  const markets = [...byTicker.keys()].map((ticker) => sampleKalshiMarket(ticker, recording.capturedAt));
  const isHistorical = recording.endpoint.path.startsWith("/historical");
  const session = await openSession(context, { markets, trades: rows, isHistorical });
  const listings = await fetchListings(session, [...byTicker.keys()]);
  for (const [ticker, trades] of byTicker) {
    const actual = await session.adapter.listTrades(listingOf(listings, ticker), 0, TRADES_MAX, signal);
    const rowOf = (index: number) => `trade ${trades[index]?.trade_id}`;
    compareItems("listTrades", rowOf, trades.map(expectedKalshiTrade), actual.map(tradeFacts), findings);
  }
}

async function checkStream(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const tickers = tickersOfFrames(recording.payload);
  const socket = new KalshiSocket();
  const markets = tickers.map((ticker) => sampleKalshiMarket(ticker, recording.capturedAt));
  const session = await openSession(context, { markets }, socket);
  const listings = await fetchListings(session, tickers);
  const open = await openFollowedStream(session, [...listings.values()]);
  const { channels } = socket;
  const expected = expectedKalshiStream(recording.payload, channels, recording.capturedAt);
  const transmission = (frame: unknown) => {
    const text = socket.textOf(frame);
    return { key: text, send: () => session.loopback.sendText(text) };
  };
  const subscriptions = () => socket.subscriptions;
  await playStream({ session, open, expected, transmission, unsentReasons: UNSENT_REASONS, subscriptions }, findings);
  if (!channels.has("orderbook_delta")) await checkLadders(context);
  await checkTickerDollars(context);
}

/**
 * The adapter reads books over REST and not from `orderbook_delta`. Each book of that channel is therefore served as the
 * order book endpoint would serve it, so that every frame is compared.
 */
async function checkLadders(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const replay = new LadderReplay();
  const books = new Map<string, JsonObject>();
  const tickers = tickersOfFrames(recording.payload);
  const markets = tickers.map((ticker) => sampleKalshiMarket(ticker, recording.capturedAt));
  const session = await openSession(context, { markets, books });
  const listings = await fetchListings(session, tickers);
  for (const [index, { frame }] of recordedFramesOf(recording.payload).entries()) {
    const applied = replay.apply(objectOf(parseFrame(frame)));
    if (applied === null) continue;
    const { ticker, state } = applied;
    const row = `frame ${index + 1}`;
    findings.addRow(row);
    books.set(ticker, state.ladders);
    if (state.negativeLevel !== null)
      findings.differ(row, "recording", "no level below zero", state.negativeLevel, frame);
    const book = await readServedBook(session, listingOf(listings, ticker));
    compareBook(row, expectedKalshiBook(state.ladders), book, frame, findings);
  }
}

/** A ticker states its volume and open interest in dollars. A row with the same counts must have the same dollars. */
async function checkTickerDollars({ recording, findings, open }: CheckContext): Promise<void> {
  const rows = recordedFramesOf(recording.payload).flatMap(({ frame }, index) => {
    const parsed = parseFrame(frame);
    const message = isObject(parsed) && parsed.type === "ticker" ? objectOf(parsed.msg) : {};
    return numberOf(message.dollar_volume) === null ? [] : [{ name: `frame ${index + 1}`, message }];
  });
  if (rows.length === 0) return;
  let market: JsonObject = {};
  const session = await open({
    respond: (service, request) => kalshiRespond({ markets: [market] })(service, request),
  });
  for (const { name, message } of rows) {
    const ticker = String(message.market_ticker);
    const { volume_fp, open_interest_fp } = message;
    market = { ...sampleKalshiMarket(ticker, recording.capturedAt), volume_fp, open_interest_fp };
    const [snapshot] = (await session.adapter.findMarket(ticker, signal))?.markets ?? [];
    const expected = {
      volume_total: near(numberOf(message.dollar_volume), WHOLE_DOLLAR),
      open_interest: near(numberOf(message.dollar_open_interest), WHOLE_DOLLAR),
    };
    if (snapshot !== undefined) findings.compare(name, "findMarket", expected, marketFacts(snapshot, null), message);
  }
}
