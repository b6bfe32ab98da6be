import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  polymarketConditionId,
  polymarketEventId,
  polymarketExchange,
  polymarketMarketId,
} from "../../sandbox/protocol/polymarket/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../sandbox/world/index.ts";
import type { Lifecycle, ListedMarket, Phase, WorldTrade } from "../../sandbox/world/types.ts";
import { createUndiciHttp } from "../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import type { MarketListing, MarketSnapshot, MarketStatus, Outcome } from "../../src/domain/market.ts";
import type { Trade } from "../../src/domain/trade.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { ListingPage, StreamMessage, VenueAdapter } from "../../src/ports/venue.ts";
import { createPolymarketVenue } from "../../src/venues/polymarket/index.ts";
import { quietLog } from "../support/quiet-log.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const START = GENESIS + 5 * HOUR_MS;
/** Time step of the search for pauses; shorter than any pause of this world. */
const PAUSE_SEARCH_STEP_MS = 9 * 60_000;
const signal = new AbortController().signal;

/** Expected status by phase. Polymarket has no status for a pause: a market that accepts no orders is closed. */
const STATUS_BY_PHASE: Readonly<Record<Phase, MarketStatus>> = {
  pending: "pending",
  active: "active",
  paused: "closed",
  closed: "closed",
  determined: "determined",
  disputed: "determined",
  finalized: "finalized",
};

/** Opens an exchange, its feed and an adapter. The test sets their time. */
async function openSandbox() {
  const time = { at: START };
  const now = () => time.at;
  const world = createWorld({ seed: 3, genesis: GENESIS, speed: 60, marketCount: 400 });
  const feed = createFeed(world, { now, intervalMs: 5 });
  const clock: Clock = { ...systemClock, now };
  const http = createUndiciHttp(clock);
  const drops = new Map<string, number>();
  const services = polymarketExchange({ world, feed, now, enforceLimits: false });
  const served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
  const urls = served.urls.polymarket ?? {};
  const venue = createPolymarketVenue({
    id: "polymarket",
    playMoney: false,
    http,
    sockets: createWsSockets(clock),
    clock,
    random: systemRandom,
    log: quietLog,
    drift: (kind, field) => drops.set(`${field} ${kind}`, 1),
    countDrop: (reason, count = 1) => drops.set(reason, (drops.get(reason) ?? 0) + count),
    gammaUrl: urls.gamma ?? "",
    clobUrl: urls.clob ?? "",
    dataUrl: urls.data ?? "",
    wsUrl: urls.ws ?? "",
  });
  const close = async () => {
    feed.close();
    await served.close();
    await http.close();
  };
  return { time, world, drops, venue, close };
}
type Sandbox = Awaited<ReturnType<typeof openSandbox>>;

async function sweep(venue: VenueAdapter) {
  const pages: ListingPage[] = [];
  for await (const page of venue.listOpenMarkets(signal)) pages.push(page);
  return { markets: pages.flatMap((page) => page.markets), events: pages.flatMap((page) => page.events) };
}

let sandbox: Sandbox;
let world: Sandbox["world"];
let venue: VenueAdapter;
let time: { at: number };

before(async () => {
  sandbox = await openSandbox();
  ({ world, venue, time } = sandbox);
});
after(() => sandbox.close());

const readMarket = async (market: ListedMarket): Promise<MarketSnapshot> => {
  const page = await venue.getMarkets([{ marketId: polymarketMarketId(market), venueKeys: {} }], signal);
  const [snapshot] = page.markets;
  assert.ok(snapshot !== undefined, market.question);
  assert.equal(snapshot.listing.marketId, polymarketMarketId(market));
  return snapshot;
};
/** Finds a market, and a time at which it is in the given phase and `accepts` returns true. */
const findPhase = (
  phase: Phase,
  accepts: (lifecycle: Lifecycle, market: ListedMarket, at: number) => boolean = () => true,
) => {
  for (const market of world.markets("polymarket", START)) {
    const { openAt, closeAt, determineAt, finalizeAt } = market;
    const stepCount = phase === "paused" ? Math.floor((closeAt - openAt) / PAUSE_SEARCH_STEP_MS) : 0;
    const steps = Array.from({ length: stepCount }, (_, step) => openAt + step * PAUSE_SEARCH_STEP_MS);
    const transitions = [
      determineAt - 1_000,
      determineAt + 1_000,
      (determineAt + finalizeAt) / 2,
      finalizeAt - 1_000,
      finalizeAt + 1_000,
    ];
    for (const at of [...steps, ...transitions].map(Math.round)) {
      const lifecycle = world.lifecycle(market, at);
      if (lifecycle.phase === phase && accepts(lifecycle, market, at)) return { market, at, lifecycle };
    }
  }
  throw new Error(`no market of the world is ${phase}`);
};
const assertSnapshot = (snapshot: MarketSnapshot, market: ListedMarket) => {
  const { phase } = world.lifecycle(market, time.at);
  const book = world.book(market, time.at);
  const activity = world.activity(market, time.at);
  assert.equal(snapshot.listing.status, STATUS_BY_PHASE[phase], market.question);
  assert.equal(snapshot.quote.bid, book.bids[0]?.price ?? null);
  assert.equal(snapshot.quote.ask, book.asks[0]?.price ?? null);
  assert.equal(snapshot.quote.lastPrice, book.lastPrice);
  assert.equal(snapshot.quote.eventAt, null);
  assert.equal(snapshot.activity.volumeTotalUsd, activity.volumeUsd);
  assert.equal(snapshot.activity.volume24hUsd, activity.volume24hUsd);
  assert.equal(snapshot.activity.liquidityUsd, activity.liquidityUsd);
};

test("a sweep lists every open market once with the world's quote, volume and status", async () => {
  time.at = START;
  const { markets, events } = await sweep(venue);
  const isOpen = (market: ListedMarket) => world.lifecycle(market, time.at).phase !== "finalized";
  const expected = new Map(
    world
      .markets("polymarket", time.at)
      .filter(isOpen)
      .map((market) => [polymarketMarketId(market), market]),
  );
  assert.deepEqual(markets.map(({ listing }) => listing.marketId).sort(), [...expected.keys()].sort());
  assert.ok(markets.length > 100);
  for (const snapshot of markets) {
    const market = expected.get(snapshot.listing.marketId);
    assert.ok(market !== undefined);
    assertSnapshot(snapshot, market);
    const yesSide = market.event.sides === undefined ? null : `Match Winner: ${market.event.sides[0]}`;
    const label = yesSide ?? (market.event.isRound ? "Up" : null);
    assert.equal(snapshot.listing.title, label === null ? market.question : `${market.question} — ${label}`);
    if (label !== null) assert.equal(snapshot.listing.outcomeLabel, label);
    assert.equal(snapshot.listing.category, market.event.category);
    assert.equal(snapshot.listing.rules, market.rules.trim());
    assert.deepEqual(snapshot.listing.priceRanges, market.bands);
    assert.equal(snapshot.listing.openAt, market.openAt);
    assert.equal(snapshot.listing.closeAt, market.closeAt);
    assert.equal(snapshot.listing.outcome, null);
    assert.equal(snapshot.listing.venueKeys.conditionId, polymarketConditionId(market));
    const openInterest =
      market.event.markets.length === 1 ? world.activity(market, time.at).openInterestContracts : null;
    assert.equal(snapshot.activity.openInterestUsd, openInterest === 0 ? null : openInterest);
  }
  const eventListings = new Map(events.map((event) => [event.eventId, event]));
  for (const { event } of expected.values()) {
    const listing = eventListings.get(polymarketEventId(event));
    assert.ok(listing !== undefined, event.title);
    const isGroup = event.mutuallyExclusive && event.markets.length > 1;
    assert.equal(listing.title, event.title);
    assert.equal(listing.mutuallyExclusive, isGroup);
    assert.equal(listing.exhaustive, isGroup && event.exhaustive);
    assert.equal(listing.featured, event.featured);
    assert.equal(listing.endAt, event.closeAt);
  }
  assert.deepEqual([...sandbox.drops], []);
});

for (const phase of ["active", "paused", "closed", "determined", "disputed", "finalized"] as const) {
  test(`a market in the phase "${phase}" has status "${STATUS_BY_PHASE[phase]}"`, async () => {
    const foundPhase = phase === "active" ? null : findPhase(phase);
    time.at = foundPhase?.at ?? START;
    const market =
      foundPhase?.market ??
      world.markets("polymarket", time.at).find((candidate) => world.lifecycle(candidate, time.at).phase === "active");
    assert.ok(market !== undefined);
    assertSnapshot(await readMarket(market), market);
  });
}

const outcomes: readonly (readonly ["yes" | "no" | "void", Outcome])[] = [
  ["yes", { kind: "yes" }],
  ["no", { kind: "no" }],
  ["void", { kind: "partial", value: 0.5 }],
];
for (const [kind, outcome] of outcomes) {
  test(`a market settled as ${kind} has outcome ${JSON.stringify(outcome)} and its settlement time`, async () => {
    const found = findPhase("finalized", (lifecycle) => lifecycle.outcome?.kind === kind);
    time.at = found.at;
    const { listing } = await readMarket(found.market);
    assert.deepEqual(listing.outcome, outcome);
    assert.equal(listing.resolvedAt, Math.floor(found.lifecycle.since / 1000) * 1000);
  });
}

test("a market has no outcome while one is proposed, disputed or proposed again", async () => {
  const proposed = findPhase("determined", ({ outcome }) => outcome?.kind === "yes" || outcome?.kind === "no");
  time.at = proposed.at;
  assert.equal((await readMarket(proposed.market)).listing.outcome, null);
  const { market } = findPhase("disputed", ({ outcome }) => outcome?.kind === "yes" || outcome?.kind === "no");
  const { since } = world.lifecycle(market, market.finalizeAt - 1_000);
  time.at = Math.ceil(since) + 1_000;
  assert.equal((await readMarket(market)).listing.outcome, null);
  time.at = market.finalizeAt - 1_000;
  assert.equal((await readMarket(market)).listing.outcome, null);
});

test("findMarket finds a settled market by id, and its book is null", async () => {
  const found = findPhase("finalized");
  time.at = found.at;
  const page = await venue.findMarket(polymarketMarketId(found.market), signal);
  const [snapshot] = page?.markets ?? [];
  assert.equal(snapshot?.listing.status, "finalized");
  assert.ok(snapshot !== undefined);
  assert.equal(await venue.getBook(snapshot.listing, signal), null);
});

/** Finds the active market with the highest volume and reads its listing. */
const readBusiestMarket = async (): Promise<{ market: ListedMarket; listing: MarketListing }> => {
  const [market] = world
    .markets("polymarket", time.at)
    .filter((candidate) => world.lifecycle(candidate, time.at).phase === "active")
    .sort((a, b) => world.activity(b, time.at).volume24hUsd - world.activity(a, time.at).volume24hUsd);
  assert.ok(market !== undefined);
  return { market, listing: (await readMarket(market)).listing };
};

test("every level of a book equals the world's book, and `eventAt` is the time of the book's last change", async () => {
  time.at = START;
  const { markets } = await sweep(venue);
  const expected = new Map(world.markets("polymarket", time.at).map((market) => [polymarketMarketId(market), market]));
  for (const { listing } of markets.slice(0, 20)) {
    const market = expected.get(listing.marketId);
    const book = await venue.getBook(listing, signal);
    assert.ok(market !== undefined && book !== null);
    const state = world.book(market, time.at);
    assert.deepEqual(book.bids, state.bids);
    assert.deepEqual(book.asks, state.asks);
    // The venue sends 0.5 for a market without trades, so a last price of 0.5 is unknown.
    assert.equal(book.lastPrice, state.lastPrice === 0.5 ? null : state.lastPrice);
    assert.equal(book.eventAt, Math.floor(state.changedAt));
  }
});

/**
 * Asserts that the trades are those of the world. A trade that takes two levels has an average price up to one tick
 * better than the world's price, which is that of the last level.
 */
const assertTradesEqual = (trades: readonly Trade[], expected: readonly WorldTrade[], tick: number) => {
  type Row = Pick<WorldTrade, "at" | "yesPrice" | "size" | "takerSide">;
  const sort = (rows: readonly Row[]) =>
    rows
      .map((row) => ({ ...row, at: Math.floor(row.at / 1000) }))
      .sort(
        (a, b) => a.at - b.at || a.takerSide.localeCompare(b.takerSide) || a.size - b.size || a.yesPrice - b.yesPrice,
      );
  const actualRows = sort(
    trades.map((trade) => ({ ...trade, at: trade.executedAt, takerSide: trade.takerSide ?? "no" })),
  );
  const expectedRows = sort(expected);
  const withoutPrice = ({ at, size, takerSide }: Row) => ({ at, size, takerSide });
  assert.deepEqual(actualRows.map(withoutPrice), expectedRows.map(withoutPrice));
  for (const [index, { yesPrice, takerSide }] of expectedRows.entries()) {
    const better = ((actualRows[index]?.yesPrice ?? Number.NaN) - yesPrice) * (takerSide === "yes" ? -1 : 1);
    assert.ok(better > -1e-6 && better < tick, `${better} at ${index}`);
  }
};

test("trades of both tokens, with prices converted to YES, equal the world's trades", async () => {
  time.at = START;
  const { market, listing } = await readBusiestMarket();
  const since = time.at - 4 * HOUR_MS;
  const expected = world.trades(market, since, time.at + 1);
  const trades = await venue.listTrades(listing, since, 10_000, signal);
  assert.ok(expected.length > 50 && expected.length < 10_000, `${expected.length} trades`);
  assertTradesEqual(trades, expected, market.tick);
  assert.equal(new Set(trades.map((trade) => trade.tradeId)).size, trades.length);
  const onTick = trades.filter(({ yesPrice }) => Number.isInteger(Math.round(yesPrice * 1e6) / (market.tick * 1e6)));
  assert.ok(onTick.length > 0 && onTick.length < trades.length, "no trade has an average price");
  const latest = await venue.listTrades(listing, 0, 7, signal);
  assert.deepEqual(latest, trades.slice(0, latest.length));
});

test("each history point has the world's price at the end of its interval", async () => {
  time.at = START;
  const { market, listing } = await readBusiestMarket();
  const range = { fromMs: time.at - 20 * DAY_MS, toMs: time.at, intervalMs: HOUR_MS };
  const points = await venue.getHistory(listing, range, signal);
  const worldPoints = world
    .priceHistory(market, range.fromMs, range.toMs, HOUR_MS)
    .filter((point) => point.at - HOUR_MS >= range.fromMs);
  assert.ok(points.length > 10);
  assert.deepEqual(
    points.map((point) => point.endAt),
    worldPoints.map((point) => point.at),
  );
  for (const [index, point] of points.entries()) {
    const { bid = null, ask = null, lastPrice = null } = worldPoints[index] ?? {};
    const isNarrow = bid !== null && ask !== null && Math.round((ask - bid) * 1e6) <= 100_000;
    const expected = isNarrow ? (bid + ask) / 2 : (lastPrice ?? Number.NaN);
    assert.ok(Math.abs((point.yesPrice ?? Number.NaN) - expected) < 1e-6);
    assert.deepEqual([point.bid, point.ask, point.volumeUsd], [null, null, null]);
  }
});

test("the stream sends the world's quotes and trades and reports settled and new markets", async (t) => {
  const { world, venue, time, drops, close } = await openSandbox();
  t.after(close);
  const { markets } = await sweep(venue);
  const activeListings = markets.filter(({ listing }) => listing.status === "active").map(({ listing }) => listing);
  const expected = new Map(world.markets("polymarket", START).map((market) => [polymarketMarketId(market), market]));
  const quotes: Extract<StreamMessage, { kind: "quote" }>[] = [];
  const trades: Extract<StreamMessage, { kind: "trade" }>[] = [];
  const changedIds = new Set<string>();
  const listedIds = new Set<string>();
  const settlingListing = activeListings.find(({ marketId }) => {
    const market = expected.get(marketId);
    return market !== undefined && market.finalizeAt > START && market.finalizeAt < START + 2 * HOUR_MS;
  });
  assert.ok(settlingListing !== undefined, "no market of the world settles soon");
  // Every change of a level is one message, so the client cannot read all markets at this speed.
  const followedListings = [settlingListing, ...activeListings.filter((each) => each !== settlingListing).slice(0, 15)];
  const settlesAt = expected.get(settlingListing.marketId)?.finalizeAt ?? 0;
  const hasEnoughMessages = () =>
    quotes.length > 1_000 && trades.length > 50 && changedIds.has(settlingListing.marketId) && listedIds.size > 0;
  const stream = await new Promise<ReturnType<VenueAdapter["openStream"]>>((resolve, reject) => {
    const newStream = venue.openStream({
      onMessage(message) {
        if (message.kind === "quote") quotes.push(message);
        else if (message.kind === "trade") trades.push(message);
        else if (message.kind === "changed") changedIds.add(message.marketId);
        else listedIds.add(message.marketId);
        if (hasEnoughMessages()) resolve(newStream);
      },
      // After every book has arrived, time advances by 30 seconds every 10 ms.
      onUp() {
        const advanceTime = () => {
          if (hasEnoughMessages()) return;
          if (quotes.length >= followedListings.length) time.at += 30_000;
          if (time.at > settlesAt + HOUR_MS) return reject(new Error("the stream delivered too few messages"));
          systemClock.setTimeout(advanceTime, 10);
        };
        advanceTime();
      },
      onDown: (reason) => reject(new Error(reason)),
    });
    newStream?.follow(followedListings);
  });
  stream?.close();

  assert.ok(new Set(quotes.map((message) => message.marketId)).size >= followedListings.length * 0.95);
  let sizes = 0;
  const recentTradesOf = new Map<string, readonly WorldTrade[]>();
  for (const { marketId, quote } of quotes) {
    const market = expected.get(marketId);
    assert.ok(market !== undefined);
    if (quote.lastPrice !== undefined) {
      const recentTrades =
        recentTradesOf.get(marketId) ?? world.trades(market, market.openAt, time.at + 1).slice(-2_000);
      recentTradesOf.set(marketId, recentTrades);
      const isFillOf = ({ yesPrice }: WorldTrade) => Math.abs(yesPrice - (quote.lastPrice ?? 0)) < market.tick + 1e-9;
      assert.ok(recentTrades.some(isFillOf), `${market.question} at ${quote.lastPrice}`);
    }
    if (quote.bid === undefined) continue;
    assert.ok(typeof quote.eventAt === "number");
    const { bids, asks } = world.book(market, quote.eventAt);
    const message = `${market.question} at ${quote.eventAt}`;
    assert.deepEqual([quote.bid, quote.ask], [bids[0]?.price ?? null, asks[0]?.price ?? null], message);
    for (const [size, level] of [
      [quote.bidSize, bids[0]],
      [quote.askSize, asks[0]],
    ] as const) {
      // The size of a level that the burst has not set is omitted or null.
      if (size === undefined || size === null) continue;
      assert.equal(size, level?.size, message);
      sizes += 1;
    }
  }
  assert.ok(sizes > quotes.length / 2, `${sizes} sizes of ${quotes.length} quotes`);
  // A trade is emitted again with each of its fills.
  const wholeTrades = [...new Map(trades.map((message) => [message.trade.tradeId, message])).values()];
  assert.ok(wholeTrades.length < trades.length);
  for (const { marketId, trade, lastPrice } of wholeTrades) {
    const market = expected.get(marketId);
    const candidates = market === undefined ? [] : world.trades(market, trade.executedAt, trade.executedAt + 1);
    assert.ok(
      candidates.some(
        ({ yesPrice, size, takerSide }) =>
          yesPrice === lastPrice && size === trade.size && takerSide === trade.takerSide,
      ),
      `${trade.size} at ${lastPrice}`,
    );
  }
  // The tape and the stream report the same trades with the same ids, sizes and prices.
  const listingById = new Map(followedListings.map((listing) => [listing.marketId, listing]));
  for (const marketId of new Set(wholeTrades.map((message) => message.marketId))) {
    const listing = listingById.get(marketId);
    assert.ok(listing !== undefined);
    const tape = await venue.listTrades(listing, START, 1_000, signal);
    const taped = new Map(tape.map((trade) => [trade.tradeId, trade]));
    for (const { trade } of wholeTrades.filter((message) => message.marketId === marketId)) {
      const { size, takerSide, yesPrice } = taped.get(trade.tradeId) ?? {};
      assert.deepEqual([size, takerSide], [trade.size, trade.takerSide]);
      assert.ok(Math.abs((yesPrice ?? Number.NaN) - trade.yesPrice) < 2e-6);
    }
  }
  assert.deepEqual([...drops], []);
});
