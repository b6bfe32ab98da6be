/**
 * Compares the data that the Kalshi adapter reads from the sandbox with the state of the simulated world. The adapter
 * uses real HTTP and WebSocket connections.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import {
  kalshiCategory,
  kalshiEventTicker,
  kalshiExchange,
  kalshiSettlementValue,
  kalshiTicker,
  kalshiTradeId,
} from "../../sandbox/protocol/kalshi/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket, Phase } from "../../sandbox/world/types.ts";
import { createUndiciHttp } from "../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import type { MarketSnapshot } from "../../src/domain/market.ts";
import { yesPrice } from "../../src/domain/market.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import type { StreamMessage, VenueAdapter } from "../../src/ports/venue.ts";
import { createKalshiVenue } from "../../src/venues/kalshi/index.ts";
import { quietLog } from "../support/quiet-log.ts";

const GENESIS = Date.UTC(2026, 10, 21);
const signal = new AbortController().signal;

const world = createWorld({ seed: 7, genesis: GENESIS, speed: 60, marketCount: 900 });
const NOW = findTimeWithAllPhases();
let now = () => NOW;

/** Finds the first time after genesis at which the markets have all outcome kinds and all phases except `paused`. */
function findTimeWithAllPhases(): number {
  const requiredValues = ["active", "closed", "determined", "disputed", "yes", "no", "void", "partial"];
  for (let at = GENESIS + 1_234; at < GENESIS + 48 * HOUR_MS; at += 5 * 60_000) {
    const lifecycles = world.markets("kalshi", at).map((market) => world.lifecycle(market, at));
    const foundValues = new Set<string>(lifecycles.flatMap(({ phase, outcome }) => [phase, outcome?.kind ?? phase]));
    if (requiredValues.every((value) => foundValues.has(value))) return at;
  }
  throw new Error("no time has all phases; choose another seed");
}

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const feed = createFeed(world, { now: () => now(), intervalMs: 20 });
const exchange = kalshiExchange(
  { world, feed, now: () => now(), enforceLimits: false },
  { publicKeys: { "test-key": publicKey.export({ type: "spki", format: "pem" }).toString() } },
);
const http = createUndiciHttp(systemClock);
const sockets = createWsSockets(systemClock);
const drops: string[] = [];

let served: Awaited<ReturnType<typeof serveExchanges>>;
let venue: VenueAdapter;

function createVenue(keyId: string): VenueAdapter {
  const urls = served.urls.kalshi;
  return createKalshiVenue({
    id: "kalshi",
    playMoney: false,
    http,
    sockets,
    clock: systemClock,
    random: systemRandom,
    log: quietLog,
    countDrop: (reason) => drops.push(reason),
    drift: (kind, field) => drops.push(`${field} ${kind}`),
    restUrl: urls?.rest ?? "",
    wsUrl: urls?.ws ?? "",
    keyId,
    privateKeyPem,
  });
}

before(async () => {
  served = await serveExchanges(exchange, { host: "127.0.0.1", firstPort: 0 });
  venue = createVenue("test-key");
});

after(async () => {
  feed.close();
  await served.close();
  await http.close();
});

const findListedMarkets = (phases: readonly Phase[]): ListedMarket[] =>
  world.markets("kalshi", now()).filter((market) => phases.includes(world.lifecycle(market, now()).phase));

const toListingKeys = (markets: readonly ListedMarket[]) =>
  markets.map((market) => ({ marketId: kalshiTicker(market), venueKeys: {} }));

/** Kalshi's dollar amounts count each contract as $0.50, at any price. */
const toUsd = (contracts: number): number => Math.round(contracts * 50) / 100;

/** Asserts that the snapshot equals the current state of the world. */
function assertSnapshot(market: ListedMarket, { listing, quote, activity }: MarketSnapshot): void {
  const lifecycle = world.lifecycle(market, now());
  const book = world.book(market, now());
  const expectedActivity = world.activity(market, now());
  const statusByPhase: Readonly<Record<Phase, string>> = {
    pending: "pending",
    active: "active",
    paused: "active",
    closed: "closed",
    determined: "determined",
    disputed: "determined",
    finalized: "finalized",
  };
  assert.deepEqual(
    {
      bid: quote.bid,
      ask: quote.ask,
      bidSize: quote.bidSize,
      askSize: quote.askSize,
      lastPrice: quote.lastPrice,
      eventAt: quote.eventAt,
      volume24hUsd: activity.volume24hUsd,
      volumeTotalUsd: activity.volumeTotalUsd,
      openInterestUsd: activity.openInterestUsd,
    },
    {
      bid: book.bids[0]?.price ?? null,
      ask: book.asks[0]?.price ?? null,
      bidSize: book.bids[0]?.size ?? null,
      askSize: book.asks[0]?.size ?? null,
      lastPrice: book.lastPrice,
      eventAt: null,
      volume24hUsd: toUsd(expectedActivity.volume24hContracts),
      volumeTotalUsd: toUsd(expectedActivity.volumeContracts),
      openInterestUsd: toUsd(expectedActivity.openInterestContracts),
    },
    listing.marketId,
  );
  assert.equal(listing.status, statusByPhase[lifecycle.phase]);
  assert.equal(listing.paused, lifecycle.phase === "paused");
  assert.equal(listing.eventId, kalshiEventTicker(market.event));
  assert.equal(listing.category, kalshiCategory(market.event));
  assert.equal(listing.outcomeLabel, market.label === "Yes" ? null : market.label);
  assert.deepEqual(listing.priceRanges, market.bands);
  assert.equal(listing.openAt, market.openAt);
  assert.equal(listing.rules, market.rules);
  assert.ok(listing.title.startsWith(market.event.title));
}

test("`listOpenMarkets` lists exactly the active, paused and pending markets, with quotes and events", async () => {
  const expected = new Map(
    findListedMarkets(["active", "paused", "pending"]).map((market) => [kalshiTicker(market), market]),
  );
  const events = new Map<string, boolean>();
  let listedCount = 0;
  for await (const page of venue.listOpenMarkets(signal)) {
    for (const snapshot of page.markets) {
      const market = expected.get(snapshot.listing.marketId);
      assert.ok(market, snapshot.listing.marketId);
      assertSnapshot(market, snapshot);
      assert.equal(snapshot.listing.closeAt, market.closeAt);
      assert.equal(snapshot.listing.outcome, null);
      listedCount += 1;
    }
    for (const event of page.events) events.set(event.eventId, event.mutuallyExclusive);
  }
  assert.equal(listedCount, expected.size);
  assert.deepEqual(
    events,
    new Map([...expected.values()].map(({ event }) => [kalshiEventTicker(event), event.mutuallyExclusive])),
  );
  assert.deepEqual(drops, []);
});

test("the adapter reads closed, determined, disputed and settled markets by id, from the live and the historical tier", async () => {
  const markets = findListedMarkets(["closed", "determined", "disputed", "finalized"]);
  const page = await venue.getMarkets(toListingKeys(markets), signal);
  const byId = new Map(page.markets.map((snapshot) => [snapshot.listing.marketId, snapshot]));
  const kinds = new Set<string>();
  for (const market of markets) {
    const snapshot = byId.get(kalshiTicker(market));
    assert.ok(snapshot, kalshiTicker(market));
    assertSnapshot(market, snapshot);
    const lifecycle = world.lifecycle(market, now());
    const { outcome } = lifecycle;
    kinds.add(outcome?.kind ?? "none");
    // The venue settles a void market at a fair value, in the same field as a partial outcome.
    const value = kalshiSettlementValue(world, market, lifecycle);
    const isYesOrNo = outcome?.kind === "yes" || outcome?.kind === "no";
    assert.deepEqual(
      snapshot.listing.outcome,
      outcome === null ? null : isYesOrNo ? { kind: outcome.kind } : { kind: "partial", value },
    );
    assert.equal(snapshot.listing.resolvedAt, lifecycle.phase === "finalized" ? market.finalizeAt : null);
  }
  assert.deepEqual(kinds, new Set(["none", "yes", "no", "void", "partial"]));
  assert.equal(page.markets.length, markets.length);
  const week = 7 * 24 * HOUR_MS;
  assert.ok(markets.some(({ finalizeAt }) => finalizeAt < now() - week - HOUR_MS));
  assert.ok(markets.some(({ finalizeAt }) => finalizeAt > now() - week));
});

test("a paused market has status `active`, `paused` true and no quotes", async () => {
  const market = findListedMarkets(["active"]).find(
    (candidate) => world.lifecycle(candidate, NOW).since > candidate.openAt,
  );
  assert.ok(market, "no market was paused recently; choose another seed");
  const pausedAt = world.lifecycle(market, NOW).since - 1;
  now = () => pausedAt;
  try {
    const foundPage = await venue.findMarket(kalshiTicker(market), signal);
    assert.ok(foundPage?.markets[0]);
    assert.equal(foundPage.markets[0].listing.paused, true);
    assertSnapshot(market, foundPage.markets[0]);
  } finally {
    now = () => NOW;
  }
});

test("findMarket returns null if the market id is unknown", async () => {
  assert.equal(await venue.findMarket("KXNOSUCH-26DEC01-T1", signal), null);
});

/** Finds the active market with the highest volume that opened before the live tier, and reads its snapshot. */
async function findBusiestMarket(): Promise<{ market: ListedMarket; snapshot: MarketSnapshot }> {
  const market = findListedMarkets(["active"])
    .filter(({ openAt }) => openAt < NOW - 9 * 24 * HOUR_MS)
    .toSorted((a, b) => world.activity(b, NOW).volume24hUsd - world.activity(a, NOW).volume24hUsd)[0];
  assert.ok(market);
  const [snapshot] = (await venue.findMarket(kalshiTicker(market), signal))?.markets ?? [];
  assert.ok(snapshot);
  return { market, snapshot };
}

test("every level of the book equals the world's book", async () => {
  const { market, snapshot } = await findBusiestMarket();
  const book = await venue.getBook(snapshot.listing, signal);
  const { bids, asks } = world.book(market, NOW);
  assert.ok(bids.length > 0 && asks.length > 0);
  assert.deepEqual(book?.bids, bids);
  assert.deepEqual(book?.asks, asks);
});

test("the book of an unknown market is empty, and the book of a settled market is null", async () => {
  const { snapshot } = await findBusiestMarket();
  const unknownListing = { ...snapshot.listing, marketId: "KXNOSUCH-26DEC01-T1" };
  const book = await venue.getBook(unknownListing, signal);
  assert.deepEqual([book?.bids, book?.asks], [[], []]);
  assert.equal(await venue.getBook({ ...snapshot.listing, status: "finalized" }, signal), null);
});

test("trades since the requested time equal the world's trades, newest first, across pages and tiers", async () => {
  const { market, snapshot } = await findBusiestMarket();
  const since = NOW - 10 * 24 * HOUR_MS;
  const expected = world.trades(market, since, NOW + 1);
  const trades = await venue.listTrades(snapshot.listing, since, expected.length + 1, signal);
  assert.deepEqual(
    trades.map(({ executedAt }) => executedAt),
    expected.map(({ at }) => at).reverse(),
  );
  const byId = new Map(expected.map((trade) => [kalshiTradeId(trade), trade]));
  for (const trade of trades) {
    const expected = byId.get(trade.tradeId);
    assert.deepEqual(
      [trade.yesPrice, trade.size, trade.takerSide],
      [expected?.yesPrice, expected?.size, expected?.takerSide],
    );
  }
  assert.ok(expected.length > 1_000 && expected.some(({ at }) => at < NOW - 8 * 24 * HOUR_MS));
  assert.equal((await venue.listTrades(snapshot.listing, since, 10, signal)).length, 10);
});

test("history equals the world's price history, for an open market and for a market of the historical tier", async () => {
  const { market, snapshot } = await findBusiestMarket();
  const settledMarket = findListedMarkets(["finalized"]).find(
    (candidate) => candidate.finalizeAt < NOW - 8 * 24 * HOUR_MS && world.activity(candidate, NOW).volumeContracts > 0,
  );
  assert.ok(settledMarket);
  const [settledSnapshot] = (await venue.getMarkets(toListingKeys([settledMarket]), signal)).markets;
  assert.ok(settledSnapshot);
  for (const [testedMarket, { listing }, endAt] of [
    [market, snapshot, NOW],
    [settledMarket, settledSnapshot, settledMarket.closeAt],
  ] as const) {
    const toMs = Math.floor(endAt / HOUR_MS) * HOUR_MS;
    const fromMs = Math.max(toMs - 48 * HOUR_MS, Math.ceil(testedMarket.openAt / HOUR_MS) * HOUR_MS);
    const range = { fromMs, toMs, intervalMs: HOUR_MS };
    const points = await venue.getHistory(listing, range, signal);
    assert.deepEqual(await venue.getHistory({ ...listing, venueKeys: {} }, range, signal), points);
    const expected = world.priceHistory(testedMarket, fromMs, toMs, HOUR_MS);
    assert.ok(expected.length > 0);
    assert.deepEqual(
      points.map(({ startAt, endAt, bid, ask, yesPrice, volumeUsd }) => ({
        startAt,
        endAt,
        bid,
        ask,
        yesPrice,
        volumeUsd,
      })),
      expected.map(({ at, bid, ask, lastPrice }) => ({
        startAt: at - HOUR_MS,
        endAt: at,
        bid,
        ask,
        yesPrice: yesPrice({ bid, ask, lastPrice, indicativePrice: null }),
        volumeUsd: volumeOf(testedMarket, at),
      })),
    );
  }
});

/** Returns the dollar amount of the contracts traded in the hour up to and including `at`. */
function volumeOf(market: ListedMarket, at: number): number {
  const trades = world.trades(market, at - HOUR_MS + 1, at + 1);
  return toUsd(Math.round(trades.reduce((sum, trade) => sum + trade.size, 0) * 100) / 100);
}

test("401: if the key is unknown, the stream does not open and one lost connection is counted", async () => {
  const disconnection = Promise.withResolvers<string>();
  const stream = createVenue("other-key").openStream({
    onMessage: () => disconnection.reject(new Error("received a message")),
    onUp: () => disconnection.reject(new Error("the stream opened")),
    onDown: disconnection.resolve,
  });
  assert.ok(stream);
  assert.match(await disconnection.promise, /401/);
  stream.close();
  assert.deepEqual(drops.splice(0), ["stream_connection_lost"]);
});

test("streamed quotes equal the world's book at their timestamp, and streamed trades equal the world's trades", {
  timeout: 30_000,
}, async () => {
  const startedAt = systemClock.monotonic();
  // Time advances 30 times as fast as the wall clock. The speed of the world (60) increases its activity further.
  now = () => NOW + Math.floor((systemClock.monotonic() - startedAt) * 30);
  const markets = findListedMarkets(["active"]).slice(0, 100);
  const foundPage = await venue.getMarkets(toListingKeys(markets), signal);
  const messages: StreamMessage[] = [];
  const enoughMessages = Promise.withResolvers<void>();
  const stream = venue.openStream({
    onMessage(message) {
      messages.push(message);
      const trades = messages.filter(({ kind }) => kind === "trade").length;
      if (trades >= 20 && messages.length - trades >= 300) enoughMessages.resolve();
    },
    onUp() {},
    onDown: (reason) => enoughMessages.reject(new Error(reason)),
  });
  assert.ok(stream);
  stream.follow(foundPage.markets.map(({ listing }) => listing));
  await enoughMessages.promise;
  stream.close();
  now = () => NOW;
  const byId = new Map(markets.map((market) => [kalshiTicker(market), market]));
  for (const message of messages) {
    const market = byId.get(message.marketId);
    if (message.kind === "quote") {
      assert.ok(market);
      const { bid, ask, bidSize, askSize, eventAt, lastPrice } = message.quote;
      assert.ok(typeof eventAt === "number");
      const { bids, asks, lastPrice: last } = world.book(market, eventAt);
      assert.deepEqual(
        [bid, bidSize, ask, askSize, lastPrice ?? null],
        [bids[0]?.price ?? null, bids[0]?.size ?? null, asks[0]?.price ?? null, asks[0]?.size ?? null, last],
      );
    } else if (message.kind === "trade") {
      assert.ok(market);
      const { tradeId, executedAt, yesPrice: price, size, takerSide } = message.trade;
      const expected = world
        .trades(market, executedAt, executedAt + 1)
        .find((trade) => kalshiTradeId(trade) === tradeId);
      assert.deepEqual([price, size, takerSide], [expected?.yesPrice, expected?.size, expected?.takerSide]);
    }
  }
  assert.deepEqual(drops, []);
});
