import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../test/support/market-samples.ts";
import { MarketBoard } from "../../board/index.ts";
import { AppError, InvalidRequestError, VenueError } from "../../domain/errors.ts";
import type { HistoryReading } from "../../storage/index.ts";
import { createMarketsService, type MarketsPorts } from "./service.ts";

const NO_TREND = { volumeUsd: null, volumeBeforeUsd: null, spread: null, spreadBefore: null };
const LIST = { status: "active", sort: "volume_24h", limit: 10 } as const;

/** The service over a real board; whatever is asked of a venue is counted and answered by `venue`. */
function bench(
  venue: (marketId: string, board: MarketBoard) => Promise<boolean> = async () => false,
  { readMs = 0, failure = null }: { readonly readMs?: number; readonly failure?: Error | null } = {},
) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const asked: string[] = [];
  const reads = { trends: 0, histories: 0 };
  const ports: MarketsPorts = {
    board,
    clock,
    venues: ["alpha", "beta"],
    lookUp: (id, marketId) => {
      asked.push(`${id}/${marketId}`);
      return venue(marketId, board);
    },
    past: {
      read: async (_market, period): Promise<HistoryReading> => {
        reads.histories += 1;
        if (readMs > 0) await clock.sleep(readMs);
        if (failure !== null) throw failure;
        return { intervalSeconds: 60, points: [], period, generatedAt: clock.now() };
      },
    },
    readTrend: async () => {
      reads.trends += 1;
      return NO_TREND;
    },
  };
  return { clock, board, asked, reads, service: createMarketsService(ports) };
}

const isMissing = (error: unknown) => error instanceof AppError && error.code === "market_not_found";

test("a market on the board is answered without asking its venue", async () => {
  const { board, asked, service } = bench();
  board.apply(sampleMarket("m"), SAMPLE_AT);
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
  assert.deepEqual(asked, []);
});

test("an id that no venue can have is not found without asking anyone", async () => {
  const { asked, service } = bench();
  for (const id of ["", "a\0b", "\0", "x".repeat(513)]) await assert.rejects(service.getMarket("alpha", id), isMissing);
  assert.deepEqual(asked, []);
  await assert.rejects(service.getMarket("alpha", "x".repeat(512)), isMissing);
  assert.equal(asked.length, 1);
});

test("a market that only the venue knows is asked for and answered", async () => {
  const { asked, service } = bench(async (id, board) => {
    board.apply(sampleMarket(id), SAMPLE_AT);
    return true;
  });
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
  await service.getMarket("alpha", "m");
  assert.deepEqual(asked, ["alpha/m"]);
});

test("calls for the same unknown market at the same time ask the venue once; other ids and venues are asked apart", async () => {
  const { asked, service } = bench();
  const ids = [
    ["alpha", "m"],
    ["alpha", "m"],
    ["alpha", "m"],
    ["alpha", "n"],
    ["beta", "m"],
  ] as const;
  const results = await Promise.allSettled(ids.map(([venue, id]) => service.getMarket(venue, id)));
  assert.ok(results.every((result) => result.status === "rejected" && isMissing(result.reason)));
  assert.deepEqual(asked, ["alpha/m", "alpha/n", "beta/m"]);
});

test("that a venue does not know a market is remembered for 30 seconds and no longer", async () => {
  const { clock, asked, service } = bench();
  await assert.rejects(service.getMarket("alpha", "m"), isMissing);
  await clock.advance(29_999);
  await assert.rejects(service.getMarket("alpha", "m"), isMissing);
  assert.equal(asked.length, 1);
  await clock.advance(1);
  await assert.rejects(service.getMarket("alpha", "m"), isMissing);
  assert.equal(asked.length, 2);
});

test("a market that appears on the board meanwhile is found although its absence is remembered", async () => {
  const { board, service } = bench();
  await assert.rejects(service.getMarket("alpha", "m"), isMissing);
  board.apply(sampleMarket("m"), SAMPLE_AT);
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
});

test("a known market without a price is unavailable, and its venue is not asked about what the board knows", async () => {
  const { board, asked, service } = bench();
  board.apply(sampleMarket("m", { quote: { bid: null, ask: null, lastPrice: null } }), SAMPLE_AT);
  await assert.rejects(service.getMarket("alpha", "m"), { code: "venue_unavailable" });
  assert.deepEqual(asked, []);
});

test("a venue's failure is told as it is and not remembered as absence", async () => {
  const failure = new VenueError("timeout", "no answer", { retryable: true });
  let isDown = true;
  const { asked, service } = bench(async (id, board) => {
    if (isDown) throw failure;
    board.apply(sampleMarket(id), SAMPLE_AT);
    return true;
  });
  const both = await Promise.allSettled([service.getMarket("alpha", "m"), service.getMarket("alpha", "m")]);
  for (const result of both) assert.equal(result.status === "rejected" && result.reason, failure);
  isDown = false;
  assert.equal((await service.getMarket("alpha", "m")).listing.marketId, "m");
  assert.equal(asked.length, 2);
});

test("source and platform are one filter: the same twice is fine, different is a value_error at platform", () => {
  const { board, service } = bench();
  board.apply(sampleMarket("m"), SAMPLE_AT);
  board.apply(sampleMarket("n", { listing: { venue: "beta" } }), SAMPLE_AT);
  const ids = (filter: { source?: string; platform?: string }) =>
    service.listMarkets({ ...LIST, ...filter }, null).markets.map(({ listing }) => listing.marketId);
  assert.deepEqual(ids({}), ["m", "n"]);
  for (const filter of [{ source: "beta" }, { platform: "beta" }, { source: "beta", platform: "beta" }]) {
    assert.deepEqual(ids(filter), ["n"]);
  }
  const isRefusal = (error: unknown) => {
    assert.ok(error instanceof InvalidRequestError);
    const [item] = error.errors;
    assert.deepEqual([item?.type, item?.loc, item?.input], ["value_error", ["query", "platform"], "beta"]);
    return true;
  };
  assert.throws(() => ids({ source: "alpha", platform: "beta" }), isRefusal);
  const events = {
    source: "alpha",
    platform: "beta",
    category: null,
    featuredOnly: false,
    text: null,
    order: "volume",
    limit: 5,
  } as const;
  assert.throws(() => service.listEvents(events), isRefusal);
});

test("all means every status but pending, and venues for reference are never listed", () => {
  const { board, service } = bench();
  for (const status of ["pending", "active", "closed", "determined", "finalized"] as const) {
    board.apply(sampleMarket(status, { listing: { status } }), SAMPLE_AT);
  }
  board.apply(sampleMarket("reference", { listing: { venue: "gamma" } }), SAMPLE_AT);
  const ids = service.listMarkets({ ...LIST, status: "all" }, null).markets.map(({ listing }) => listing.marketId);
  assert.deepEqual(ids, ["active", "closed", "determined", "finalized"]);
});

test("a next position is given exactly when more follows", () => {
  const { board, service } = bench();
  for (const id of ["a", "b", "c"]) board.apply(sampleMarket(id), SAMPLE_AT);
  const first = service.listMarkets({ ...LIST, limit: 2 }, null);
  assert.deepEqual(first.next, { value: null, id: "alpha/b" });
  const second = service.listMarkets({ ...LIST, limit: 2 }, first.next);
  assert.deepEqual([second.markets.map(({ listing }) => listing.marketId), second.next], [["c"], null]);
  assert.equal(service.listMarkets({ ...LIST, limit: 3 }, null).next, null);
});

test("an event of a venue for reference, an unknown one and one without a price are all not found", () => {
  const { board, service } = bench();
  board.applyEvent(sampleEvent("E", { venue: "gamma" }));
  board.apply(sampleMarket("m", { listing: { venue: "gamma", eventId: "E" } }), SAMPLE_AT);
  board.applyEvent(sampleEvent("unpriced"));
  for (const slug of ["gamma:e", "alpha:none", "alpha:unpriced", "", "\0"]) {
    assert.throws(
      () => service.getEvent(slug),
      (error) => error instanceof AppError && error.code === "event_not_found",
    );
  }
});

test("yesterday's figures are read at most once a minute, and the mood itself is fresh", async () => {
  const { clock, board, reads, service } = bench();
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

test("a history is read from the store once a second, however many ask, and again a second after it was read", async () => {
  const { clock, board, reads, service } = bench(undefined, { readMs: 700 });
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  const ask = () => service.getHistory(market, "7d", 48);
  const first = await clock.until(Promise.all([ask(), ask()]));
  assert.equal(reads.histories, 1);
  await clock.advance(999);
  assert.equal(await ask(), first[0]);
  await clock.advance(1);
  await clock.until(ask());
  assert.equal(reads.histories, 2);
});

test("histories of other markets, venues, periods or numbers of points are histories of their own", async () => {
  const { board, reads, service } = bench();
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  const other = board.apply(sampleMarket("n"), SAMPLE_AT).market;
  const elsewhere = board.apply(sampleMarket("m", { listing: { venue: "beta" } }), SAMPLE_AT).market;
  for (const one of [market, other, elsewhere]) await service.getHistory(one, "7d", 48);
  assert.equal((await service.getHistory(market, "30d", 48)).period, "30d");
  await service.getHistory(market, "7d", 49);
  assert.equal(reads.histories, 5);
});

test("a history that could not be read is asked for again at once", async () => {
  const failure = new VenueError("timeout", "no answer", { retryable: true });
  const { board, reads, service } = bench(undefined, { failure });
  const { market } = board.apply(sampleMarket("m"), SAMPLE_AT);
  for (let time = 0; time < 2; time++)
    await assert.rejects(service.getHistory(market, "7d", 48), (error) => error === failure);
  assert.equal(reads.histories, 2);
});

test("no more than five hundred histories are kept, the newest", async () => {
  const { board, reads, service } = bench();
  const markets = Array.from({ length: 501 }, (_, number) => board.apply(sampleMarket(`m${number}`), SAMPLE_AT).market);
  for (const market of markets) await service.getHistory(market, "7d", 48);
  const [first, second] = markets;
  if (first === undefined || second === undefined) throw new Error("there are markets");
  await service.getHistory(second, "7d", 48);
  assert.equal(reads.histories, 501);
  await service.getHistory(first, "7d", 48);
  assert.equal(reads.histories, 502);
});
