import { MarketBoard } from "../../../src/board/index.ts";
import { arbitrageRoutes, createArbitrageService } from "../../../src/capabilities/markets/arbitrage/index.ts";
import type { MatchedPairs, PairObserver } from "../../../src/capabilities/markets/matching/index.ts";
import type { BookLevel, OrderBook } from "../../../src/domain/order-book.ts";
import { createBookReader } from "../../../src/ingest/book-reader.ts";
import { VenueHealth, type VenueStatusReport } from "../../../src/ingest/index.ts";
import { VenueRequestQueue } from "../../../src/ingest/on-demand/venue-request-queue.ts";
import type { MarketPair } from "../../../src/matching/model.ts";
import { FakeClock } from "../fake-clock.ts";
import { testServer, VALID_KEY } from "../test-app.ts";
import { ScriptedVenue } from "../venues/scripted-venue.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "./market-samples.ts";

/** Pairs that a test adds and removes. */
export class ScriptedPairs implements MatchedPairs {
  readonly #pairs = new Map<string, MarketPair>();
  readonly #observers: PairObserver[] = [];

  pairs(): IterableIterator<MarketPair> {
    return this.#pairs.values();
  }

  observe(observer: PairObserver): void {
    this.#observers.push(observer);
  }

  /** Adds a pair, or replaces it. */
  set(pair: MarketPair): void {
    const key = `${pair.a} ${pair.b}`;
    const removed = this.#pairs.has(key) ? [pair] : [];
    this.#pairs.set(key, pair);
    for (const observer of this.#observers) observer.onPairs({ added: [pair], removed });
  }

  remove(pair: MarketPair): void {
    this.#pairs.delete(`${pair.a} ${pair.b}`);
    for (const observer of this.#observers) observer.onPairs({ added: [], removed: [pair] });
  }
}

/** Returns a pair of the venues alpha and beta with the same market id. `parts` overrides fields. */
export function samplePair(marketId: string, parts: Partial<MarketPair> = {}): MarketPair {
  return {
    a: `alpha/${marketId}`,
    b: `beta/${marketId}`,
    relation: "identical",
    confidence: 0.9,
    source: "model",
    evidence: ["Both titles are equal."],
    ...parts,
  };
}

/** Creates an order book from lists of price and size. */
export function sampleBook(
  bids: readonly (readonly [price: number, size: number])[],
  asks: readonly (readonly [price: number, size: number])[],
): OrderBook {
  const levels = (list: typeof bids): BookLevel[] => list.map(([price, size]) => ({ price, size }));
  return { bids: levels(bids), asks: levels(asks), lastPrice: null, eventAt: null, receivedAt: SAMPLE_AT };
}

/**
 * Opens the arbitrage routes on a real server with an empty board and no pairs. The venues are alpha, beta, delta and the
 * reference venue gamma. Books come from scripted venues through the real book reader.
 */
export async function openArbitrageApi() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const trading = ["alpha", "beta", "delta"] as const;
  const venues = Object.fromEntries(
    [...trading, "gamma"].map((id) => [id, new ScriptedVenue(id, clock, { playMoney: id === "gamma" })]),
  ) as Record<(typeof trading)[number] | "gamma", ScriptedVenue>;
  const health: Record<string, VenueStatusReport> = Object.fromEntries(
    Object.entries(venues).map(([id, { profile }]) => {
      const state = new VenueHealth(clock, profile);
      state.succeeded();
      state.sweepCompleted();
      return [id, { ...state.report(0), role: "ingest" }];
    }),
  );
  const pairs = new ScriptedPairs();
  const books = createBookReader({
    venues: new Map(Object.values(venues).map((adapter) => [adapter.id, { adapter }])),
    trackedBookOf: () => null,
    requests: new VenueRequestQueue(clock),
    clock,
  });
  const service = createArbitrageService({
    board,
    clock,
    pairs,
    venues: trading,
    readBook: (market) => books.read(market),
    venueHealth: () => health,
  });
  const { app } = await testServer();
  arbitrageRoutes(app, service, { trading, all: [...trading, "gamma"] });

  /** Adds or replaces a market, free of fees by default, quoted now. */
  const setMarket = (venue: string, marketId: string, { listing, quote, activity }: SampleParts = {}) =>
    board.apply(
      sampleMarket(marketId, {
        listing: { venue, takerFee: { kind: "none" }, expectedResolutionAt: SAMPLE_AT + 73 * 86_400_000, ...listing },
        quote: { receivedAt: clock.now(), lastPrice: null, ...quote },
        activity,
      }),
      clock.now(),
    ).market;
  /** Adds a matched pair: bid 0.40 and ask 0.42 on alpha, bid 0.50 and ask 0.52 on beta, 100 contracts at each price. */
  const setPair = (marketId: string, parts: Partial<MarketPair> = {}) => {
    setMarket("alpha", marketId);
    setMarket("beta", marketId, { quote: { bid: 0.5, ask: 0.52 } });
    pairs.set(samplePair(marketId, parts));
  };
  /** Sets the books that the venues return: by default those of `setPair` with a second level on each side. */
  const setBooks = (
    marketId: string,
    onAlpha = sampleBook(
      [
        [0.4, 100],
        [0.39, 300],
      ],
      [
        [0.42, 100],
        [0.45, 200],
      ],
    ),
    onBeta = sampleBook(
      [
        [0.5, 150],
        [0.47, 500],
      ],
      [[0.52, 100]],
    ),
  ) => {
    venues.alpha.books.set(marketId, onAlpha);
    venues.beta.books.set(marketId, onBeta);
  };
  const send = (url: string, headers: Readonly<Record<string, string>> = { authorization: `Bearer ${VALID_KEY}` }) =>
    app.inject({ method: "GET", url, headers });
  /** Sends a request while simulated time passes, and returns the response. */
  const get = (url: string) => clock.until(send(url));
  return { app, board, clock, venues, health, pairs, service, setMarket, setPair, setBooks, send, get };
}
