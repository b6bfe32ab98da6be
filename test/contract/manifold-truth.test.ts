import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  manifoldContractId,
  manifoldMarketId,
  manifoldProbability,
  resolutionOf,
} from "../../sandbox/protocol/manifold/index.ts";
import { createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket, SimulatedWorld, WorldOutcome } from "../../sandbox/world/types.ts";
import type { MarketListing, MarketSnapshot, Outcome } from "../../src/domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { StreamMessage, VenueAdapter } from "../../src/ports/venue.ts";
import { harnessWorld, NOW, openVenueHarness, type VenueHarness } from "../support/venues/venue-harness.ts";
import { isExclusive, roundToMicros, serveManifold, tradesBefore } from "./manifold-support.ts";

const signal = () => new AbortController().signal;
const REQUIRED_OUTCOMES = ["yes", "no", "partial", "void", "closed"] as const;

let harness: VenueHarness;
let adapter: VenueAdapter;
let world: SimulatedWorld;
let now: number;
let firstListing: MarketSnapshot[];
let secondListing: MarketSnapshot[];

before(async () => {
  harness = await openVenueHarness("manifold", findWorldWithAllOutcomes());
  ({ world } = harness);
  adapter = harness.adapter();
  now = harness.now();
  firstListing = await listMarkets();
  // Listings do not mark resolved answers. Reading the ended markets by id, as ingest does, stores their results in the
  // cache.
  await readMarkets(worldMarkets().filter((market) => !isOpenOnManifold(market)));
  secondListing = await listMarkets();
});
after(() => harness?.close());

/** Tries seeds until a world has all kinds of outcomes, because voids and partial payouts are rare on Manifold. */
function findWorldWithAllOutcomes(): SimulatedWorld {
  for (let seed = 1; seed <= 300; seed++) {
    const candidate = harnessWorld(seed, 2_500);
    const lifecycles = candidate.markets("manifold", NOW).map((market) => candidate.lifecycle(market, NOW));
    const outcomes = new Set(lifecycles.map(({ phase, outcome }) => outcome?.kind ?? phase));
    if (REQUIRED_OUTCOMES.every((outcome) => outcomes.has(outcome))) return candidate;
  }
  throw new Error("no world has every outcome");
}

/** Returns whether a market is open. A Manifold contract is open until its last answer closes, and it has no pauses. */
function isOpenOnManifold(market: ListedMarket): boolean {
  const { phase } = world.lifecycle(market, now);
  if (resolutionOf(world, market, now) !== null) return false;
  if (phase === "active" || phase === "paused") return true;
  return market.event.markets.some((other) => {
    const otherPhase = world.lifecycle(other, now).phase;
    return otherPhase === "active" || otherPhase === "paused";
  });
}

const worldMarkets = () => world.markets("manifold", now);
const idsOf = (markets: readonly MarketSnapshot[]) => markets.map(({ listing }) => listing.marketId).sort();
const listMarkets = async () => {
  const markets: MarketSnapshot[] = [];
  for await (const page of adapter.listOpenMarkets(signal())) markets.push(...page.markets);
  return markets;
};
const readMarkets = async (markets: readonly ListedMarket[]) => {
  const ids = markets.map((market) => ({ marketId: manifoldMarketId(market), venueKeys: {} }));
  const page = await adapter.getMarkets(ids, signal());
  return new Map(page.markets.map((market) => [market.listing.marketId, market]));
};

test("the listing contains exactly the markets that are open on Manifold", () => {
  const expected = worldMarkets().filter(isOpenOnManifold).map(manifoldMarketId).sort();
  assert.ok(expected.length > 100);
  assert.deepEqual(idsOf(secondListing), expected);
});

test("the first listing differs from the second only by answers resolved as `MKT` or `CANCEL`", () => {
  const openIds = new Set(idsOf(secondListing));
  const byId = new Map(worldMarkets().map((market) => [manifoldMarketId(market), market]));
  const extraIds = idsOf(firstListing).filter((id) => !openIds.has(id));
  assert.equal(firstListing.length, secondListing.length + extraIds.length);
  for (const id of extraIds) {
    const market = byId.get(id);
    assert.ok(market !== undefined);
    assert.match(resolutionOf(world, market, now)?.resolution ?? "", /^(MKT|CANCEL)$/);
  }
});

test("every listed market has the world's probability as its indicative price and has no quotes", () => {
  const byId = new Map(worldMarkets().map((market) => [manifoldMarketId(market), market]));
  for (const { listing, quote, activity } of secondListing) {
    const market = byId.get(listing.marketId);
    assert.ok(market !== undefined);
    assert.equal(quote.indicativePrice, roundToMicros(manifoldProbability(world, market, now)));
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

test("an event is mutually exclusive and exhaustive exactly if the world's event is both", async () => {
  const events = new Map(worldMarkets().map((market) => [manifoldContractId(market.event), market.event]));
  let exclusiveCount = 0;
  for await (const page of harness.adapter().listOpenMarkets(signal())) {
    for (const event of page.events) {
      const worldEvent = events.get(event.eventId);
      assert.ok(worldEvent !== undefined);
      assert.equal(event.mutuallyExclusive, worldEvent.mutuallyExclusive && worldEvent.exhaustive);
      assert.equal(event.exhaustive, event.mutuallyExclusive);
      if (event.mutuallyExclusive) exclusiveCount += 1;
    }
  }
  assert.ok(exclusiveCount > 0);
});

test("an ended market has the world's outcome (`yes`, `no`, `partial` or `void`), or none before its resolution", async () => {
  const endedMarkets = worldMarkets().filter(
    (market) => !["active", "paused"].includes(world.lifecycle(market, now).phase),
  );
  const found = await readMarkets(endedMarkets);
  const kinds = new Map<string, number>();
  for (const market of endedMarkets) {
    const snapshot = found.get(manifoldMarketId(market));
    assert.ok(snapshot !== undefined, manifoldMarketId(market));
    const { phase, outcome } = world.lifecycle(market, now);
    const resolution = resolutionOf(world, market, now);
    const { listing } = snapshot;
    if (phase === "determined" || phase === "finalized") {
      assert.equal(listing.status, "finalized");
      assert.deepEqual(listing.outcome, expectedOutcome(outcome));
      const sumsToOne = market.event.mutuallyExclusive && market.event.exhaustive;
      if (!sumsToOne) assert.equal(listing.resolvedAt, resolution?.resolutionTime);
      assert.ok(listing.resolvedAt !== null && listing.resolvedAt <= now);
    } else {
      assert.equal(listing.status, isOpenOnManifold(market) ? "active" : "closed");
      assert.equal(listing.outcome, null);
    }
    const kind = listing.outcome?.kind ?? listing.status;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  for (const kind of REQUIRED_OUTCOMES) assert.ok((kinds.get(kind) ?? 0) > 0, `no market has outcome ${kind}`);
});

function expectedOutcome(outcome: WorldOutcome | null): Outcome | null {
  if (outcome === null) return null;
  return outcome.kind === "void" ? { kind: "void", value: null } : outcome;
}

test("a market read by id has the rules of the world", async () => {
  const market = worldMarkets().find((candidate) => candidate.event.markets.length === 1);
  assert.ok(market !== undefined);
  const page = await adapter.findMarket(manifoldMarketId(market), signal());
  assert.equal(page?.markets[0]?.listing.rules, market.rules);
  assert.equal(page?.markets[0]?.listing.title, market.event.title);
});

test("getBook returns null", async () => {
  assert.equal(await adapter.getBook(findBusiestMarket().listing, signal()), null);
});

function findBusiestMarket(): { market: ListedMarket; listing: MarketListing } {
  const byId = new Map(secondListing.map(({ listing }) => [listing.marketId, listing]));
  let busiest: { market: ListedMarket; listing: MarketListing; count: number } | null = null;
  for (const market of worldMarkets()) {
    const listing = byId.get(manifoldMarketId(market));
    if (listing === undefined) continue;
    const count = world.trades(market, now - DAY_MS, now + 1).length;
    if (busiest === null || count > busiest.count) busiest = { market, listing, count };
  }
  assert.ok(busiest !== null && busiest.count > 20);
  return busiest;
}

test("trades equal the world's trades, newest first, without redemptions", async () => {
  const { market, listing } = findBusiestMarket();
  const trades = await adapter.listTrades(listing, now - 2 * DAY_MS, 5_000, signal());
  const worldTrades = world.trades(market, now - 2 * DAY_MS, now + 1);
  assert.ok(worldTrades.length > 20);
  const expected = worldTrades.map(({ at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide }));
  assert.deepEqual(
    trades.map(({ executedAt: at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide })).reverse(),
    expected,
  );
  assert.deepEqual(await adapter.listTrades(listing, now - 2 * DAY_MS, 5, signal()), trades.slice(0, 5));
});

test("each history point has the probability after the last bet of its interval", async () => {
  const { market, listing } = findBusiestMarket();
  const range = { fromMs: now - DAY_MS, toMs: now, intervalMs: HOUR_MS };
  const history = await adapter.getHistory(listing, range, signal());
  const worldTrades = tradesBefore(world, isExclusive(market) ? market.event.markets : [market], range.toMs);
  const firstEnd = history[0]?.endAt ?? 0;
  for (const { endAt, yesPrice } of history) {
    const last = worldTrades.findLast((trade) => trade.at < endAt);
    if (last !== undefined) assert.equal(yesPrice, roundToMicros(manifoldProbability(world, market, last.at)));
  }
  assert.equal(firstEnd, Math.ceil(range.fromMs / HOUR_MS) * HOUR_MS + HOUR_MS);
  assert.equal(history.length, 24);
});

test("the history of an exclusive answer has the price after the last bet on any answer, and its trades are only its own", async () => {
  const range = { fromMs: now - DAY_MS, toMs: now, intervalMs: HOUR_MS };
  const ownCount = (market: ListedMarket) => world.trades(market, range.fromMs, now).length;
  const listed = new Map(secondListing.map(({ listing }) => [listing.marketId, listing]));
  const [quietest] = worldMarkets()
    .filter((market) => isExclusive(market) && listed.has(manifoldMarketId(market)))
    .filter(({ event }) => event.markets.some((other) => ownCount(other) > 10))
    .sort((a, b) => ownCount(a) - ownCount(b));
  assert.ok(quietest !== undefined);
  const listing = listed.get(manifoldMarketId(quietest));
  assert.ok(listing !== undefined);
  const bets = tradesBefore(world, quietest.event.markets, now);
  const history = await adapter.getHistory(listing, range, signal());
  let movedCount = 0;
  for (const { endAt, yesPrice } of history) {
    const last = bets.findLast(({ at }) => at < endAt);
    const lastOwn = bets.findLast(({ at, market }) => market === quietest && at < endAt);
    const priceAt = (at: number | undefined): number =>
      roundToMicros(manifoldProbability(world, quietest, at ?? quietest.openAt));
    assert.equal(yesPrice, priceAt(last?.at));
    if (priceAt(lastOwn?.at) !== yesPrice) movedCount += 1;
  }
  assert.equal(history.length, 24);
  assert.ok(movedCount > 0, "no other answer moved this one");
  const trades = await adapter.listTrades(listing, range.fromMs, 5_000, signal());
  assert.equal(trades.length, ownCount(quietest));
});

test("CHOOSE_MULTIPLE pays each answer its share, although a contract read by id does not include the shares", async () => {
  const market = worldMarkets().find(
    (candidate) =>
      isExclusive(candidate) && candidate.event.markets.length > 2 && resolutionOf(world, candidate, now) !== null,
  );
  assert.ok(market !== undefined);
  const { markets } = market.event;
  const shares = [0.75, 0.25];
  const outcomeOf = ({ position }: ListedMarket): WorldOutcome => {
    const share = shares[position];
    return share === undefined ? { kind: "no" } : { kind: "partial", value: share };
  };
  const sharedWorld: SimulatedWorld = {
    ...world,
    lifecycle: (candidate, at) => {
      const lifecycle = world.lifecycle(candidate, at);
      return candidate.event === market.event ? { ...lifecycle, outcome: outcomeOf(candidate) } : lifecycle;
    },
  };
  const connection = await serveManifold(sharedWorld, () => now);
  try {
    const ids = markets.map((candidate) => ({ marketId: manifoldMarketId(candidate), venueKeys: {} }));
    const page = await connection.adapter.getMarkets(ids, signal());
    assert.deepEqual(
      page.markets.map(({ listing }) => listing.outcome),
      markets.map((candidate) => expectedOutcome(outcomeOf(candidate))),
    );
  } finally {
    await connection.close();
  }
});

test("if the range has no bets, each history point has the price after the last bet before the range", async () => {
  const { market, listing } = findBusiestMarket();
  const last = tradesBefore(world, isExclusive(market) ? market.event.markets : [market], now).at(-1);
  assert.ok(last !== undefined);
  const fromMs = Math.ceil((last.at + 1) / 1_000) * 1_000;
  const range = { fromMs, toMs: fromMs + 5_000, intervalMs: 1_000 };
  const history = await adapter.getHistory(listing, range, signal());
  const price = roundToMicros(manifoldProbability(world, market, last.at));
  assert.deepEqual(
    history.map(({ yesPrice }) => yesPrice),
    [price, price, price, price, price],
  );
});

test("a market is closed after its resolution is reverted, and finalized after its second resolution", async () => {
  const genesis = now;
  const disputedWorld = createWorld({ seed: 7, genesis, speed: 1, marketCount: 2_500 });
  const market = disputedWorld.markets("manifold", genesis).find((candidate) => {
    return candidate.disputed && candidate.determineAt > genesis && candidate.event.markets.length === 1;
  });
  assert.ok(market !== undefined, "no disputed market has a result after genesis");
  let at = market.determineAt + 1_000;
  const connection = await serveManifold(disputedWorld, () => at);
  try {
    const status = async () => {
      const page = await connection.adapter.findMarket(manifoldMarketId(market), signal());
      return page?.markets[0]?.listing.status;
    };
    assert.equal(await status(), "finalized");
    at = market.finalizeAt - 1_000;
    assert.equal(await status(), "closed");
    at = market.finalizeAt;
    assert.equal(await status(), "finalized");
  } finally {
    await connection.close();
  }
});

/** Returns the market and time of each quote of the stream: every bet, and every move of another exclusive answer. */
function expectQuotes(
  quotedWorld: SimulatedWorld,
  markets: readonly ListedMarket[],
  from: number,
  to: number,
): string[] {
  return [...new Set(markets.map(({ event }) => event))].flatMap((event) => {
    const bets = tradesBefore(quotedWorld, event.markets, to);
    return bets.flatMap(({ market, at }, index) => {
      if (at < from) return [];
      const previousAt = bets[index - 1]?.at ?? event.openAt;
      const priceAt = (answer: ListedMarket, time: number) => manifoldProbability(quotedWorld, answer, time);
      const quoted = event.markets.filter(
        (answer) => answer === market || (isExclusive(answer) && priceAt(answer, previousAt) !== priceAt(answer, at)),
      );
      return quoted.map((answer) => `${manifoldMarketId(answer)} ${at}`);
    });
  });
}

test("the stream sends each bet once, and the price of each market that a bet moves", async () => {
  const genesis = now;
  let at = genesis;
  const movingWorld = createWorld({ seed: 7, genesis, speed: 60, marketCount: 400 });
  const connection = await serveManifold(movingWorld, () => at);
  try {
    const listings: MarketListing[] = [];
    for await (const page of connection.adapter.listOpenMarkets(signal())) {
      listings.push(...page.markets.map(({ listing }) => listing));
    }
    const followedIds = new Set(listings.map(({ marketId }) => marketId));
    const messages: StreamMessage[] = [];
    const upEvent = Promise.withResolvers<void>();
    const listedEvent = Promise.withResolvers<void>();
    const stream = connection.adapter.openStream({
      onMessage: (message) => (message.kind === "listed" ? listedEvent.resolve() : messages.push(message)),
      onUp: () => upEvent.resolve(),
      onDown: (reason) => upEvent.reject(new Error(reason)),
    });
    assert.ok(stream !== null);
    stream.follow(listings);
    await upEvent.promise;
    at += 60_000;
    const markets = movingWorld.markets("manifold", genesis);
    connection.feed.publishTrades(movingWorld, markets, genesis, at);
    // The socket preserves order: when this event arrives, all events published before it have arrived.
    const market = markets[0];
    assert.ok(market !== undefined);
    connection.feed.publish({ kind: "listed", market, at });
    await listedEvent.promise;
    const trades = messages.flatMap((message) => {
      if (message.kind !== "trade") return [];
      const { executedAt, yesPrice, size, takerSide } = message.trade;
      return [{ marketId: message.marketId, at: executedAt, yesPrice, size, takerSide }];
    });
    const expected = markets
      .filter((market) => followedIds.has(manifoldMarketId(market)))
      .flatMap((market) =>
        movingWorld.trades(market, genesis, at).map(({ at, yesPrice, size, takerSide }) => {
          return { marketId: manifoldMarketId(market), at, yesPrice, size, takerSide };
        }),
      )
      .sort((a, b) => a.at - b.at);
    assert.ok(expected.length > 20);
    assert.deepEqual(trades, expected);
    const byId = new Map(markets.map((market) => [manifoldMarketId(market), market]));
    const quotes = messages.filter((message) => message.kind === "quote");
    const quotedMarkets = quotes.map(({ marketId, quote }) => `${marketId} ${quote.eventAt}`);
    const expectedQuotes = expectQuotes(movingWorld, markets, genesis, at).filter((text) =>
      followedIds.has(text.split(" ", 1)[0] ?? ""),
    );
    assert.ok(expectedQuotes.length > trades.length, "no bet moved another answer");
    assert.deepEqual(quotedMarkets.toSorted(), expectedQuotes.toSorted());
    for (const { marketId, quote } of quotes) {
      const market = byId.get(marketId);
      assert.ok(market !== undefined && typeof quote.eventAt === "number");
      assert.equal(quote.indicativePrice, roundToMicros(manifoldProbability(movingWorld, market, quote.eventAt)));
    }
    stream.close();
  } finally {
    await connection.close();
  }
});

test("the stream reports a resolved market, and reading the market returns its outcome", async () => {
  const genesis = now;
  let at = genesis;
  const movingWorld = createWorld({ seed: 7, genesis, speed: 1, marketCount: 2_500 });
  const connection = await serveManifold(movingWorld, () => at);
  try {
    const market = movingWorld
      .markets("manifold", genesis)
      .find((candidate) => movingWorld.lifecycle(candidate, genesis).phase === "active" && !candidate.disputed);
    assert.ok(market !== undefined);
    const marketId = manifoldMarketId(market);
    const upEvent = Promise.withResolvers<void>();
    const changedEvent = Promise.withResolvers<StreamMessage>();
    const stream = connection.adapter.openStream({
      onMessage: changedEvent.resolve,
      onUp: () => upEvent.resolve(),
      onDown: (reason) => upEvent.reject(new Error(reason)),
    });
    const pageBefore = await connection.adapter.findMarket(marketId, signal());
    stream?.follow(pageBefore?.markets.map(({ listing }) => listing) ?? []);
    await upEvent.promise;
    at = market.finalizeAt;
    connection.feed.publish({ kind: "lifecycle", market, from: "closed", to: "finalized", at });
    assert.deepEqual(await changedEvent.promise, { kind: "changed", marketId, receivedAt: at });
    const pageAfter = await connection.adapter.findMarket(marketId, signal());
    const { outcome } = movingWorld.lifecycle(market, at);
    assert.deepEqual(pageAfter?.markets[0]?.listing.outcome, expectedOutcome(outcome));
    stream?.close();
  } finally {
    await connection.close();
  }
});
