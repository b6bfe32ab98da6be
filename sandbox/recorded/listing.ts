import { partitionPoint } from "../../src/lib/numbers.ts";
import { evenBands } from "../world/price-bands.ts";
import { isListed, type ListedEvent, type ListedMarket, type SandboxVenue } from "../world/types.ts";
import type { EventFact, MarketFact, MarketRecord } from "./market-record.ts";

/** Prices of markets without recorded price ranges. The venue protocols do not publish them. */
const DEFAULT_BANDS = evenBands(0.001);

/** The recorded events of one venue by event id, and its market records by market id. Times are on the wall clock. */
export interface VenueFacts {
  readonly events: Map<string, EventFact>;
  readonly records: Map<string, MarketRecord>;
}

export interface VenueRecords {
  readonly records: ReadonlyMap<ListedMarket, MarketRecord>;
  /** Returns the events that have a market listed by `at`, oldest listing first. */
  eventsAt(at: number): readonly ListedEvent[];
  /** Returns the markets listed by `at`, in the order of `eventsAt`. */
  marketsAt(at: number): readonly ListedMarket[];
}

/** Converts recorded facts to listed events and markets. AMM markets without a price are omitted. */
export function listRecords(
  venues: ReadonlyMap<SandboxVenue, VenueFacts>,
  toWall: (at: number) => number,
): { readonly byVenue: ReadonlyMap<SandboxVenue, VenueRecords>; readonly omittedMarkets: number } {
  const byVenue = new Map<SandboxVenue, VenueRecords>();
  const nextIndex = { event: 0, market: 0 };
  let omittedMarkets = 0;
  for (const [venue, { events, records }] of venues) {
    const listable = [...records.values()].filter(
      (record) => mechanismOf(venue, record) === "clob" || record.probabilityAt(0) !== null,
    );
    omittedMarkets += records.size - listable.length;
    const groups = Map.groupBy(listable, ({ firstFact: { eventId, marketId } }) =>
      eventId === null ? `market ${marketId}` : `event ${eventId}`,
    );
    const listings: Listing[] = [];
    const recordOf = new Map<ListedMarket, MarketRecord>();
    for (const eventRecords of groups.values()) {
      const eventFact = events.get(eventRecords[0]?.firstFact.eventId ?? "");
      const event = listEvent(venue, eventRecords, eventFact, nextIndex, toWall);
      listings.push({ event, listedAt: Math.min(...eventRecords.map((record) => record.listedAt)) });
      for (const [position, market] of event.markets.entries())
        recordOf.set(market, eventRecords[position] as MarketRecord);
    }
    byVenue.set(venue, createVenueRecords(listings, recordOf));
  }
  return { byVenue, omittedMarkets };
}

function mechanismOf(venue: SandboxVenue, { firstFact }: MarketRecord): ListedMarket["mechanism"] {
  return venue === "manifold" || firstFact.venueKeys.kind === "amm" ? "amm" : "clob";
}

/** An event and the time at which its first market is listed. */
interface Listing {
  readonly event: ListedEvent;
  readonly listedAt: number;
}

function createVenueRecords(listings: Listing[], records: ReadonlyMap<ListedMarket, MarketRecord>): VenueRecords {
  listings.sort((a, b) => a.listedAt - b.listedAt);
  const marketTimes = [...records.values()].map((record) => record.listedAt).sort((a, b) => a - b);
  let cachedLists = { events: [] as readonly ListedEvent[], markets: [] as readonly ListedMarket[], count: -1 };
  /** Returns the cached lists if no market was listed since they were computed. */
  const listsAt = (at: number) => {
    const count = partitionPoint(marketTimes, (listedAt) => listedAt <= at);
    if (count !== cachedLists.count) {
      const events = listings.filter((listing) => listing.listedAt <= at).map(({ event }) => event);
      const markets = events.flatMap((event) => event.markets).filter((market) => isListed(market, at));
      cachedLists = { events, markets, count };
    }
    return cachedLists;
  };
  return { records, eventsAt: (at) => listsAt(at).events, marketsAt: (at) => listsAt(at).markets };
}

function listEvent(
  venue: SandboxVenue,
  eventRecords: readonly MarketRecord[],
  eventFact: EventFact | undefined,
  nextIndex: { event: number; market: number },
  toWall: (at: number) => number,
): ListedEvent {
  const firstFact = eventRecords[0]?.firstFact;
  const endAt = eventFact?.endAt ?? null;
  const markets: ListedMarket[] = [];
  const event: ListedEvent = {
    venue,
    index: nextIndex.event++,
    underlying: 0,
    series: firstFact?.venueKeys.series ?? "",
    seriesTitle: "",
    title: eventFact?.title ?? titleOf(firstFact),
    description: eventFact?.description ?? "",
    category: eventFact?.category ?? firstFact?.category ?? "",
    tags: [],
    isRound: false,
    mutuallyExclusive: eventFact?.mutuallyExclusive ?? false,
    exhaustive: eventFact?.exhaustive ?? false,
    ladder: false,
    featured: eventFact?.featured ?? false,
    openAt: Math.min(...eventRecords.map(openTimeOf)),
    closeAt: endAt === null ? Math.max(...eventRecords.map(closeTimeOf)) : toWall(endAt),
    markets,
    recorded: { eventId: firstFact?.eventId ?? null, url: eventFact?.url ?? null },
  };
  for (const [position, record] of eventRecords.entries())
    markets.push(listMarket(event, position, record, nextIndex.market++));
  return event;
}

/** Returns the title of an event that has no event line: the market's title without the name of its outcome. */
function titleOf(market: MarketFact | undefined): string {
  if (market === undefined) return "";
  const suffix = ` — ${market.outcomeLabel}`;
  return market.title.endsWith(suffix) ? market.title.slice(0, -suffix.length) : market.title;
}

const openTimeOf = ({ firstFact, listedAt }: MarketRecord): number => Math.min(listedAt, firstFact.openAt ?? listedAt);

const closeTimeOf = ({ firstFact }: MarketRecord): number => firstFact.closeAt ?? Number.POSITIVE_INFINITY;

function listMarket(event: ListedEvent, position: number, record: MarketRecord, index: number): ListedMarket {
  const { firstFact, listedAt, statuses } = record;
  const isResolved = ({ phase }: { readonly phase: string }) => phase === "determined" || phase === "finalized";
  const bands = firstFact.priceRanges ?? DEFAULT_BANDS;
  const lastUnfinalized = statuses.findLastIndex(({ phase }) => phase !== "finalized");
  return {
    venue: event.venue,
    event,
    index,
    position,
    question: firstFact.title,
    label: firstFact.outcomeLabel ?? "Yes",
    rules: firstFact.rules ?? "",
    resolutionSource: "",
    strike: null,
    mechanism: mechanismOf(event.venue, record),
    bands,
    tick: Math.min(...bands.map(({ step }) => step)),
    openAt: openTimeOf(record),
    closeAt: closeTimeOf(record),
    determineAt: statuses.find(isResolved)?.at ?? Number.POSITIVE_INFINITY,
    disputed: false,
    finalizeAt: statuses[lastUnfinalized + 1]?.at ?? Number.POSITIVE_INFINITY,
    recorded: {
      marketId: firstFact.marketId,
      keys: firstFact.venueKeys,
      url: firstFact.url,
      label: firstFact.outcomeLabel,
      listedAt,
      openAt: firstFact.openAt,
      expectedResolutionAt: firstFact.expectedResolutionAt,
      priceBands: firstFact.priceRanges,
      minOrderContracts: firstFact.minOrderContracts,
      takerDelayMs: firstFact.takerDelayMs,
      takerFee: firstFact.takerFee,
    },
  };
}
