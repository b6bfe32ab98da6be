/** Checks the recordings of Polymarket. */
import { exactly } from "../expectation.ts";
import type { ExpectedMarket } from "../expected/market.ts";
import {
  conditionOf,
  expectedPolymarketBook,
  expectedPolymarketHistory,
  expectedPolymarketTrade,
  historyPointsOf,
  isBookRow,
  isPolymarketTrade,
  tokensOfTrades,
} from "../expected/polymarket-data.ts";
import { expectedPolymarketMarket, isGammaEvent, isGammaMarket, shortEventOf } from "../expected/polymarket-markets.ts";
import { expectedPolymarketStream, marketsOfFrames, type StreamMarket } from "../expected/polymarket-stream.ts";
import { parseFrame, recordedFramesOf } from "../expected/stream.ts";
import { collect, isObject, type JsonObject, listOf, numberOf, splitByRepeatedId, textOf } from "../json.ts";
import type { AdapterSession } from "../replay/adapter-session.ts";
import { compareBook, compareItems } from "../replay/compare-data.ts";
import { historyFacts, marketFacts, tradeFacts } from "../replay/facts.ts";
import {
  eventsAround,
  PolymarketSocket,
  type PolymarketWorld,
  polymarketRespond,
  tradeVersionOf,
} from "../replay/polymarket-server.ts";
import { checkMarkets } from "../replay/read-markets.ts";
import { openFollowedStream, playStream } from "../replay/read-stream.ts";
import { samplePolymarketMarket } from "../replay/sample-rows.ts";
import {
  type CheckContext,
  fetchListings,
  groupBy,
  listingOf,
  readServedBook,
  reportUnrecognised,
  signal,
  spacingMs,
  waitUntil,
} from "./context.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const TRADES_MAX = 100_000;
const FIRST_SAMPLE_ID = 8_000_000;
/** A token that no recording names. */
const SPARE_TOKEN = "999000111";

export async function checkPolymarket(context: CheckContext): Promise<void> {
  const { kind } = context.recording.endpoint;
  if (kind === "markets") return checkRows(context);
  if (kind === "resolutions") return checkResolutions(context);
  if (kind === "book") return checkBooks(context);
  if (kind === "history") return checkHistory(context);
  if (kind === "trades") return checkTrades(context);
  return checkStream(context);
}

function openSession(
  { open }: CheckContext,
  world: PolymarketWorld,
  socket?: PolymarketSocket,
): Promise<AdapterSession> {
  return open({
    respond: polymarketRespond(world),
    onText: socket?.onText,
  });
}

const isResolution = (row: JsonObject): boolean =>
  typeof row.condition_id === "string" && typeof row.status === "string" && row.question === undefined;

async function checkRows(context: CheckContext): Promise<void> {
  const { recording, venuePayloads, findings } = context;
  const { capturedAt } = recording;
  reportUnrecognised(context, (row) => isGammaMarket(row) || isGammaEvent(row));
  const recordedEvents = collect(recording.payload, isGammaEvent);
  const resolutions = venuePayloads.flatMap((payload) => collect(payload, isResolution));
  const rows = collect(recording.payload, isGammaMarket);
  for (const [index, markets] of splitByRepeatedId(rows, (row) => String(row.id)).entries()) {
    const isFirst = index === 0;
    const areEventsComplete = isFirst && recordedEvents.length > 0;
    const events = areEventsComplete ? recordedEvents : eventsAround(markets, shortEventOf);
    const session = await openSession(context, {
      // Market endpoints return market rows with their event; event endpoints return the reverse.
      markets: areEventsComplete ? recordedEvents.flatMap(withEvent) : markets,
      events: events.filter((event) => event.closed !== true),
      areEventsComplete,
      resolutions,
    });
    const expected = markets.map((row): ExpectedMarket => {
      const around = recordedEvents.find((event) => listOf(event.markets).includes(row)) ?? null;
      const resolution = resolutions.find((each) => each.condition_id === row.conditionId) ?? null;
      const marketsInEvent = around === null ? null : listOf(around.markets).length;
      return expectedPolymarketMarket(row, {
        event: around ?? shortEventOf(row),
        marketsInEvent,
        resolution,
        capturedAt,
      });
    });
    await checkMarkets(session, expected, findings, isFirst ? "" : `version ${index + 1} of `);
  }
}

/** Returns the markets of an event as the market endpoint returns them. */
function withEvent(event: JsonObject): JsonObject[] {
  const { markets, ...short } = event;
  return listOf(markets)
    .filter(isObject)
    .map((row) => ({ ...row, events: [short] }));
}

/** A resolution decides status and outcome of a closed market whose final prices do not. */
async function checkResolutions(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const { capturedAt } = recording;
  const resolutions = collect(recording.payload, isResolution);
  const markets = resolutions.map((resolution, index) => {
    const tokens = { yes: `77${index}1`, no: `77${index}2` };
    const row = samplePolymarketMarket(
      String(FIRST_SAMPLE_ID + index),
      String(resolution.condition_id),
      tokens,
      capturedAt,
    );
    const isSettled = resolution.status === "resolved";
    const isProposed = ["proposed", "reproposed", "challenged", "disputed", "arbitration"].includes(
      String(resolution.status),
    );
    return {
      ...row,
      closed: isSettled,
      acceptingOrders: !isSettled,
      umaResolutionStatus: isProposed ? "proposed" : "",
    };
  });
  const session = await openSession(context, { markets, resolutions });
  const expected = markets.map((row, index) => {
    const related = {
      event: shortEventOf(row),
      marketsInEvent: null,
      resolution: resolutions[index] ?? null,
      capturedAt,
    };
    return { ...expectedPolymarketMarket(row, related), isListed: null, isUnpriced: false };
  });
  await checkMarkets(session, expected, findings);
}

async function checkBooks(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const books = collect(recording.payload, isBookRow);
  const byToken = new Map(books.map((book) => [String(book.asset_id), book]));
  const ids = [...byToken.keys()].map((_, index) => String(FIRST_SAMPLE_ID + index));
  const markets = [...byToken].map(([token, book], index) => {
    const tokens = { yes: token, no: `${SPARE_TOKEN}${index}` };
    return samplePolymarketMarket(ids[index] ?? "", textOf(book.market) ?? `0x${index}`, tokens, recording.capturedAt);
  });
  const session = await openSession(context, { markets, books: byToken });
  const listings = await fetchListings(session, ids);
  for (const [index, [token, book]] of [...byToken].entries()) {
    const row = `book of token ${token.slice(0, 12)}…`;
    findings.addRow(row);
    const actual = await readServedBook(session, listingOf(listings, ids[index] ?? ""));
    compareBook(row, expectedPolymarketBook(book), actual, book, findings);
  }
}

async function checkHistory(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const points = historyPointsOf(recording.payload);
  const holder = isObject(recording.payload) ? recording.payload : {};
  const token = textOf(holder.market) ?? textOf(holder.token_id) ?? `${SPARE_TOKEN}1`;
  const id = String(FIRST_SAMPLE_ID);
  const market = samplePolymarketMarket(id, "0x1", { yes: token, no: `${SPARE_TOKEN}2` }, recording.capturedAt);
  const session = await openSession(context, { markets: [market], histories: new Map([[token, recording.payload]]) });
  const listings = await fetchListings(session, [id]);
  const times = points.map((point) => (numberOf(point.t) ?? 0) * SECOND_MS);
  const stated = numberOf(recording.endpoint.query.get("fidelity"));
  const intervalMs = stated === null ? spacingMs(times, MINUTE_MS) : stated * MINUTE_MS;
  if (times.length > 0) {
    const range = {
      fromMs: (Math.floor(Math.min(...times) / intervalMs) - 1) * intervalMs,
      toMs: (Math.ceil(Math.max(...times) / intervalMs) + 1) * intervalMs,
      intervalMs,
    };
    const actual = await session.adapter.getHistory(listingOf(listings, id), range, signal);
    const expected = expectedPolymarketHistory(points, intervalMs);
    compareItems("getHistory", (index) => `point ${index + 1}`, expected, actual.map(historyFacts), findings);
  }
}

async function checkTrades(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const rows = collect(recording.payload, isPolymarketTrade);
  const byCondition = groupBy(rows, (row) => conditionOf(row) ?? "0x1");
  const parts = [...byCondition].map(([condition, trades], index) => ({
    id: String(FIRST_SAMPLE_ID + index),
    condition,
    trades,
    tokens: tokensOfTrades(trades, `${SPARE_TOKEN}${index}`),
  }));
  const session = await openSession(context, {
    markets: parts.map(({ id, condition, tokens }) =>
      samplePolymarketMarket(id, condition, tokens, recording.capturedAt),
    ),
    trades: { version: tradeVersionOf(rows), rows },
  });
  const listings = await fetchListings(
    session,
    parts.map(({ id }) => id),
  );
  for (const { id, trades, tokens, condition } of parts) {
    const actual = await session.adapter.listTrades(listingOf(listings, id), 0, TRADES_MAX, signal);
    const expected = trades.map((row) => expectedPolymarketTrade(row, tokens));
    const rowOf = (index: number) => `trade ${index + 1} of ${condition.slice(0, 12)}`;
    compareItems("listTrades", rowOf, expected, actual.map(tradeFacts), findings);
  }
}

async function checkStream(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const { payload, capturedAt } = recording;
  const socket = new PolymarketSocket();
  const streamed = marketsOfFrames(payload);
  const markets = streamed.map(({ marketId, conditionId, tokens }) =>
    samplePolymarketMarket(marketId, conditionId, tokens, capturedAt),
  );
  const session = await openSession(context, { markets }, socket);
  const listings = await fetchListings(
    session,
    streamed.map(({ marketId }) => marketId),
  );
  const open = await openFollowedStream(session, [...listings.values()]);
  if (streamed.length > 0) await waitUntil(() => socket.subscriptions > 0);
  const expected = expectedPolymarketStream(payload, streamed, capturedAt);
  const transmission = (frame: unknown) => {
    const text = typeof frame === "string" ? frame : JSON.stringify(frame);
    return { key: text, send: () => session.loopback.sendText(text) };
  };
  const subscriptions = () => socket.subscriptions;
  await playStream({ session, open, expected, transmission, unsentReasons: new Set(), subscriptions }, findings);
  await checkSettlements(context, session, streamed, markets);
}

/** The stream settles a market by its winning token, also while the market endpoint returns it without a result. */
async function checkSettlements(
  { recording, findings }: CheckContext,
  { adapter }: AdapterSession,
  markets: readonly StreamMarket[],
  rows: JsonObject[],
): Promise<void> {
  const closed = { closed: true, acceptingOrders: false, outcomePrices: '["0.97", "0.03"]' };
  rows.splice(0, rows.length, ...rows.map((row) => ({ ...row, ...closed })));
  for (const [index, { frame }] of recordedFramesOf(recording.payload).entries()) {
    for (const message of collect(parseFrame(frame), (each) => each.event_type === "market_resolved")) {
      const winner = textOf(message.winning_asset_id);
      const market = markets.find(({ tokens }) => tokens.yes === winner || tokens.no === winner);
      if (winner === null || market === undefined) continue;
      const { markets: read } = await adapter.getMarkets([{ marketId: market.marketId, venueKeys: {} }], signal);
      const [snapshot] = read;
      const expected = { status: exactly("finalized"), outcome: exactly(winner === market.tokens.yes ? "yes" : "no") };
      const actual = snapshot === undefined ? {} : marketFacts(snapshot, null);
      findings.compare(`frame ${index + 1}`, "getMarkets after market_resolved", expected, actual, message);
    }
  }
}
