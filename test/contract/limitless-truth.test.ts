import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { limitlessEventSlug, limitlessMarketId, limitlessSlug } from "../../sandbox/protocol/limitless/index.ts";
import type { ListedMarket, Phase, WorldOutcome } from "../../sandbox/world/types.ts";
import { type MarketSnapshot, type MarketStatus, midOfBook, type Outcome, yesPrice } from "../../src/domain/market.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import type { ListingPage, StreamMessage } from "../../src/ports/venue.ts";
import {
  connectLimitless,
  GENESIS,
  type LimitlessSandbox,
  startLimitlessSandbox,
  worldMarkets,
} from "./limitless-support.ts";

const signal = new AbortController().signal;

let sandbox: LimitlessSandbox;
let connection: ReturnType<typeof connectLimitless>;

before(async () => {
  sandbox = await startLimitlessSandbox();
  connection = connectLimitless(sandbox);
});

after(async () => {
  await connection.close();
  await sandbox.close();
});

async function sweep(): Promise<ListingPage[]> {
  const pages: ListingPage[] = [];
  for await (const page of connection.venue.listOpenMarkets(signal)) pages.push(page);
  return pages;
}

/** Expected status by phase. Limitless has one status for all phases between trading and settlement. */
const STATUS_BY_PHASE: Readonly<Record<Phase, MarketStatus>> = {
  pending: "pending",
  active: "active",
  paused: "closed",
  closed: "closed",
  determined: "closed",
  disputed: "closed",
  finalized: "finalized",
};

/** Returns the outcome that Limitless reports: it sends equal payouts both for a void market and for a draw. */
function toLimitlessOutcome(outcome: WorldOutcome): Outcome {
  if (outcome.kind === "void") return { kind: "void", value: 0.5 };
  if (outcome.kind === "partial" && outcome.value === 0.5) return { kind: "void", value: 0.5 };
  return outcome;
}

/** Asserts that the snapshot equals the state of the world. */
function assertSnapshot(market: ListedMarket, snapshot: MarketSnapshot): void {
  const at = sandbox.now();
  const { phase, outcome } = sandbox.world.lifecycle(market, at);
  const book = sandbox.publishedBook(market);
  const activity = sandbox.world.activity(market, at);
  const label = `${snapshot.listing.marketId} (${phase})`;
  assert.equal(snapshot.listing.status, STATUS_BY_PHASE[phase], label);
  assert.deepEqual(
    snapshot.listing.outcome,
    phase === "finalized" && outcome !== null ? toLimitlessOutcome(outcome) : null,
    label,
  );
  assert.equal(
    snapshot.listing.eventId,
    market.event.markets.length > 1 ? limitlessEventSlug(market.event) : null,
    label,
  );
  assert.equal(snapshot.listing.closeAt, market.closeAt, label);
  assert.equal(snapshot.listing.openAt, market.openAt, label);
  assert.ok(snapshot.listing.rules?.startsWith(market.rules.slice(0, 40)), label);
  assert.ok(Math.abs((snapshot.activity.volumeTotalUsd ?? Number.NaN) - activity.volumeUsd) < 1e-6, label);
  assert.equal(snapshot.activity.volume24hUsd, null, label);
  assert.equal(snapshot.activity.openInterestUsd, activity.openInterestContracts, label);
  if (market.mechanism === "amm") {
    assert.equal(snapshot.quote.bid, null, label);
    assert.equal(snapshot.quote.ask, null, label);
    assert.ok(
      Math.abs((snapshot.quote.indicativePrice ?? Number.NaN) - sandbox.world.probability(market, at)) < 1e-6,
      label,
    );
  } else {
    assert.equal(snapshot.quote.bid, book.bids[0]?.price ?? null, label);
    assert.equal(snapshot.quote.ask, book.asks[0]?.price ?? null, label);
  }
}

describe("Limitless adapter against the sandbox", () => {
  test("a sweep lists every open market once with the world's prices, volume and status", async () => {
    const pages = await sweep();
    const snapshots = new Map(pages.flatMap((page) => page.markets).map((market) => [market.listing.marketId, market]));
    const openMarkets = worldMarkets(sandbox).filter((market) =>
      ["active", "paused"].includes(sandbox.world.lifecycle(market, sandbox.now()).phase),
    );
    assert.ok(openMarkets.length > 50, `the world has ${openMarkets.length} open markets`);
    for (const market of openMarkets) {
      const snapshot = snapshots.get(limitlessMarketId(market));
      assert.ok(snapshot !== undefined, `${market.question} is not listed`);
      assertSnapshot(market, snapshot);
    }
    assert.equal(pages.flatMap((page) => page.markets).length, snapshots.size);
    assert.deepEqual([...connection.drops], []);
  });

  test("groups are listed as events that are mutually exclusive exactly if the world's events are", async () => {
    const events = new Map((await sweep()).flatMap((page) => page.events).map((event) => [event.eventId, event]));
    const groups = sandbox.world
      .events("limitless", sandbox.now())
      .filter((event) => event.markets.length > 1 && events.has(limitlessEventSlug(event)));
    assert.equal(groups.length, events.size);
    assert.ok(groups.some((event) => event.mutuallyExclusive) && groups.some((event) => !event.mutuallyExclusive));
    for (const group of groups) {
      assert.equal(events.get(limitlessEventSlug(group))?.mutuallyExclusive, group.mutuallyExclusive, group.title);
    }
  });

  test("markets read by id equal the world's markets in every phase and with every outcome", async () => {
    const listed = (await sweep()).flatMap((page) => page.markets.map((market) => market.listing));
    const listings = new Map(listed.map((listing) => [listing.marketId, listing]));
    const markets = worldMarkets(sandbox);
    const page = await connection.venue.getMarkets(
      markets.map((market) => {
        const marketId = limitlessMarketId(market);
        const { event } = market;
        const group: Record<string, string> =
          event.markets.length > 1 ? { groupSlug: limitlessEventSlug(event), groupTitle: event.title } : {};
        return listings.get(marketId) ?? { marketId, venueKeys: group };
      }),
      signal,
    );
    const snapshots = new Map(page.markets.map((market) => [market.listing.marketId, market]));
    const phases = new Set<string>();
    const outcomes = new Set<string>();
    for (const market of markets) {
      const snapshot = snapshots.get(limitlessMarketId(market));
      assert.ok(snapshot !== undefined, `${market.question} is missing`);
      assertSnapshot(market, snapshot);
      const { phase } = sandbox.world.lifecycle(market, sandbox.now());
      phases.add(phase);
      if (snapshot.listing.outcome !== null) outcomes.add(snapshot.listing.outcome.kind);
    }
    assert.ok(phases.has("active") && phases.has("finalized"), [...phases].join());
    assert.ok(outcomes.has("yes") && outcomes.has("no"), [...outcomes].join());
  });

  test("findMarket finds a market by id or slug and returns null if the id is unknown", async () => {
    const market = worldMarkets(sandbox).find((candidate) => candidate.mechanism === "amm");
    assert.ok(market !== undefined);
    const page = await connection.venue.findMarket(limitlessMarketId(market), signal);
    assert.equal(page?.markets[0]?.listing.marketId, limitlessMarketId(market));
    assert.equal(page?.markets[0]?.listing.venueKeys.slug, limitlessSlug(market));
    const bySlug = await connection.venue.findMarket(limitlessSlug(market), signal);
    assert.equal(bySlug?.markets[0]?.listing.marketId, limitlessMarketId(market));
    assert.equal(await connection.venue.findMarket("../../nothing?x=1", signal), null);
    assert.equal(await connection.venue.findMarket("..", signal), null);
  });

  test("books, trades and history equal the world's for single, grouped and AMM markets", async () => {
    const listed = (await sweep()).flatMap((page) => page.markets);
    const byId = new Map(worldMarkets(sandbox).map((market) => [limitlessMarketId(market), market]));
    const kindOf = (market: ListedMarket) =>
      market.mechanism === "amm" ? "amm" : market.event.markets.length > 1 ? "child" : "single";
    const testedKinds = new Set<string>();
    for (const { listing } of listed) {
      const market = byId.get(listing.marketId);
      if (market === undefined || testedKinds.has(kindOf(market)) || listing.status !== "active") continue;
      const trades = sandbox.world.trades(market, sandbox.now() - 24 * HOUR_MS, sandbox.now() + 1);
      if (trades.length < 3) continue;
      testedKinds.add(kindOf(market));

      const book = await connection.venue.getBook(listing, signal);
      if (market.mechanism === "amm") assert.equal(book, null);
      else {
        const { bids, asks, lastPrice } = sandbox.world.book(market, sandbox.now());
        assert.deepEqual({ bids: book?.bids, asks: book?.asks, lastPrice: book?.lastPrice }, { bids, asks, lastPrice });
        assert.equal(book?.eventAt, null);
      }

      const since = sandbox.now() - 24 * HOUR_MS;
      const listedTrades = await connection.venue.listTrades(listing, since, 500, signal);
      const formatTrade = (trade: { yesPrice: number; size: number; takerSide: string | null }, at: number) =>
        `${at} ${trade.yesPrice.toFixed(6)} ${trade.size} ${trade.takerSide}`;
      assert.deepEqual(
        listedTrades.map((trade) => formatTrade(trade, trade.executedAt)).sort(),
        trades
          .slice(-500)
          .map((trade) => formatTrade(trade, trade.at))
          .sort(),
      );
      assert.equal(new Set(listedTrades.map((trade) => trade.tradeId)).size, listedTrades.length);

      const range = { fromMs: sandbox.now() - 48 * HOUR_MS, toMs: sandbox.now(), intervalMs: HOUR_MS };
      const history = await connection.venue.getHistory(listing, range, signal);
      // The adapter reads two windows of a day, whose points are 15 minutes apart.
      const expected = sandbox.world.priceHistory(market, range.fromMs, range.toMs, HOUR_MS / 4).map((point) => {
        if (market.mechanism === "amm") return [point.at, sandbox.world.probability(market, point.at)] as const;
        const { bid, ask, lastPrice } = point;
        return [point.at, bid !== null && ask !== null ? (bid + ask) / 2 : (lastPrice ?? Number.NaN)] as const;
      });
      assert.deepEqual(
        history.map((point) => point.endAt),
        expected.map(([at]) => at),
      );
      history.forEach((point, index) => {
        assert.ok(Math.abs((point.yesPrice ?? Number.NaN) - (expected[index]?.[1] ?? Number.NaN)) < 2e-6);
        assert.ok(point.startAt >= range.fromMs && point.startAt < point.endAt && point.endAt <= range.toMs);
      });
    }
    assert.deepEqual([...testedKinds].sort(), ["amm", "child", "single"]);
  });
});

test("a market that never traded has a price if it is quoted, and neither quotes nor a price if it has no orders", async () => {
  const startedAt = sandbox.now();
  /** Reads a market right after it opened. */
  const readUntraded = async (isQuoted: boolean) => {
    const market = worldMarkets(sandbox).find((candidate) => {
      sandbox.setNow(candidate.openAt + 1);
      const { bids, asks, lastPrice } = sandbox.publishedBook(candidate);
      const hasQuotes = bids.length > 0 && asks.length > 0;
      return candidate.mechanism === "clob" && lastPrice === null && hasQuotes === isQuoted;
    });
    assert.ok(market !== undefined);
    const { bids, asks } = sandbox.publishedBook(market);
    const page = await connection.venue.findMarket(limitlessMarketId(market), signal);
    const snapshot = page?.markets.find(({ listing }) => listing.marketId === limitlessMarketId(market));
    assert.equal(snapshot?.activity.volumeTotalUsd, 0);
    return { quote: snapshot.quote, bid: bids[0]?.price ?? null, ask: asks[0]?.price ?? null };
  };
  try {
    const quoted = await readUntraded(true);
    assert.deepEqual([quoted.quote.bid, quoted.quote.ask], [quoted.bid, quoted.ask]);
    assert.equal(yesPrice(quoted.quote), midOfBook(quoted.bid, quoted.ask));
    assert.notEqual(yesPrice(quoted.quote), null);
    const { quote } = await readUntraded(false);
    assert.deepEqual([quote.bid, quote.ask, yesPrice(quote)], [null, null, null]);
  } finally {
    sandbox.setNow(startedAt);
  }
});

describe("Limitless stream against the sandbox", () => {
  /** Opens a stream that collects messages. `next(count)` waits for `count` messages, removes and returns them. */
  function openStream() {
    const messages: StreamMessage[] = [];
    let wake: () => void = () => {};
    const upEvent = Promise.withResolvers<void>();
    const stream = connection.venue.openStream({
      onMessage(message) {
        messages.push(message);
        wake();
      },
      onUp: () => upEvent.resolve(),
      onDown: (reason) => upEvent.reject(new Error(reason)),
    });
    assert.ok(stream !== null);
    const next = async (count: number): Promise<StreamMessage[]> => {
      while (messages.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return messages.splice(0, count);
    };
    return { stream, up: upEvent.promise, next, messages };
  }

  function assertQuote(message: StreamMessage | undefined, market: ListedMarket, at: number): void {
    assert.ok(message?.kind === "quote");
    assert.equal(message.marketId, limitlessMarketId(market));
    assert.equal(message.quote.eventAt, at);
    if (market.mechanism === "amm") {
      assert.ok(Math.abs((message.quote.indicativePrice ?? Number.NaN) - sandbox.world.probability(market, at)) < 1e-6);
      return;
    }
    const { bids, asks } = sandbox.world.book(market, at);
    assert.equal(message.quote.bid, bids[0]?.price ?? null);
    assert.equal(message.quote.ask, asks[0]?.price ?? null);
    assert.equal(message.quote.bidSize, bids[0]?.size ?? null);
    assert.equal(message.quote.askSize, asks[0]?.size ?? null);
  }

  test("the stream sends the world's book at the frame's timestamp, replaces the followed markets and reports a resolution once", async () => {
    const listed = new Map(
      (await sweep()).flatMap((page) => page.markets).map((market) => [market.listing.marketId, market.listing]),
    );
    const activeMarkets = worldMarkets(sandbox).filter(
      (market) => sandbox.world.lifecycle(market, sandbox.now()).phase === "active",
    );
    const listingOf = (market: ListedMarket) => {
      const listing = listed.get(limitlessMarketId(market));
      assert.ok(listing !== undefined);
      return listing;
    };
    const [firstMarket, secondMarket] = activeMarkets.filter((market) => market.mechanism === "clob");
    const ammMarket = activeMarkets.find((market) => market.mechanism === "amm");
    assert.ok(firstMarket !== undefined && secondMarket !== undefined && ammMarket !== undefined);

    const openedStream = openStream();
    await openedStream.up;
    openedStream.stream.follow([listingOf(firstMarket), listingOf(ammMarket)]);
    assertQuote((await openedStream.next(1))[0], firstMarket, sandbox.now());

    for (const market of [firstMarket, ammMarket]) {
      const at = sandbox.world.nextChangeAt(market, sandbox.now());
      sandbox.setNow(at);
      sandbox.publish({ kind: "book", market, at });
      assertQuote((await openedStream.next(1))[0], market, at);
    }

    openedStream.stream.follow([listingOf(secondMarket)]);
    assertQuote((await openedStream.next(1))[0], secondMarket, sandbox.now());
    sandbox.publish({ kind: "book", market: firstMarket, at: sandbox.now() });
    sandbox.publish({
      kind: "lifecycle",
      market: secondMarket,
      from: "determined",
      to: "finalized",
      at: secondMarket.finalizeAt,
    });
    sandbox.publish({ kind: "listed", market: firstMarket, at: sandbox.now() });
    const [changedMessage, listedMessage] = await openedStream.next(2);
    assert.deepEqual([changedMessage?.kind, changedMessage?.marketId], ["changed", limitlessMarketId(secondMarket)]);
    assert.deepEqual([listedMessage?.kind, listedMessage?.marketId], ["listed", limitlessSlug(firstMarket)]);
    assert.deepEqual(openedStream.messages, []);
    assert.deepEqual([...connection.drops], []);
    openedStream.stream.close();
    sandbox.setNow(GENESIS + HOUR_MS);
  });
});
