import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  manifoldContractId,
  manifoldExchange,
  manifoldMarketId,
  manifoldProbability,
  resolutionOf,
} from "../../sandbox/protocol/manifold/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket, SimulatedWorld, WorldOutcome } from "../../sandbox/world/types.ts";
import { createUndiciHttp } from "../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../src/adapters/network/ws-socket.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import type { MarketListing, MarketSnapshot, Outcome } from "../../src/domain/market.ts";
import { fromMicros, toMicros } from "../../src/domain/price.ts";
import type { StreamMessage, VenueAdapter } from "../../src/ports/venue.ts";
import { createManifoldVenue } from "../../src/venues/manifold/index.ts";
import { quietLog } from "../support/quiet-log.ts";
import { ManualFeed } from "../support/venues/manual-feed.ts";
import { fastClock, harnessWorld, NOW, openVenueHarness, type VenueHarness } from "../support/venues/venue-harness.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const signal = () => new AbortController().signal;
const ENDINGS = ["yes", "no", "partial", "void", "closed"] as const;
const shown = (price: number) => fromMicros(toMicros(price));

let bench: VenueHarness;
let adapter: VenueAdapter;
let world: SimulatedWorld;
let now: number;
let firstListed: MarketSnapshot[];
let listed: MarketSnapshot[];

before(async () => {
  bench = await openVenueHarness("manifold", worldWithEveryEnding());
  ({ world } = bench);
  adapter = bench.adapter();
  now = bench.now();
  firstListed = await list();
  // What a list cannot tell is known after the ended markets were read once, as the ingest does when it hears of them.
  await read(all().filter((market) => !isShownOpen(market)));
  listed = await list();
});
after(() => bench?.close());

/** Voids and partial payouts are rare, and Manifold lists few of the world's events: the first world that has them. */
function worldWithEveryEnding(): SimulatedWorld {
  for (let seed = 1; seed <= 300; seed++) {
    const candidate = harnessWorld(seed, 2_500);
    const lives = candidate.markets("manifold", NOW).map((market) => candidate.lifecycle(market, NOW));
    const endings = new Set(lives.map(({ phase, outcome }) => outcome?.kind ?? phase));
    if (ENDINGS.every((ending) => endings.has(ending))) return candidate;
  }
  throw new Error("no world has every ending");
}

/** Manifold keeps a whole contract open until its last answer's close, and has no pause. */
function isShownOpen(market: ListedMarket): boolean {
  const { phase } = world.lifecycle(market, now);
  if (resolutionOf(world, market, now) !== null) return false;
  if (phase === "active" || phase === "paused") return true;
  return market.event.markets.some((other) => {
    const of = world.lifecycle(other, now).phase;
    return of === "active" || of === "paused";
  });
}

const all = () => world.markets("manifold", now);
const idsOf = (markets: readonly MarketSnapshot[]) => markets.map(({ listing }) => listing.marketId).sort();
const list = async () => {
  const markets: MarketSnapshot[] = [];
  for await (const page of adapter.listOpenMarkets(signal())) markets.push(...page.markets);
  return markets;
};
const read = async (markets: readonly ListedMarket[]) => {
  const ids = markets.map((market) => ({ marketId: manifoldMarketId(market), venueKeys: {} }));
  const page = await adapter.getMarkets(ids, signal());
  return new Map(page.markets.map((market) => [market.listing.marketId, market]));
};

test("the listing has exactly the questions that the world has open on Manifold", () => {
  const expected = all().filter(isShownOpen).map(manifoldMarketId).sort();
  assert.ok(expected.length > 100);
  assert.deepEqual(idsOf(listed), expected);
});

test("a stranger's first listing has too much only what the venue does not tell: answers resolved other than YES or NO", () => {
  const open = new Set(idsOf(listed));
  const byId = new Map(all().map((market) => [manifoldMarketId(market), market]));
  const extra = idsOf(firstListed).filter((id) => !open.has(id));
  assert.equal(firstListed.length, listed.length + extra.length);
  for (const id of extra) {
    const market = byId.get(id);
    assert.ok(market !== undefined);
    assert.match(resolutionOf(world, market, now)?.resolution ?? "", /^(MKT|CANCEL)$/);
  }
});

test("every listed price is the world's probability, an indication and never a book", () => {
  const byId = new Map(all().map((market) => [manifoldMarketId(market), market]));
  for (const { listing, quote, activity } of listed) {
    const market = byId.get(listing.marketId);
    assert.ok(market !== undefined);
    assert.equal(quote.indicativePrice, shown(manifoldProbability(world, market, now)));
    assert.deepEqual(
      [quote.bid, quote.ask, quote.bidSize, quote.askSize, quote.lastPrice],
      [null, null, null, null, null],
    );
    assert.deepEqual(Object.values(activity), [null, null, null, null]);
    assert.equal(listing.status, "active");
    assert.equal(listing.openAt, market.event.openAt);
    assert.equal(listing.outcomeLabel, market.event.markets.length === 1 ? null : market.label);
  }
});

test("events exclude and exhaust exactly where the world says both", async () => {
  const events = new Map(all().map((market) => [manifoldContractId(market.event), market.event]));
  let exclusive = 0;
  for await (const page of bench.adapter().listOpenMarkets(signal())) {
    for (const event of page.events) {
      const known = events.get(event.eventId);
      assert.ok(known !== undefined);
      assert.equal(event.mutuallyExclusive, known.mutuallyExclusive && known.exhaustive);
      assert.equal(event.exhaustive, event.mutuallyExclusive);
      if (event.mutuallyExclusive) exclusive += 1;
    }
  }
  assert.ok(exclusive > 0);
});

test("ended questions come out as they ended: yes, no, partly, called off, or not yet", async () => {
  const ended = all().filter((market) => !["active", "paused"].includes(world.lifecycle(market, now).phase));
  const found = await read(ended);
  const kinds = new Map<string, number>();
  for (const market of ended) {
    const snapshot = found.get(manifoldMarketId(market));
    assert.ok(snapshot !== undefined, manifoldMarketId(market));
    const { phase, outcome } = world.lifecycle(market, now);
    const resolution = resolutionOf(world, market, now);
    const { listing } = snapshot;
    if (phase === "determined" || phase === "finalized") {
      assert.equal(listing.status, "finalized");
      assert.deepEqual(listing.outcome, expectedOutcome(outcome));
      const whole = market.event.mutuallyExclusive && market.event.exhaustive;
      if (!whole) assert.equal(listing.resolvedAt, resolution?.resolutionTime);
      assert.ok(listing.resolvedAt !== null && listing.resolvedAt <= now);
    } else {
      assert.equal(listing.status, isShownOpen(market) ? "active" : "closed");
      assert.equal(listing.outcome, null);
    }
    const kind = listing.outcome?.kind ?? listing.status;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  for (const kind of ENDINGS) assert.ok((kinds.get(kind) ?? 0) > 0, `no market ended ${kind}`);
});

function expectedOutcome(outcome: WorldOutcome | null): Outcome | null {
  if (outcome === null) return null;
  return outcome.kind === "void" ? { kind: "void", value: null } : outcome;
}

test("a single market by its id alone has the rules of the world", async () => {
  const market = all().find((candidate) => candidate.event.markets.length === 1);
  assert.ok(market !== undefined);
  const page = await adapter.findMarket(manifoldMarketId(market), signal());
  assert.equal(page?.markets[0]?.listing.rules, market.rules);
  assert.equal(page?.markets[0]?.listing.title, market.event.title);
});

test("there is no book", async () => {
  assert.equal(await adapter.getBook(lively().listing, signal()), null);
});

function lively(): { market: ListedMarket; listing: MarketListing } {
  const byId = new Map(listed.map(({ listing }) => [listing.marketId, listing]));
  let best: { market: ListedMarket; listing: MarketListing; count: number } | null = null;
  for (const market of all()) {
    const listing = byId.get(manifoldMarketId(market));
    if (listing === undefined) continue;
    const count = world.trades(market, now - DAY_MS, now + 1).length;
    if (best === null || count > best.count) best = { market, listing, count };
  }
  assert.ok(best !== null && best.count > 20);
  return best;
}

test("the tape is the world's trades, newest first, without redemptions", async () => {
  const { market, listing } = lively();
  const trades = await adapter.listTrades(listing, now - 2 * DAY_MS, 5_000, signal());
  const truth = world.trades(market, now - 2 * DAY_MS, now + 1);
  assert.ok(truth.length > 20);
  const facts = truth.map(({ at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide }));
  assert.deepEqual(
    trades.map(({ executedAt: at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide })).reverse(),
    facts,
  );
  assert.deepEqual(await adapter.listTrades(listing, now - 2 * DAY_MS, 5, signal()), trades.slice(0, 5));
});

test("history is the probability that the last bet of each interval left", async () => {
  const { market, listing } = lively();
  const range = { fromMs: now - DAY_MS, toMs: now, intervalMs: HOUR_MS };
  const history = await adapter.getHistory(listing, range, signal());
  const truth = world.trades(market, range.fromMs, range.toMs);
  const firstEnd = history[0]?.endAt ?? 0;
  for (const { endAt, yesPrice } of history) {
    const last = truth.findLast((trade) => trade.at < endAt);
    if (last !== undefined) assert.equal(yesPrice, shown(manifoldProbability(world, market, last.at)));
  }
  assert.equal(firstEnd, Math.ceil(range.fromMs / HOUR_MS) * HOUR_MS + HOUR_MS);
  assert.equal(history.length, 24);
});

test("a market that nobody bet on in the range has the price of its last bet before", async () => {
  const { market, listing } = lively();
  const last = world.trades(market, market.openAt, now).at(-1);
  assert.ok(last !== undefined);
  const fromMs = Math.ceil((last.at + 1) / 1_000) * 1_000;
  const range = { fromMs, toMs: fromMs + 5_000, intervalMs: 1_000 };
  const history = await adapter.getHistory(listing, range, signal());
  const price = shown(manifoldProbability(world, market, last.at));
  assert.deepEqual(
    history.map(({ yesPrice }) => yesPrice),
    [price, price, price, price, price],
  );
});

test("a result that was taken back is open to question again, and settled in the end", async () => {
  const genesis = now;
  const later = createWorld({ seed: 7, genesis, speed: 1, marketCount: 2_500 });
  const market = later.markets("manifold", genesis).find((candidate) => {
    return candidate.disputed && candidate.determineAt > genesis && candidate.event.markets.length === 1;
  });
  assert.ok(market !== undefined, "no disputed question ahead");
  let at = market.determineAt + 1_000;
  const running = await serve(later, () => at);
  try {
    const status = async () => {
      const page = await running.adapter.findMarket(manifoldMarketId(market), signal());
      return page?.markets[0]?.listing.status;
    };
    assert.equal(await status(), "finalized");
    at = market.finalizeAt - 1_000;
    assert.equal(await status(), "closed");
    at = market.finalizeAt;
    assert.equal(await status(), "finalized");
  } finally {
    await running.close();
  }
});

test("the stream tells each bet once, with the world's price at its instant", async () => {
  const genesis = now;
  let at = genesis;
  const moving = createWorld({ seed: 7, genesis, speed: 60, marketCount: 400 });
  const running = await serve(moving, () => at);
  try {
    const listings: MarketListing[] = [];
    for await (const page of running.adapter.listOpenMarkets(signal())) {
      listings.push(...page.markets.map(({ listing }) => listing));
    }
    const followed = new Set(listings.map(({ marketId }) => marketId));
    const messages: StreamMessage[] = [];
    const up = Promise.withResolvers<void>();
    const told = Promise.withResolvers<void>();
    const stream = running.adapter.openStream({
      onMessage: (message) => (message.kind === "listed" ? told.resolve() : messages.push(message)),
      onUp: () => up.resolve(),
      onDown: (reason) => up.reject(new Error(reason)),
    });
    assert.ok(stream !== null);
    stream.follow(listings);
    await up.promise;
    at += 60_000;
    const markets = moving.markets("manifold", genesis);
    running.feed.tellTrades(moving, markets, genesis, at);
    // The socket keeps order: once this has arrived, everything before it has.
    const last = markets[0];
    assert.ok(last !== undefined);
    running.feed.tell({ kind: "listed", market: last, at });
    await told.promise;
    const trades = messages.flatMap((message) => {
      if (message.kind !== "trade") return [];
      const { executedAt, yesPrice, size, takerSide } = message.trade;
      return [{ marketId: message.marketId, at: executedAt, yesPrice, size, takerSide }];
    });
    const expected = markets
      .filter((market) => followed.has(manifoldMarketId(market)))
      .flatMap((market) =>
        moving.trades(market, genesis, at).map(({ at, yesPrice, size, takerSide }) => {
          return { marketId: manifoldMarketId(market), at, yesPrice, size, takerSide };
        }),
      )
      .sort((a, b) => a.at - b.at);
    assert.ok(expected.length > 20);
    assert.deepEqual(trades, expected);
    const byId = new Map(markets.map((market) => [manifoldMarketId(market), market]));
    const quotes = messages.filter((message) => message.kind === "quote");
    assert.equal(quotes.length, trades.length);
    for (const { marketId, quote } of quotes) {
      const market = byId.get(marketId);
      assert.ok(market !== undefined && typeof quote.eventAt === "number");
      assert.equal(quote.indicativePrice, shown(manifoldProbability(moving, market, quote.eventAt)));
    }
    stream.close();
  } finally {
    await running.close();
  }
});

test("the stream tells that a followed market was resolved, and a full read then has the result", async () => {
  const genesis = now;
  let at = genesis;
  const moving = createWorld({ seed: 7, genesis, speed: 1, marketCount: 2_500 });
  const running = await serve(moving, () => at);
  try {
    const market = moving
      .markets("manifold", genesis)
      .find((candidate) => moving.lifecycle(candidate, genesis).phase === "active" && !candidate.disputed);
    assert.ok(market !== undefined);
    const marketId = manifoldMarketId(market);
    const up = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<StreamMessage>();
    const stream = running.adapter.openStream({
      onMessage: changed.resolve,
      onUp: () => up.resolve(),
      onDown: (reason) => up.reject(new Error(reason)),
    });
    const before = await running.adapter.findMarket(marketId, signal());
    stream?.follow(before?.markets.map(({ listing }) => listing) ?? []);
    await up.promise;
    at = market.finalizeAt;
    running.feed.tell({ kind: "lifecycle", market, from: "closed", to: "finalized", at });
    assert.deepEqual(await changed.promise, { kind: "changed", marketId, receivedAt: at });
    const after = await running.adapter.findMarket(marketId, signal());
    const { outcome } = moving.lifecycle(market, at);
    assert.deepEqual(after?.markets[0]?.listing.outcome, expectedOutcome(outcome));
    stream?.close();
  } finally {
    await running.close();
  }
});

/** Exchange and adapter over a world whose time the test moves. */
async function serve(ofWorld: SimulatedWorld, at: () => number) {
  const feed = new ManualFeed();
  const services = manifoldExchange({ world: ofWorld, feed, now: at, enforceLimits: false });
  const served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
  const clock = { ...fastClock(0), now: at };
  const http = createUndiciHttp(clock);
  const drops: string[] = [];
  const running = createManifoldVenue({
    id: "manifold",
    playMoney: true,
    http,
    sockets: createWsSockets(clock),
    clock: { ...clock, setTimeout: () => () => {} },
    random: systemRandom,
    log: quietLog,
    drop: (reason) => drops.push(reason),
    drift: (kind, field) => drops.push(`${field} ${kind}`),
    restUrl: served.urls.manifold?.rest ?? "",
    wsUrl: served.urls.manifold?.ws ?? "",
  });
  return {
    adapter: running,
    drops,
    feed,
    async close() {
      feed.close();
      await Promise.all([served.close(), http.close()]);
      assert.deepEqual(drops, []);
    },
  };
}
