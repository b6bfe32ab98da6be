/** A world that replays a recording (docs/recording.md), so that the sandbox's venues show what real ones once showed. */
import { RecordingError } from "../../src/recording/errors.ts";
import { type Fact, LineFault } from "../../src/recording/format.ts";
import { readRecording } from "../../src/recording/read.ts";
import {
  type ActivityState,
  type ListedEvent,
  type ListedMarket,
  type PastPoint,
  SANDBOX_VENUES,
  type SandboxVenue,
  type World,
} from "../world/types.ts";
import { type ListedRecord, listRecords, type RecordedEventFact } from "./listing.ts";
import { MarketRecord } from "./market-record.ts";
import { type ReplayOptions, replayClock } from "./replay-clock.ts";

/** What a recording may hold; with all of it a replay takes some gigabytes. A larger one is refused. */
const MARKETS_MAX = 500_000;
const FACTS_MAX = 20_000_000;
const LEVELS_MAX = 50_000_000;
const PAST_POINTS_MAX = 50_000;
const WIDE_SPREAD_MICROS = 100_000;

export interface RecordedWorldOptions extends ReplayOptions {
  readonly file: string;
}

/**
 * Loads a recording into memory and gives the world it shows.
 * @throws RecordingError naming the line that is malformed, too much, or of a market that no line before tells of
 */
export async function loadRecordedWorld(options: RecordedWorldOptions): Promise<World> {
  const records = new Map<SandboxVenue, Map<string, MarketRecord>>(SANDBOX_VENUES.map((venue) => [venue, new Map()]));
  const events = new Map<SandboxVenue, Map<string, RecordedEventFact>>(
    SANDBOX_VENUES.map((venue) => [venue, new Map()]),
  );
  let startedAt = 0;
  let endedAt = 0;
  let facts = 0;
  let levels = 0;
  let markets = 0;

  const take = (fact: Fact) => {
    const venue = SANDBOX_VENUES.find((known) => known === fact.venue);
    if (venue === undefined) throw new LineFault(`there is no venue "${fact.venue}" (${SANDBOX_VENUES.join(", ")})`);
    endedAt = Math.max(endedAt, fact.at);
    facts += 1;
    if (facts > FACTS_MAX) throw new LineFault(`more than ${FACTS_MAX} facts`);
    if (fact.kind === "event") {
      const own = events.get(venue);
      if (own !== undefined && !own.has(fact.event.eventId)) own.set(fact.event.eventId, fact.event);
      return;
    }
    const own = records.get(venue);
    const marketId = fact.kind === "market" ? fact.market.marketId : fact.marketId;
    let record = own?.get(marketId);
    if (fact.kind === "market" && record === undefined) {
      record = new MarketRecord(fact.at, fact.market);
      own?.set(marketId, record);
      markets += 1;
      if (markets > MARKETS_MAX) throw new LineFault(`more than ${MARKETS_MAX} markets`);
    }
    if (record === undefined) throw new LineFault(`no line before this one tells of the market "${marketId}"`);
    if (fact.kind === "market") record.addMarket(fact.at, fact.market);
    else if (fact.kind === "quote") record.addQuote(fact.at, fact.quote);
    else if (fact.kind === "activity") record.addActivity(fact.at, fact.activity);
    else if (fact.kind === "trade") record.addTrade(venue, fact.trade);
    else {
      levels += fact.book.bids.length + fact.book.asks.length;
      if (levels > LEVELS_MAX) throw new LineFault(`more than ${LEVELS_MAX} levels of books`);
      record.addBook(fact.at, fact.book);
    }
  };
  const { header, isCut } = await readRecording(options.file, {
    onHeader(header) {
      startedAt = header.startedAt;
      endedAt = header.startedAt;
    },
    onFact: take,
  });
  if (markets === 0) throw new RecordingError(`${options.file} tells of no market, so there is nothing to replay.`);

  const clock = replayClock({ startedAt, endedAt }, options);
  for (const own of records.values()) for (const record of own.values()) record.settle(clock.toWall);
  const listing = listRecords(records, events, clock.toWall);
  return createRecordedWorld(options, listing.byVenue, {
    source: header.source,
    startedAt,
    endedAt,
    pivotAt: clock.pivotAt,
    facts,
    markets,
    leftOut: listing.leftOut,
    isCut,
  });
}

function createRecordedWorld(
  { genesis, speed }: ReplayOptions,
  byVenue: ReadonlyMap<SandboxVenue, ListedRecord>,
  recording: NonNullable<World["recording"]>,
): World {
  const recordOf = (market: ListedMarket): MarketRecord => {
    const record = byVenue.get(market.venue)?.records.get(market);
    if (record === undefined) throw new Error("a market of another world");
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
      indicativePrice: record.indicationAt(at),
      changedAt: change?.at ?? record.listedAt,
      version: change?.count ?? 0,
    };
  };

  /** As the service shows it: mid of a two-sided book at most 0.10 wide, else the last trade, else the indication. */
  const priceAt = (record: MarketRecord, at: number): number | null => {
    const { bids, asks } = record.levelsAt(at);
    const bid = bids[0]?.price;
    const ask = asks[0]?.price;
    if (bid !== undefined && ask !== undefined) {
      const [low, high] = [Math.round(bid * 1e6), Math.round(ask * 1e6)];
      if (high - low <= WIDE_SPREAD_MICROS) return Math.round((low + high) / 2) / 1e6;
    }
    return record.lastPriceAt(at) ?? record.probabilityAt(at);
  };

  const probability: World["probability"] = (market, at) => {
    const record = recordOf(market);
    return record.probabilityAt(at) ?? priceAt(record, at);
  };

  const activity = (market: ListedMarket, at: number): ActivityState => {
    const record = recordOf(market);
    const told = record.activityAt(at);
    const price = told === null ? null : priceAt(record, told.toldAt);
    const contracts = (usd: number | null): number | null => {
      if (usd === null || usd === 0) return usd;
      return price === null ? null : usd / price;
    };
    const openInterestUsd = told?.openInterestUsd ?? null;
    return {
      volumeContracts: contracts(told?.volumeTotalUsd ?? null),
      volumeUsd: told?.volumeTotalUsd ?? null,
      volume24hContracts: contracts(told?.volume24hUsd ?? null),
      volume24hUsd: told?.volume24hUsd ?? null,
      // A venue that counts contracts has its count valued at the price then; others tell dollars, a contract each.
      openInterestContracts: market.venue === "kalshi" ? contracts(openInterestUsd) : openInterestUsd,
      liquidityUsd: told?.liquidityUsd ?? null,
      traderCount: null,
    };
  };

  const past = (market: ListedMarket, from: number, to: number, intervalMs: number): PastPoint[] => {
    const record = recordOf(market);
    const points: PastPoint[] = [];
    const first = Math.max(Math.floor(from / intervalMs) + 1, Math.ceil(record.listedAt / intervalMs));
    const last = Math.min(Math.floor(to / intervalMs), first + PAST_POINTS_MAX);
    for (let number = first; number <= last; number++) {
      const at = number * intervalMs;
      const { bids, asks } = record.levelsAt(at);
      points.push({
        at,
        bid: bids[0]?.price ?? null,
        ask: asks[0]?.price ?? null,
        lastPrice: record.lastPriceAt(at),
        // Tapes are recorded of some markets and for some of the time: their sum would not be the volume.
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
    events: (venue, at) => byVenue.get(venue)?.eventsAt(at) ?? NO_EVENTS,
    markets: (venue, at) => byVenue.get(venue)?.marketsAt(at) ?? NO_MARKETS,
    lifecycle,
    book,
    probability,
    activity,
    trades: (market, from, to) => recordOf(market).trades(from, to),
    past,
    nextChangeAt: (market, after) => recordOf(market).nextChange(after),
    nextPhaseAt: (market, after) => recordOf(market).nextPhase(after),
  };
}

const NO_EVENTS: readonly ListedEvent[] = [];
const NO_MARKETS: readonly ListedMarket[] = [];
