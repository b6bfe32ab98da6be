import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NO_RESEARCH } from "../../../../test/support/analyses/no-research.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleChildren,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import { analyse, ENGINE_COEFFICIENTS, toLogOdds } from "../../../engine/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { MatchedMarket } from "../../markets/matching/index.ts";
import { CurrentEstimates, toLatestEstimate } from "./current-estimates.ts";
import { createMarketViews } from "./market-views.ts";
import type { LatestEstimate, StoredAnalysis } from "./model.ts";

const assertNear = (actual: number | undefined, expected: number, message = "values differ") =>
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= 1e-9, `${message}: ${actual} and ${expected}`);

function setUp({
  equalMarketsOf = () => [],
  pairsRevision = () => 0,
}: {
  equalMarketsOf?: (market: BoardMarket) => MatchedMarket[];
  pairsRevision?: () => number;
} = {}) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const byMarket = new Map<string, LatestEstimate>();
  const observers: ((venue: string, marketId: string) => void)[] = [];
  const latest = {
    find: (venue: string, marketId: string) => byMarket.get(`${venue}/${marketId}`) ?? null,
    observe(observer: (venue: string, marketId: string) => void) {
      observers.push(observer);
    },
  };
  const views = createMarketViews({
    board,
    traitsOf: () => ({ adapter: null, isPlayMoney: false }),
    equalMarketsOf,
    pairsRevision,
    trackedBookOf: async () => null,
    readPrices: async () => [],
    readTrades: async () => [],
    readConsensus: async () => null,
  });
  const estimates = new CurrentEstimates({ board, clock, latest, views });
  const quoteMarket = (marketId: string, price: number, parts: SampleParts = {}): BoardMarket => {
    const quote = { bid: price - 0.005, ask: price + 0.005, bidSize: null, askSize: null, lastPrice: price };
    return board.apply(
      sampleMarket(marketId, {
        ...parts,
        listing: { takerFee: { kind: "none" }, ...parts.listing },
        quote: { ...quote, receivedAt: clock.now(), ...parts.quote },
      }),
      clock.now(),
    ).market;
  };
  /** Analyses a market at its current price, and adds `change` to its log-odds. */
  const analyseMarket = async (market: BoardMarket, change = 0): Promise<StoredAnalysis> => {
    const found = analyse(await views.viewOf(market, clock.now()), ENGINE_COEFFICIENTS);
    assert.ok(found !== null);
    const { venue, marketId, title } = market.listing;
    const changes =
      change === 0 ? [] : [{ name: "cross_venue" as const, claim: "x", evidence: [], confidence: 1, change }];
    const stored: StoredAnalysis = {
      analysisId: `plx-${marketId}`,
      venue,
      marketId,
      type: "light",
      analysedAt: clock.now(),
      result: {
        title,
        analysis: { ...found, changes },
        research: NO_RESEARCH,
        durationMs: 1,
      },
    };
    byMarket.set(`${venue}/${marketId}`, toLatestEstimate(stored));
    for (const observer of observers) observer(venue, marketId);
    return stored;
  };
  return { clock, board, estimates, quoteMarket, analyseMarket };
}

test("an estimate changes with the price, and its edge is the difference from the same price", async () => {
  const { clock, estimates, quoteMarket, analyseMarket } = setUp();
  const stored = await analyseMarket(quoteMarket("m", 0.45), Math.log(1.5));
  await clock.advance(60_000);
  const market = quoteMarket("m", 0.5);
  const current = estimates.find(market);
  assertNear(current?.probability, 0.6);
  assertNear(current?.edge, 0.1);
  assert.deepEqual(
    [current?.yesPrice, current?.analysedAt, current?.at, current?.freshness, current?.recommendation],
    [0.5, SAMPLE_AT, SAMPLE_AT + 60_000, "fresh", "BUY_YES"],
  );
  const { result, original, at } = estimates.move(stored, market);
  assertNear(result.analysis.probability, 0.6);
  assert.deepEqual([original.marketPrice, result.analysis.marketPrice, at], [0.45, 0.5, SAMPLE_AT + 60_000]);
});

test("an analysis whose estimate equals the price has no recommendation after a change of the price", async () => {
  const { estimates, quoteMarket, analyseMarket } = setUp();
  const stored = await analyseMarket(quoteMarket("m", 0.45));
  for (const price of [0.4, 0.42, 0.48, 0.5]) {
    const market = quoteMarket("m", price);
    assertNear(estimates.find(market)?.edge, 0, `at ${price}`);
    assert.equal(estimates.find(market)?.recommendation, "NO_TRADE");
    assert.equal(estimates.move(stored, market).result.analysis.recommendation, "NO_TRADE");
  }
});

test("an estimate expires after 72 hours, when the price leaves its interval, and when its market is settled", async () => {
  const { clock, estimates, quoteMarket, analyseMarket } = setUp();
  const stored = await analyseMarket(quoteMarket("m", 0.45));
  const { low, high } = stored.result.analysis.interval;
  assert.notEqual(estimates.find(quoteMarket("m", low + 0.001)), null);
  for (const price of [low - 0.001, high + 0.001]) {
    const market = quoteMarket("m", price);
    assert.deepEqual([estimates.find(market), estimates.isExpired(market)], [null, true]);
    assert.equal(estimates.move(stored, market).freshness, "expired");
  }
  const settled = quoteMarket("m", 0.45, { listing: { status: "finalized", outcome: { kind: "yes" } } });
  assert.equal(estimates.find(settled), null);
  assert.deepEqual(estimates.move(stored, settled).result, stored.result, "a settled price is no opinion");
  await clock.advance(25 * HOUR_MS);
  assert.equal(estimates.find(quoteMarket("m", 0.45))?.freshness, "stale");
  await clock.advance(48 * HOUR_MS);
  const market = quoteMarket("m", 0.45);
  assert.equal(estimates.find(market), null);
  assert.equal(estimates.move(stored, market).freshness, "expired");
});

test("an estimate expires if the price of the same question at another venue contradicts it by more than its interval", async () => {
  const peers: MatchedMarket[] = [];
  const { estimates, quoteMarket, analyseMarket } = setUp({
    equalMarketsOf: ({ listing }) => (listing.venue === "alpha" ? peers : []),
  });
  const quotePeer = (price: number) =>
    quoteMarket("p", price, { listing: { venue: "beta" }, activity: { liquidityUsd: 1e6 } });
  const setPeer = (price: number) => {
    peers[0] = { market: quotePeer(price), isInverse: false, isPlayMoney: false, confidence: 1 };
  };
  setPeer(0.45);
  await analyseMarket(quoteMarket("m", 0.45));
  setPeer(0.5);
  assert.notEqual(estimates.find(quoteMarket("m", 0.45)), null);
  setPeer(0.62);
  assert.equal(estimates.find(quoteMarket("m", 0.45)), null);
  assert.notEqual(
    estimates.find(quoteMarket("m", 0.54)),
    null,
    "if both have moved, the estimate moves with the price",
  );
});

test("an estimate expires if the prices of the event's other markets contradict it by more than its interval", async () => {
  const { board, estimates, quoteMarket, analyseMarket } = setUp();
  board.applyEvent(sampleEvent("e", { mutuallyExclusive: true }));
  const quoteLeg = (id: string, price: number) => quoteMarket(id, price, { listing: { eventId: "e" } });
  quoteLeg("b", 0.5);
  await analyseMarket(quoteLeg("a", 0.45));
  assert.notEqual(estimates.find(quoteLeg("a", 0.45)), null);
  quoteLeg("b", 0.95);
  assert.equal(estimates.find(quoteLeg("a", 0.45)), null);
});

test("the estimates of an exhaustive set sum to 1 when all are known, and to at most 1 otherwise", async () => {
  const { board, estimates, quoteMarket, analyseMarket } = setUp();
  board.applyEvent(sampleEvent("e", { mutuallyExclusive: true, exhaustive: true, children: sampleChildren(3) }));
  const quoteLeg = (id: string, price: number) => quoteMarket(id, price, { listing: { eventId: "e" } });
  const legs = [quoteLeg("a", 0.5), quoteLeg("b", 0.3), quoteLeg("c", 0.25)];
  const sumOf = () =>
    legs
      .flatMap((_, index) => estimates.find(board.find("alpha", "abc"[index] ?? "") as BoardMarket)?.probability ?? [])
      .reduce((sum, probability) => sum + probability, 0);
  const [a, b, c] = legs;
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const first = await analyseMarket(a, 0.9);
  await analyseMarket(b, 0.9);
  assertNear(sumOf(), 1, "two of three, above 1 alone");
  await analyseMarket(c);
  assertNear(sumOf(), 1, "all");
  quoteLeg("b", 0.27);
  assertNear(sumOf(), 1, "after a move");
  const moved = estimates.move(first, a);
  assert.equal(moved.result.analysis.probability, estimates.find(a)?.probability);
  assert.match(moved.result.analysis.factors.at(-1)?.claim ?? "", /do not sum to a possible value/);
});

test("a ladder's estimates never increase towards narrower markets, for any prices and analyses", async () => {
  const price = fc.integer({ min: 3, max: 97 }).map((cents) => cents / 100);
  const rung = fc.record({ price, later: price, change: fc.double({ min: -0.5, max: 0.5, noNaN: true }) });
  await fc.assert(
    fc.asyncProperty(fc.array(rung, { minLength: 2, maxLength: 8 }), async (rungs) => {
      const { board, estimates, quoteMarket, analyseMarket } = setUp();
      board.applyEvent(sampleEvent("e"));
      const quoteRung = (index: number, at: number) =>
        quoteMarket(`r${index}`, at, {
          listing: { eventId: "e", title: `Will the index close above ${100 + index} this year?` },
        });
      for (const [index, each] of rungs.entries()) quoteRung(index, each.price);
      for (const [index, each] of rungs.entries()) await analyseMarket(quoteRung(index, each.price), each.change);
      for (const [index, each] of rungs.entries()) quoteRung(index, each.later);
      const found = rungs.flatMap((_, index) => {
        const market = board.find("alpha", `r${index}`);
        return market === null ? [] : (estimates.find(market)?.probability ?? []);
      });
      for (const [index, probability] of found.entries())
        assert.ok(index === 0 || probability <= (found[index - 1] ?? 0) + 1e-9, `${found}`);
    }),
    { numRuns: 60 },
  );
});

test("a one-sided quote in an exclusive set neither changes nor expires the estimates of the set's other markets", async () => {
  const { board, estimates, quoteMarket, analyseMarket } = setUp();
  board.applyEvent(sampleEvent("e", { mutuallyExclusive: true }));
  const listing = { eventId: "e" };
  const first = quoteMarket("a", 0.3, { listing });
  quoteMarket("b", 0.5, { listing });
  await analyseMarket(first);
  const bound = quoteMarket("c", 0.99, { listing, quote: { bid: null, ask: 0.995, lastPrice: 0.99 } });
  await analyseMarket(bound);
  assertNear(estimates.find(first)?.probability, 0.3);
  assert.ok((estimates.find(bound)?.probability ?? 1) <= 0.7 + 1e-6);
});

test("an estimate uses the given market's price, even if the board has an older one, and the board's sibling prices", async () => {
  const { board, estimates, quoteMarket, analyseMarket } = setUp();
  board.applyEvent(sampleEvent("e", { mutuallyExclusive: true }));
  const listed = quoteMarket("a", 0.5, { listing: { eventId: "e" } });
  const sibling = quoteMarket("b", 0.4, { listing: { eventId: "e" } });
  await analyseMarket(listed, 0.1);
  await analyseMarket(sibling, 0.1);
  const quote = { ...listed.quote, bid: 0.525, ask: 0.535 };
  const current = estimates.find({ ...listed, quote, yesPrice: 0.53 });
  assert.equal(current?.yesPrice, 0.53);
  assertNear(current?.edge, (current?.probability ?? 0) - 0.53);
  assertNear(toLogOdds(estimates.find(listed)?.probability ?? 0), toLogOdds(0.5) + 0.1);
});

test("an event that becomes exclusive is recomputed even if no market has changed", async () => {
  const { board, estimates, quoteMarket, analyseMarket } = setUp();
  board.applyEvent(sampleEvent("e"));
  const [a, b] = ["a", "b"].map((id) => quoteMarket(id, 0.52, { listing: { eventId: "e" } }));
  assert.ok(a !== undefined && b !== undefined);
  await analyseMarket(a, 0.1);
  await analyseMarket(b, 0.1);
  const sumOf = () => [a, b].reduce((sum, market) => sum + (estimates.find(market)?.probability ?? 0), 0);
  assert.ok(sumOf() > 1);
  board.applyEvent(sampleEvent("e", { mutuallyExclusive: true }));
  assertNear(sumOf(), 1);
});

test("what a list shows is the probability and time of the estimate after any change of market, event, peer or analysis", async () => {
  const price = fc.integer({ min: 20, max: 60 }).map((cents) => cents / 100);
  const leg = fc.constantFrom("a", "b", "c");
  const change = fc.oneof(
    fc.record({ kind: fc.constant("quote"), leg, price }),
    fc.record({ kind: fc.constant("analyse"), leg, price: fc.double({ min: -0.8, max: 0.8, noNaN: true }) }),
    fc.record({ kind: fc.constant("peer"), leg, price }),
    fc.record({ kind: fc.constant("advance"), leg, price: fc.constantFrom(1, 400, 1_000, HOUR_MS, 71 * HOUR_MS) }),
    fc.record({ kind: fc.constant("event"), leg, price: fc.constantFrom(0, 1) }),
    fc.record({ kind: fc.constant("remove"), leg, price }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 40 }), async (changes) => {
      const pairs: Omit<MatchedMarket, "market">[] = [];
      const { clock, board, estimates, quoteMarket, analyseMarket } = setUp({
        pairsRevision: () => pairs.length,
        equalMarketsOf({ listing }) {
          const peer = board.find("beta", "p");
          return listing.marketId === "a" && peer !== null ? pairs.map((pair) => ({ ...pair, market: peer })) : [];
        },
      });
      const quoteLeg = (id: string, at: number) => quoteMarket(id, at, { listing: { eventId: "e" } });
      for (const id of ["a", "b", "c"]) await analyseMarket(quoteLeg(id, 0.3), 0.2);
      for (const { kind, leg: id, price: value } of changes) {
        const market = board.find("alpha", id) ?? quoteLeg(id, 0.3);
        if (kind === "quote") quoteLeg(id, value);
        else if (kind === "analyse") await analyseMarket(market, value);
        else if (kind === "advance") await clock.advance(value);
        else if (kind === "event") board.applyEvent(sampleEvent("e", { mutuallyExclusive: value === 1 }));
        else if (kind === "remove") board.remove(market);
        else {
          quoteMarket("p", value, { listing: { venue: "beta" }, activity: { liquidityUsd: 1e6 } });
          if (id === "a") pairs.push({ isInverse: value > 0.5, isPlayMoney: false, confidence: 1 });
        }
        for (const current of board.markets()) {
          const found = estimates.find(current);
          const expected = found && { probability: found.probability, at: found.at };
          assert.deepEqual(estimates.findShown(current), expected, kind);
          assert.equal(estimates.findShown(current), estimates.findShown(current), "the same object until a change");
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("an analysis with a time in the future is shown with the time of the request", async () => {
  const { clock, estimates, quoteMarket, analyseMarket } = setUp();
  await clock.advance(5_000);
  const market = quoteMarket("m", 0.45);
  await analyseMarket(market);
  clock.jumpWallClock(-4_000);
  for (const at of [SAMPLE_AT + 1_000, SAMPLE_AT + 1_001]) {
    assert.equal(estimates.findShown(market)?.at, at);
    await clock.advance(1);
  }
});
