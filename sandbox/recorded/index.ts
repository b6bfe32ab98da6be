/** The world that replays a recording of real venues (docs/recording.md). */
import { RecordingError } from "../../src/recording/errors.ts";
import { type Fact, LineError } from "../../src/recording/format.ts";
import { readRecording } from "../../src/recording/read.ts";
import { narrowMid } from "../world/candles.ts";
import { type ListedMarket, type PricePoint, SANDBOX_VENUES, type SandboxVenue, type World } from "../world/types.ts";
import { listRecords, type VenueFacts, type VenueRecords } from "./listing.ts";
import { MarketRecord } from "./market-record.ts";
import { createReplayClock, type ReplayOptions } from "./replay-clock.ts";

/** Maximum numbers per recording. A recording with these numbers needs a few gigabytes of memory. */
const MARKETS_MAX = 500_000;
const FACTS_MAX = 20_000_000;
const LEVELS_MAX = 50_000_000;
/** Maximum number of points in one price history. */
const HISTORY_POINTS_MAX = 50_000;

/**
 * Loads a recording into memory.
 * @throws RecordingError with the number of a line that is malformed, exceeds a limit, or refers to an unknown market
 */
export async function loadRecordedWorld(options: ReplayOptions & { readonly file: string }): Promise<World> {
  const venues = new Map<SandboxVenue, VenueFacts>(
    SANDBOX_VENUES.map((venue) => [venue, { events: new Map(), records: new Map() }]),
  );
  let startedAt = 0;
  let endedAt = 0;
  let factCount = 0;
  let levelCount = 0;
  let marketCount = 0;

  const addFact = (fact: Fact) => {
    const venue = venues.get(fact.venue as SandboxVenue);
    if (venue === undefined)
      throw new LineError(`unknown venue "${fact.venue}", expected one of ${SANDBOX_VENUES.join(", ")}`);
    endedAt = Math.max(endedAt, fact.at);
    factCount += 1;
    if (factCount > FACTS_MAX) throw new LineError(`more than ${FACTS_MAX} facts`);
    if (fact.kind === "event") {
      if (!venue.events.has(fact.event.eventId)) venue.events.set(fact.event.eventId, fact.event);
      return;
    }
    const marketId = fact.kind === "market" ? fact.market.marketId : fact.marketId;
    let record = venue.records.get(marketId);
    if (fact.kind === "market" && record === undefined) {
      record = new MarketRecord(fact.at, fact.market);
      venue.records.set(marketId, record);
      marketCount += 1;
      if (marketCount > MARKETS_MAX) throw new LineError(`more than ${MARKETS_MAX} markets`);
    }
    if (record === undefined) throw new LineError(`no earlier line describes the market "${marketId}"`);
    if (fact.kind === "market") record.addMarket(fact.at, fact.market);
    else if (fact.kind === "quote") record.addQuote(fact.at, fact.quote);
    else if (fact.kind === "activity") record.addActivity(fact.at, fact.activity);
    else if (fact.kind === "trade") record.addTrade(fact.venue, fact.trade);
    else {
      levelCount += fact.book.bids.length + fact.book.asks.length;
      if (levelCount > LEVELS_MAX) throw new LineError(`more than ${LEVELS_MAX} book levels`);
      record.addBook(fact.at, fact.book);
    }
  };
  const { header, isTruncated } = await readRecording(options.file, {
    onHeader(header) {
      startedAt = header.startedAt;
      endedAt = header.startedAt;
    },
    onFact: addFact,
  });
  if (marketCount === 0) throw new RecordingError(`${options.file} contains no market, so there is nothing to replay.`);

  const clock = createReplayClock({ startedAt, endedAt }, options);
  for (const { records } of venues.values()) for (const record of records.values()) record.finish(clock.toWall);
  const listing = listRecords(venues, clock.toWall);
  return createRecordedWorld(options, listing.byVenue, {
    source: header.source,
    startedAt,
    endedAt,
    pivotAt: clock.pivotAt,
    facts: factCount,
    markets: marketCount,
    omittedMarkets: listing.omittedMarkets,
    isTruncated,
  });
}

function createRecordedWorld(
  { genesis, speed }: ReplayOptions,
  byVenue: ReadonlyMap<SandboxVenue, VenueRecords>,
  recording: NonNullable<World["recording"]>,
): World {
  const recordOf = (market: ListedMarket): MarketRecord => {
    const record = byVenue.get(market.venue)?.records.get(market);
    if (record === undefined) throw new Error("the market does not belong to this world");
    return record;
  };

  const lifecycle: World["lifecycle"] = (market, at) => {
    const record = recordOf(market);
    const status = record.statusAt(at);
    if (status === null) return { phase: "pending", outcome: null, since: record.listedAt };
    return { phase: status.phase, outcome: status.outcome, since: record.phaseSince(at) };
  };

  const book: World["book"] = (market, at) => {
    const record = recordOf(market);
    const lastChange = record.changeAt(at);
    return {
      ...record.levelsAt(at),
      lastPrice: record.lastPriceAt(at),
      indicativePrice: record.indicativePriceAt(at),
      changedAt: lastChange?.at ?? record.listedAt,
      version: lastChange?.count ?? 0,
    };
  };

  /**
   * Returns the price as the service defines it: the mid if the spread is at most 0.10, otherwise the last trade,
   * otherwise the indicative price.
   */
  const priceAt = (record: MarketRecord, at: number): number | null => {
    const { bids, asks } = record.levelsAt(at);
    return narrowMid(bids, asks) ?? record.lastPriceAt(at) ?? record.probabilityAt(at);
  };

  const activity: World["activity"] = (market, at) => {
    const record = recordOf(market);
    const recordedActivity = record.activityAt(at);
    // Kalshi's dollar amounts are half the number of contracts (docs/decisions/0003). At other venues they are equal.
    const contractsPerUsd = market.venue === "kalshi" ? 2 : 1;
    const toContracts = (usd: number | null | undefined): number | null =>
      usd === null || usd === undefined ? null : usd * contractsPerUsd;
    return {
      volumeContracts: toContracts(recordedActivity?.volumeTotalUsd),
      volumeUsd: recordedActivity?.volumeTotalUsd ?? null,
      volume24hContracts: toContracts(recordedActivity?.volume24hUsd),
      volume24hUsd: recordedActivity?.volume24hUsd ?? null,
      openInterestContracts: toContracts(recordedActivity?.openInterestUsd),
      liquidityUsd: recordedActivity?.liquidityUsd ?? null,
      traderCount: null,
    };
  };

  const priceHistory: World["priceHistory"] = (market, from, to, intervalMs) => {
    const record = recordOf(market);
    const points: PricePoint[] = [];
    const firstNumber = Math.max(Math.floor(from / intervalMs) + 1, Math.ceil(record.listedAt / intervalMs));
    const lastNumber = Math.min(Math.floor(to / intervalMs), firstNumber + HISTORY_POINTS_MAX);
    for (let number = firstNumber; number <= lastNumber; number++) {
      const at = number * intervalMs;
      const { bids, asks } = record.levelsAt(at);
      points.push({
        at,
        bid: bids[0]?.price ?? null,
        ask: asks[0]?.price ?? null,
        lastPrice: record.lastPriceAt(at),
        // Trades are recorded only for some markets and periods, so the sum of their sizes is not the volume.
        volumeContracts: null,
      });
    }
    return points;
  };

  return {
    seed: 0,
    genesis,
    speed,
    recording,
    events: (venue, at) => byVenue.get(venue)?.eventsAt(at) ?? [],
    markets: (venue, at) => byVenue.get(venue)?.marketsAt(at) ?? [],
    lifecycle,
    book,
    probability: (market, at) => recordOf(market).probabilityAt(at) ?? priceAt(recordOf(market), at),
    activity,
    trades: (market, from, to) => recordOf(market).trades(from, to),
    priceHistory,
    nextChangeAt: (market, after) => recordOf(market).nextChangeAt(after),
    nextPhaseAt: (market, after) => recordOf(market).nextPhaseAt(after),
  };
}
