/** Plays a recording to the real adapter of its venue and returns what the adapter makes of it, as rows. */
import { generateKeyPairSync } from "node:crypto";
import type { MarketListing } from "../../src/domain/market.ts";
import type { SocketIoHandlers } from "../../src/ports/socket-io-out.ts";
import type { ListingPage, StreamMessage, VenueAdapter } from "../../src/ports/venue.ts";
import { loadVenue, VENUE_SERVICES } from "../../src/venues/registry.ts";
import { fakeVenuePorts } from "../support/venues/adapter-harness.ts";
import type { Recording } from "./recording.ts";
import { type CreateReplays, NOT_FOUND, type Replay, UNKNOWN_PATH } from "./replay.ts";
import { bookRow, historyRow, marketRow, NO_QUOTE, quoteRow, type Row, tradeRow } from "./rows.ts";
import { replayKalshi } from "./venues/kalshi.ts";
import { replayLimitless } from "./venues/limitless.ts";
import { replayManifold } from "./venues/manifold.ts";
import { replayPolymarket } from "./venues/polymarket.ts";

const REPLAYS: Readonly<Record<string, CreateReplays>> = {
  kalshi: replayKalshi,
  polymarket: replayPolymarket,
  limitless: replayLimitless,
  manifold: replayManifold,
};
/** Path below which a venue serves its REST API. */
const BASE_PATHS: Readonly<Record<string, string>> = { kalshi: "/trade-api/v2", manifold: "/v0" };
const TRADES_MAX = 2_000;
/** Age of the changes that are read. */
const CHANGES_MS = 3_600_000;
/** Time in which an adapter subscribes, and in which it waits for further messages after the last frame. */
const SETTLE_MS = 1_000;

const { signal } = new AbortController();
// Kalshi's stream requires a key. Nobody checks the signatures.
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEY = { keyId: "key", privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };

/** Rows by part of the recording: "market", "book", "history", "trade", "frame", "drops". */
export type Parts = ReadonlyMap<string, readonly Row[]>;

export type WrapAdapter = (adapter: VenueAdapter) => VenueAdapter;

/**
 * @param payloads recordings of the venue, in which related rows are found
 * @param wrap replaces the adapter, for tests that show that wrong values are found
 */
export async function readRecording(
  recording: Recording,
  payloads: readonly unknown[],
  wrap: WrapAdapter = (adapter) => adapter,
): Promise<Parts> {
  const parts = new Map<string, Row[]>();
  const replays = REPLAYS[recording.venue]?.(recording, payloads) ?? [];
  for (const [index, replay] of replays.entries()) {
    const version = index === 0 ? "" : ` of version ${index + 1}`;
    const session = await openSession(recording, replay, wrap);
    const rows = await readReplay(session, replay);
    rows.set("drops", [session.drops, ...session.unknownPaths.map((path) => ({ "unknown path": path }))]);
    for (const [part, own] of rows) if (own.length > 0) parts.set(`${part}${version}`, own);
  }
  return parts;
}

type Session = Awaited<ReturnType<typeof openSession>>;

async function openSession({ venue, capturedAt }: Recording, replay: Replay, wrap: WrapAdapter) {
  const unknownPaths: string[] = [];
  const { ports, clock, sockets, drops } = fakeVenuePorts(capturedAt, ({ pathname, searchParams }) => {
    const [, service = "", ...segments] = pathname.split("/");
    const path = `/${segments.map(decodeURIComponent).join("/")}`.replace(BASE_PATHS[venue] ?? "", "");
    const body = replay.reply({ service, path, query: searchParams });
    if (body === UNKNOWN_PATH) unknownPaths.push(`${service} ${path}`);
    const isMissing = body === NOT_FOUND || body === UNKNOWN_PATH;
    return isMissing ? { status: 404, body: '{"error":"not found"}' } : { body: JSON.stringify(body) };
  });
  let events: SocketIoHandlers | null = null;
  const emitted: string[] = [];
  const socketIo = {
    connect(_url: string, _options: object, handlers: SocketIoHandlers) {
      events = handlers;
      return { emit: (event: string) => void emitted.push(event), close() {} };
    },
  };
  const services = VENUE_SERVICES[venue] ?? [];
  const urls = Object.fromEntries(
    services.map((service) => [service, `http://venue.test/${service}${BASE_PATHS[venue] ?? ""}`]),
  );
  const createVenue = await loadVenue({ id: venue, adapter: venue });
  const account = { key: KEY, member: null };
  const adapter = wrap(createVenue({ ...ports, socketIo, areLimitsLifted: true }, urls, account));
  const answered = new Map<object, number>();
  let isUp = false;
  /** Accepts new connections and answers new texts. */
  const answerTexts = () => {
    if (!isUp) events?.onUp((event) => void emitted.push(event));
    isUp = true;
    for (const connection of sockets.connections) {
      if (!connection.isOpen) connection.accept();
      const done = answered.get(connection) ?? 0;
      answered.set(connection, connection.sent.length);
      const replies = connection.sent.slice(done).flatMap((text) => replay.answer?.(text) ?? []);
      for (const reply of replies) connection.receive(typeof reply === "string" ? reply : JSON.stringify(reply));
    }
  };
  return {
    adapter,
    clock,
    drops,
    unknownPaths,
    answerTexts,
    send(message: NonNullable<Replay["frames"]>[number]["message"]) {
      if (typeof message !== "string") events?.onEvent(message[0], message[1], clock.now());
      else for (const connection of sockets.connections) connection.receive(message, clock.now());
    },
    /** Number of commands that the adapter has sent. */
    commands: () => emitted.length + sockets.connections.reduce((sum, { sent }) => sum + sent.length, 0),
  };
}

async function readReplay(session: Session, replay: Replay): Promise<Map<string, Row[]>> {
  const { adapter, clock } = session;
  const { ids, books, ranges, hasTrades, frames } = replay;
  if (books === undefined && ranges === undefined && hasTrades !== true && frames === undefined) {
    return new Map([["market", await readMarkets(session, ids)]]);
  }
  const rows = new Map<string, Row[]>();
  const listings: MarketListing[] = [];
  for (const id of ids) {
    const page = await clock.until(adapter.findMarket(id, signal));
    listings.push(
      ...(page?.markets ?? []).map(({ listing }) => listing).filter(({ marketId }) => ids.includes(marketId)),
    );
  }
  const add = (part: string, added: readonly Row[]) => rows.set(part, [...(rows.get(part) ?? []), ...added]);
  for (const { id, serve } of books ?? []) {
    serve?.();
    const listing = listings.find(({ marketId }) => marketId === id);
    if (listing === undefined) throw new Error(`the adapter does not find the market ${id}`);
    add("book", [{ market: id, ...bookRow(await clock.until(adapter.getBook(listing, signal))) }]);
  }
  for (const listing of listings) {
    const range = ranges?.get(listing.marketId);
    const market = listing.marketId;
    if (range !== undefined) {
      const points = await clock.until(adapter.getHistory(listing, range, signal));
      add(
        "history",
        points.map((point) => ({ market, ...historyRow(point) })),
      );
    }
    if (hasTrades !== true) continue;
    const trades = await clock.until(adapter.listTrades(listing, 0, TRADES_MAX, signal));
    add(
      "trade",
      trades.map((trade) => ({ market, ...tradeRow(trade) })),
    );
  }
  if (frames !== undefined) add("frame", await readFrames(session, replay, listings));
  return rows;
}

/** Reads markets in every way that an adapter offers. A row states by which ways, and where they differ from the first. */
async function readMarkets({ adapter, clock }: Session, ids: readonly string[]): Promise<Row[]> {
  const collectPages = async (pages: AsyncIterable<ListingPage> | undefined) => {
    const collected: ListingPage[] = [];
    for await (const page of pages ?? []) collected.push(page);
    return collected;
  };
  const listed = await clock.until(collectPages(adapter.listOpenMarkets(signal)));
  const changed = await clock.until(collectPages(adapter.listChangedMarkets?.(clock.now() - CHANGES_MS, signal)));
  const found: ListingPage[] = [];
  for (const id of ids) {
    const page = await clock.until(adapter.findMarket(id, signal));
    if (page !== null) found.push(page);
  }
  const known = [...listed, ...found].flatMap(({ markets }) => markets.map(({ listing }) => listing));
  const keysOf = (id: string) => known.find(({ marketId }) => marketId === id) ?? { marketId: id, venueKeys: {} };
  const read = [await clock.until(adapter.getMarkets(ids.map(keysOf), signal))];
  const ways = Object.entries({ find: found, get: read, list: listed, changes: changed });
  const allIds = new Set([...ids, ...known.map(({ marketId }) => marketId)]);
  const rows = [...allIds].map((market): Row => {
    const versions = ways.flatMap(([way, pages]) => {
      const page = pages.find(({ markets }) => markets.some(({ listing }) => listing.marketId === market));
      const snapshot = page?.markets.find(({ listing }) => listing.marketId === market);
      if (snapshot === undefined) return [];
      const event = pages.flatMap(({ events }) => events).find(({ eventId }) => eventId === snapshot.listing.eventId);
      return [{ way, row: marketRow(snapshot, event ?? null) }];
    });
    const first = versions[0]?.row ?? {};
    const differences = versions.flatMap(({ way, row }) =>
      Object.keys(row)
        .filter((field) => row[field] !== first[field])
        .map((field) => `${way} ${field}: ${row[field] ?? null}`),
    );
    const read_by = versions.map(({ way }) => way).join(" ");
    return { market, read_by, ...first, differences: differences.join("; ") || null };
  });
  const incomplete = [...listed, ...changed].flatMap(({ incompleteReason }) => incompleteReason ?? []);
  return [...rows, ...incomplete.map((reason) => ({ market: "listing", incomplete: reason }))];
}

/** Rows of the quotes as the sum of all messages, trades and signals after each frame. */
async function readFrames(session: Session, replay: Replay, listings: readonly MarketListing[]): Promise<Row[]> {
  const { adapter, clock, answerTexts } = session;
  let messages: StreamMessage[] = [];
  const handlers = { onMessage: (message: StreamMessage) => void messages.push(message), onUp() {}, onDown() {} };
  const stream = adapter.openStream(handlers);
  answerTexts();
  stream?.follow(listings);
  for (let step = 0; step < 4; step++) {
    await clock.advance(SETTLE_MS / 4);
    answerTexts();
  }
  const commandsBefore = session.commands();
  const quotes = new Map<string, typeof NO_QUOTE>();
  const changedIds = new Set<string>();
  const take = (frame: number) => {
    const rows = messages.map((message): Row => {
      const { kind, marketId: market } = message;
      if (kind === "trade") return { frame, kind, market, ...tradeRow(message.trade) };
      if (kind !== "quote") {
        changedIds.add(market);
        return { frame, kind, market };
      }
      const quote = { ...(quotes.get(market) ?? NO_QUOTE), ...message.quote };
      quotes.set(market, quote);
      return { frame, kind, market, ...quoteRow(quote) };
    });
    messages = [];
    return rows;
  };
  const rows: Row[] = take(0);
  const frames = replay.frames ?? [];
  for (const [index, { message, at }] of frames.entries()) {
    clock.jumpWallClock(at - clock.now());
    session.send(message);
    await clock.settle();
    rows.push(...take(index + 1));
  }
  await clock.advance(SETTLE_MS);
  rows.push(...take(frames.length + 1));
  const commands = session.commands() - commandsBefore;
  stream?.close();
  if (replay.closeMarkets === undefined || changedIds.size === 0) return [...rows, { kind: "commands", commands }];
  replay.closeMarkets();
  const settled = await readMarkets(session, [...changedIds]);
  return [...rows, { kind: "commands", commands }, ...settled.map((row) => ({ kind: "market", ...row }))];
}
