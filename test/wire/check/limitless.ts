/** Checks the recordings of Limitless. */
import type { Level } from "../expected/data.ts";
import {
  expectedClobTrade,
  expectedFeedTrade,
  expectedLimitlessBook,
  expectedLimitlessHistory,
  expectedLimitlessStream,
  idsOfEvents,
  isBookBody,
  isClobTrade,
  isFeedTrade,
  isStub,
  limitlessPointsOf,
  namedPayloadsOf,
  type SocketEvent,
  withoutPlaceholderLevels,
} from "../expected/limitless-data.ts";
import {
  expectedLimitlessMarket,
  isLimitlessRow,
  limitlessMarketsOf,
  limitlessTimeOf,
} from "../expected/limitless-markets.ts";
import { collect, type JsonObject, splitByRepeatedId, textOf } from "../json.ts";
import type { AdapterSession } from "../replay/adapter-session.ts";
import { compareBook, compareItems } from "../replay/compare-data.ts";
import { historyFacts, tradeFacts } from "../replay/facts.ts";
import { type LimitlessWorld, limitlessRespond, tokensOfSlug } from "../replay/limitless-server.ts";
import { checkMarkets } from "../replay/read-markets.ts";
import { openFollowedStream, playStream } from "../replay/read-stream.ts";
import { sampleLimitlessAmm, sampleLimitlessMarket } from "../replay/sample-rows.ts";
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
const TRADES_MAX = 2_000;
const SPARE_TOKENS = { yes: "999000111", no: "999000222" };

export async function checkLimitless(context: CheckContext): Promise<void> {
  const { kind, path } = context.recording.endpoint;
  if (kind === "markets") return checkRows(context);
  if (kind === "book") return checkBooks(context);
  if (kind === "history") return checkHistory(context);
  if (kind === "trades") return path.endsWith("/get-feed-events") ? checkFeed(context) : checkTrades(context);
  return checkStream(context);
}

function openSession(
  { recording, open }: CheckContext,
  world: Omit<LimitlessWorld, "now">,
  onEvent?: (event: string) => void,
): Promise<AdapterSession> {
  return open({
    respond: limitlessRespond({ ...world, now: recording.capturedAt }),
    ...(onEvent === undefined ? {} : { socketIo: { namespace: "/markets", onEvent } }),
  });
}

async function checkRows(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  reportUnrecognised(context, isLimitlessRow);
  const allRows = collect(recording.payload, isLimitlessRow);
  for (const [index, rows] of splitByRepeatedId(allRows, (row) => String(row.slug)).entries()) {
    const session = await openSession(context, { rows });
    const expected = limitlessMarketsOf(rows).map((market) => expectedLimitlessMarket(market, recording.capturedAt));
    await checkMarkets(session, expected, findings, index === 0 ? "" : `version ${index + 1} of `);
  }
}

/** Tokens of a market. If no recording has them, the first token of the data is YES. */
function tokensOf({ venuePayloads }: CheckContext, slug: string, firstToken: string | null) {
  return tokensOfSlug(venuePayloads, slug) ?? { ...SPARE_TOKENS, yes: firstToken ?? SPARE_TOKENS.yes };
}

async function checkBooks(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const parts = namedPayloadsOf(recording.payload).flatMap(({ slug, body }) =>
    collect(body, isBookBody).map((book) => ({ slug, book })),
  );
  const rows = parts.map(({ slug, book }) =>
    sampleLimitlessMarket(slug, tokensOf(context, slug, textOf(book.tokenId)), recording.capturedAt),
  );
  const session = await openSession(context, { rows, books: new Map(parts.map(({ slug, book }) => [slug, book])) });
  const listings = await fetchListings(
    session,
    parts.map(({ slug }) => slug),
  );
  for (const { slug, book } of parts) {
    const row = `book ${slug}`;
    findings.addRow(row);
    const actual = await readServedBook(session, listingOf(listings, slug));
    const expected = expectedLimitlessBook(book);
    const top = { bid: expected.bids[0]?.price ?? null, ask: expected.asks[0]?.price ?? null };
    // A stub may be shown or left out, but it has no price in either case.
    const filter = (levels: readonly Level[]) => (isStub(top.bid, top.ask) ? [] : withoutPlaceholderLevels(levels));
    compareBook(row, expected, actual, book, findings, filter);
  }
}

async function checkHistory(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const parts = namedPayloadsOf(recording.payload);
  const rows = parts.map(({ slug }) =>
    sampleLimitlessMarket(slug, tokensOf(context, slug, null), recording.capturedAt),
  );
  const session = await openSession(context, { rows, histories: new Map(parts.map(({ slug, body }) => [slug, body])) });
  const listings = await fetchListings(
    session,
    parts.map(({ slug }) => slug),
  );
  for (const { slug, body } of parts) {
    const points = limitlessPointsOf(body);
    const times = points.map((point) => limitlessTimeOf(point.timestamp) ?? 0);
    const intervalMs = spacingMs(times, MINUTE_MS);
    if (times.length === 0) continue;
    const range = { fromMs: Math.min(...times) - intervalMs, toMs: Math.max(...times) + 1, intervalMs };
    const actual = await session.adapter.getHistory(listingOf(listings, slug), range, signal);
    const rowOf = (index: number) => `point ${index + 1} of ${slug}`;
    compareItems("getHistory", rowOf, expectedLimitlessHistory(points, intervalMs), actual.map(historyFacts), findings);
  }
}

async function checkTrades(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const parts = namedPayloadsOf(recording.payload).map(({ slug, body }) => {
    const trades = collect(body, isClobTrade);
    return { slug, trades, tokens: tokensOf(context, slug, textOf(trades[0]?.tokenId)) };
  });
  const rows = parts.map(({ slug, tokens }) => sampleLimitlessMarket(slug, tokens, recording.capturedAt));
  const session = await openSession(context, {
    rows,
    trades: new Map(parts.map(({ slug, trades }) => [slug, trades])),
  });
  const listings = await fetchListings(
    session,
    parts.map(({ slug }) => slug),
  );
  for (const { slug, trades, tokens } of parts) {
    const actual = await session.adapter.listTrades(listingOf(listings, slug), 0, TRADES_MAX, signal);
    const expected = trades.map((row) => expectedClobTrade(row, tokens.no));
    const rowOf = (index: number) => `trade ${index + 1} of ${slug}`;
    compareItems("listTrades", rowOf, expected, actual.map(tradeFacts), findings);
  }
}

async function checkFeed(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const trades = collect(recording.payload, isFeedTrade);
  const addressOf = (row: JsonObject) => textOf(row.marketAddress) ?? "0x00000000000000000000000000000000000000aa";
  const byAddress = groupBy(trades, addressOf);
  const rows = [...byAddress.keys()].map((address) => sampleLimitlessAmm(address, recording.capturedAt));
  const session = await openSession(context, { rows, trades: byAddress });
  const listings = await fetchListings(session, [...byAddress.keys()]);
  for (const [address, ofMarket] of byAddress) {
    const actual = await session.adapter.listTrades(listingOf(listings, address), 0, TRADES_MAX, signal);
    const rowOf = (index: number) => `trade ${index + 1} of ${address}`;
    compareItems("listTrades", rowOf, ofMarket.map(expectedFeedTrade), actual.map(tradeFacts), findings);
  }
}

async function checkStream(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const { payload, capturedAt } = recording;
  const { slugs, addresses } = idsOfEvents(payload);
  let subscriptions = 0;
  const onEvent = (event: string) => {
    if (event === "subscribe_market_prices") subscriptions += 1;
  };
  const rows = [
    ...slugs.map((slug) => sampleLimitlessMarket(slug, tokensOf(context, slug, null), capturedAt)),
    ...addresses.map((address) => sampleLimitlessAmm(address, capturedAt)),
  ];
  const session = await openSession(context, { rows }, onEvent);
  const listings = await fetchListings(session, [...slugs, ...addresses]);
  const open = await openFollowedStream(session, [...listings.values()]);
  const expected = expectedLimitlessStream(payload, capturedAt);
  const transmission = (frame: unknown) => {
    const { event, payload: body } = frame as SocketEvent;
    return { key: JSON.stringify([event, body]), send: () => session.loopback.emit(event, body) };
  };
  if (rows.length > 0) await waitUntil(() => subscriptions > 0);
  await playStream(
    { session, open, expected, transmission, unsentReasons: new Set(), subscriptions: () => subscriptions },
    findings,
  );
}
