import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { NO_MATCHES } from "../../../../test/support/matching/no-matches.ts";
import { MarketBoard } from "../../../board/index.ts";
import { AppError, VenueError } from "../../../domain/errors.ts";
import type { PriceHistory } from "../../../storage/index.ts";
import { createMarketsService, type MarketsDependencies } from "./service.ts";

const NO_TREND = { volumeUsd: null, volumeBeforeUsd: null, spread: null, spreadBefore: null };

/** The service on a real board. Venue requests are recorded in `requests` and answered by `fetchMarket`. */
function openHarness(
  fetchMarket: (marketId: string, board: MarketBoard) => Promise<boolean> = async () => false,
  { readMs = 0, failure = null }: { readonly readMs?: number; readonly failure?: Error | null } = {},
) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const requests: string[] = [];
  const reads = { trends: 0, histories: 0 };
  const ports: MarketsDependencies = {
    board,
    clock,
    venues: ["alpha", "beta"],
    fetchMarket: (id, marketId) => {
      requests.push(`${id}/${marketId}`);
      return fetchMarket(marketId, board);
    },
    pastPrices: {
      read: async (_market, period): Promise<PriceHistory> => {
        reads.histories += 1;
        if (readMs > 0) await clock.sleep(readMs);
        if (failure !== null) throw failure;
        return { intervalSeconds: 60, points: [], period, generatedAt: clock.now() };
      },
      readRange: async (): Promise<PriceHistory> => {
        reads.histories += 1;
        return { intervalSeconds: 60, points: [], period: null, generatedAt: clock.now() };
      },
    },
    books: { readOrLast: async () => ({ book: null, isStale: false }) },
    trades: { read: async () => ({ trades: [], next: null }) },
    detailsOf: () => null,
    matches: NO_MATCHES,
    estimateOf: () => null,
    readTrend: async () => {
      reads.trends += 1;
      return NO_TREND;
    },
  };
  return { clock, board, requests, reads, service: createMarketsService(ports) };
}

const isNotFound = (error: unknown) => error instanceof AppError && error.code === "market_not_found";

test("throws `market_not_found` without a venue request if the id is invalid", async () => {
  const { requests, service } = openHarness();
  for (const id of ["", "x".repeat(513)]) await assert.rejects(service.getMarket("alpha", id), isNotFound);
  assert.deepEqual(requests, []);
  await assert.rejects(service.getMarket("alpha", "x".repeat(512)), isNotFound);
  assert.equal(requests.length, 1);
});

test("fetches a market that is not on the board from its venue once", async () => {
  const { requests, service } = openHarness(async (id, board) => {
    board.apply(sampleMarket(id), SAMPLE_AT);
    return true;
  });
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
  await service.getMarket("alpha", "m");
  assert.deepEqual(requests, ["alpha/m"]);
});

test("returns a market that was added to the board after `market_not_found`", async () => {
  const { board, service } = openHarness();
  await assert.rejects(service.getMarket("alpha", "m"), isNotFound);
  board.apply(sampleMarket("m"), SAMPLE_AT);
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
});

test("throws `venue_unavailable` without a venue request if a market on the board has no price", async () => {
  const { board, requests, service } = openHarness();
  board.apply(sampleMarket("m", { quote: { bid: null, ask: null, lastPrice: null } }), SAMPLE_AT);
  await assert.rejects(service.getMarket("alpha", "m"), { code: "venue_unavailable" });
  assert.deepEqual(requests, []);
});

test("throws the venue error, and the next call repeats the request", async () => {
  const failure = new VenueError("timeout", "timed out", { retryable: true });
  let isDown = true;
  const { requests, service } = openHarness(async (id, board) => {
    if (isDown) throw failure;
    board.apply(sampleMarket(id), SAMPLE_AT);
    return true;
  });
  await assert.rejects(service.getMarket("alpha", "m"), (error) => error === failure);
  isDown = false;
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
  assert.equal(requests.length, 2);
});

test("`getSentiment` reads the trend at most once a minute and computes the sentiment at every call", async () => {
  const { clock, board, reads, service } = openHarness();
  assert.equal((await service.getSentiment()).activeMarketCount, 0);
  board.apply(sampleMarket("m"), SAMPLE_AT);
  board.apply(sampleMarket("reference", { listing: { venue: "gamma" } }), SAMPLE_AT);
  await clock.advance(60_000);
  assert.equal((await service.getSentiment()).activeMarketCount, 1);
  assert.equal(reads.trends, 1);
  await clock.advance(1);
  await service.getSentiment();
  assert.equal(reads.trends, 2);
});

test("concurrent calls of `getHistory` share one read, whose result is cached for one second", async () => {
  const { clock, board, reads, service } = openHarness(undefined, { readMs: 700 });
  await clock.advance(10_000);
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  const readHistory = () => service.getHistory(market, "7d", 48);
  const firstPage = await clock.until(Promise.all([readHistory(), readHistory()]));
  assert.equal(reads.histories, 1);
  await clock.advance(999);
  assert.equal(await readHistory(), firstPage[0]);
  await clock.advance(1);
  await clock.until(readHistory());
  assert.equal(reads.histories, 2);
});

test("reads separate histories for each market, venue, period and number of points", async () => {
  const { board, reads, service } = openHarness();
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  const otherMarket = board.apply(sampleMarket("n"), SAMPLE_AT).market;
  const sameIdAtBeta = board.apply(sampleMarket("m", { listing: { venue: "beta" } }), SAMPLE_AT).market;
  for (const each of [market, otherMarket, sameIdAtBeta]) await service.getHistory(each, "7d", 48);
  assert.equal((await service.getHistory(market, "30d", 48)).period, "30d");
  await service.getHistory(market, "7d", 49);
  assert.equal(reads.histories, 5);
});

test("does not cache a failed history read", async () => {
  const failure = new VenueError("timeout", "timed out", { retryable: true });
  const { board, reads, service } = openHarness(undefined, { failure });
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  for (let call = 0; call < 2; call++)
    await assert.rejects(service.getHistory(market, "7d", 48), (error) => error === failure);
  assert.equal(reads.histories, 2);
});

test("caches at most the 500 most recent histories", async () => {
  const { board, reads, service } = openHarness();
  const markets = Array.from({ length: 501 }, (_, number) => board.apply(sampleMarket(`m${number}`), SAMPLE_AT).market);
  for (const market of markets) await service.getHistory(market, "7d", 48);
  const [firstPage, secondPage] = markets;
  if (firstPage === undefined || secondPage === undefined) throw new Error("The board has too few markets");
  await service.getHistory(secondPage, "7d", 48);
  assert.equal(reads.histories, 501);
  await service.getHistory(firstPage, "7d", 48);
  assert.equal(reads.histories, 502);
});
