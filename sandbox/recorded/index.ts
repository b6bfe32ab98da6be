/** A world that replays a recording (docs/recording.md) of real venues through the sandbox. */
import { RecordingError } from "../../src/recording/errors.ts";
import { type Fact, LineError } from "../../src/recording/format.ts";
import { readRecording } from "../../src/recording/read.ts";
import { type ListedMarket, type PricePoint, SANDBOX_VENUES, type SandboxVenue, type World } from "../world/types.ts";
import { listRecords, type VenueFacts, type VenueRecords } from "./listing.ts";
import { MarketRecord } from "./market-record.ts";
import { type ReplayOptions, replayClock } from "./replay-clock.ts";

/** Limits of a recording; at these limits a replay needs a few gigabytes of memory. */
const MARKETS_MAX = 500_000;
const FACTS_MAX = 20_000_000;
const LEVELS_MAX = 50_000_000;
const HISTORY_POINTS_MAX = 50_000;
/** Mid prices of wider spreads are ignored; one micro is 1e-6. */
const SPREAD_MICROS_MAX = 100_000;

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
  let facts = 0;
  let levels = 0;
  let markets = 0;

  const addFact = (fact: Fact) => {
    const venue = venues.get(fact.venue as SandboxVenue);
    if (venue === undefined)
      throw new LineError(`unknown venue "${fact.venue}", expected one of ${SANDBOX_VENUES.join(", ")}`);
    endedAt = Math.max(endedAt, fact.at);
    facts += 1;
    if (facts > FACTS_MAX) throw new LineError(`more than ${FACTS_MAX} facts`);
    if (fact.kind === "event") {
      if (!venue.events.has(fact.event.eventId)) venue.events.set(fact.event.eventId, fact.event);
      return;
    }
    const marketId = fact.kind === "market" ? fact.market.marketId : fact.marketId;
    let record = venue.records.get(marketId);
    if (fact.kind === "market" && record === undefined) {
      record = new MarketRecord(fact.at, fact.market);
      venue.records.set(marketId, record);
      markets += 1;
      if (markets > MARKETS_MAX) throw new LineError(`more than ${MARKETS_MAX} markets`);
    }
    if (record === undefined) throw new LineError(`no earlier line describes the market "${marketId}"`);
    if (fact.kind === "market") record.addMarket(fact.at, fact.market);
    else if (fact.kind === "quote") record.addQuote(fact.at, fact.quote);
    else if (fact.kind === "activity") record.addActivity(fact.at, fact.activity);
    else if (fact.kind === "trade") record.addTrade(fact.venue, fact.trade);
    else {
      levels += fact.book.bids.length + fact.book.asks.length;
      if (levels > LEVELS_MAX) throw new LineError(`more than ${LEVELS_MAX} book levels`);
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
  if (markets === 0) throw new RecordingError(`${options.file} contains no market, so there is nothing to replay.`);

  const clock = replayClock({ startedAt, endedAt }, options);
  for (const { records } of venues.values()) for (const record of records.values()) record.finish(clock.toWall);
  const listing = listRecords(venues, clock.toWall);
  return createRecordedWorld(options, listing.byVenue, {
    source: header.source,
    startedAt,
    endedAt,
    pivotAt: clock.pivotAt,
    facts,
    markets,
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
    const change = record.changeAt(at);
    return {
      ...record.levelsAt(at),
      lastPrice: record.lastPriceAt(at),
      indicativePrice: record.indicativePriceAt(at),
      changedAt: change?.at ?? record.listedAt,
      version: change?.count ?? 0,
    };
  };

  /** The service's price rule: mid of a spread of at most 0.10, otherwise last trade, otherwise indicative price. */
  const priceAt = (record: MarketRecord, at: number): number | null => {
    const { bids, asks } = record.levelsAt(at);
    const bid = bids[0]?.price;
    const ask = asks[0]?.price;
    if (bid !== undefined && ask !== undefined) {
      const [low, high] = [Math.round(bid * 1e6), Math.round(ask * 1e6)];
      if (high - low <= SPREAD_MICROS_MAX) return Math.round((low + high) / 2) / 1e6;
    }
    return record.lastPriceAt(at) ?? record.probabilityAt(at);
  };

  const activity: World["activity"] = (market, at) => {
    const record = recordOf(market);
    const recorded = record.activityAt(at);
    const price = recorded === null ? null : priceAt(record, recorded.at);
    const contracts = (usd: number | null): number | null => {
      if (usd === null || usd === 0) return usd;
      return price === null ? null : usd / price;
    };
    const openInterestUsd = recorded?.openInterestUsd ?? null;
    return {
      volumeContracts: contracts(recorded?.volumeTotalUsd ?? null),
      volumeUsd: recorded?.volumeTotalUsd ?? null,
      volume24hContracts: contracts(recorded?.volume24hUsd ?? null),
      volume24hUsd: recorded?.volume24hUsd ?? null,
      // Kalshi counts contracts, so its dollars are converted at the price; elsewhere one contract locks one dollar.
      openInterestContracts: market.venue === "kalshi" ? contracts(openInterestUsd) : openInterestUsd,
      liquidityUsd: recorded?.liquidityUsd ?? null,
      traderCount: null,
    };
  };

  const priceHistory: World["priceHistory"] = (market, from, to, intervalMs) => {
    const record = recordOf(market);
    const points: PricePoint[] = [];
    const first = Math.max(Math.floor(from / intervalMs) + 1, Math.ceil(record.listedAt / intervalMs));
    const last = Math.min(Math.floor(to / intervalMs), first + HISTORY_POINTS_MAX);
    for (let number = first; number <= last; number++) {
      const at = number * intervalMs;
      const { bids, asks } = record.levelsAt(at);
      points.push({
        at,
        bid: bids[0]?.price ?? null,
        ask: asks[0]?.price ?? null,
        lastPrice: record.lastPriceAt(at),
        // Trades are recorded only for some markets and times, so their sum is not the volume.
        volumeContracts: null,
        volumeUsd: null,
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
