import { isListed, type ListedEvent, type ListedMarket, type SandboxVenue } from "../world/types.ts";
import { type EventFact, type MarketFact, type MarketRecord, partitionPoint } from "./market-record.ts";

/** Tick size assumed if a recording has none; the protocols do not publish it. */
const DEFAULT_TICK = 0.001;

/** The recorded facts of one venue by event id and market id. Market times are on the wall clock. */
export interface VenueFacts {
  readonly events: Map<string, EventFact>;
  readonly records: Map<string, MarketRecord>;
}

export interface VenueRecords {
  readonly records: ReadonlyMap<ListedMarket, MarketRecord>;
  /** Events with at least one market listed by `at`, oldest listing first. */
  eventsAt(at: number): readonly ListedEvent[];
  /** Markets of those events that are listed by `at`, in the same order. */
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
    const groups = Map.groupBy(listable, ({ first: { eventId, marketId } }) =>
      eventId === null ? `market ${marketId}` : `event ${eventId}`,
    );
    const listings: Listing[] = [];
    const recordOf = new Map<ListedMarket, MarketRecord>();
    for (const group of groups.values()) {
      const fact = events.get(group[0]?.first.eventId ?? "");
      const event = listEvent(venue, group, fact, nextIndex, toWall);
      listings.push({ event, at: Math.min(...group.map((record) => record.listedAt)) });
      for (const [position, market] of event.markets.entries()) recordOf.set(market, group[position] as MarketRecord);
    }
    byVenue.set(venue, createVenueRecords(listings, recordOf));
  }
  return { byVenue, omittedMarkets };
}

function mechanismOf(venue: SandboxVenue, { first }: MarketRecord): ListedMarket["mechanism"] {
  return venue === "manifold" || first.venueKeys.kind === "amm" ? "amm" : "clob";
}

/** An event and the time at which its first market is listed. */
interface Listing {
  readonly event: ListedEvent;
  readonly at: number;
}

function createVenueRecords(listings: Listing[], records: ReadonlyMap<ListedMarket, MarketRecord>): VenueRecords {
  listings.sort((a, b) => a.at - b.at);
  const marketTimes = [...records.values()].map((record) => record.listedAt).sort((a, b) => a - b);
  let cached = { events: [] as readonly ListedEvent[], markets: [] as readonly ListedMarket[], count: -1 };
  /** Recomputes both lists only when another market is listed. */
  const listsAt = (at: number) => {
    const count = partitionPoint(marketTimes, (listedAt) => listedAt <= at);
    if (count !== cached.count) {
      const events = listings.filter((listing) => listing.at <= at).map(({ event }) => event);
      const markets = events.flatMap((event) => event.markets).filter((market) => isListed(market, at));
      cached = { events, markets, count };
    }
    return cached;
  };
  return { records, eventsAt: (at) => listsAt(at).events, marketsAt: (at) => listsAt(at).markets };
}

function listEvent(
  venue: SandboxVenue,
  group: readonly MarketRecord[],
  fact: EventFact | undefined,
  nextIndex: { event: number; market: number },
  toWall: (at: number) => number,
): ListedEvent {
  const first = group[0]?.first;
  const endAt = fact?.endAt ?? null;
  const markets: ListedMarket[] = [];
  const event: ListedEvent = {
    venue,
    index: nextIndex.event++,
    underlying: 0,
    series: first?.venueKeys.series ?? "",
    seriesTitle: "",
    title: fact?.title ?? titleOf(first),
    description: fact?.description ?? "",
    category: fact?.category ?? first?.category ?? "",
    tags: [],
    frequency: "one_off",
    mutuallyExclusive: fact?.mutuallyExclusive ?? false,
    exhaustive: fact?.exhaustive ?? false,
    ladder: false,
    featured: fact?.featured ?? false,
    openAt: Math.min(...group.map(openTime)),
    closeAt: endAt === null ? Math.max(...group.map(closeTime)) : toWall(endAt),
    markets,
    recorded: { eventId: first?.eventId ?? null, url: fact?.url ?? null },
  };
  for (const [position, record] of group.entries())
    markets.push(listMarket(event, position, record, nextIndex.market++));
  return event;
}

/** Title of an event without an event line: the market's title without the name of its outcome. */
function titleOf(market: MarketFact | undefined): string {
  if (market === undefined) return "";
  const suffix = ` — ${market.outcomeLabel}`;
  return market.title.endsWith(suffix) ? market.title.slice(0, -suffix.length) : market.title;
}

function openTime({ first, listedAt }: MarketRecord): number {
  return Math.min(listedAt, first.openAt ?? listedAt);
}

function closeTime({ first }: MarketRecord): number {
  return first.closeAt ?? Number.POSITIVE_INFINITY;
}

function listMarket(event: ListedEvent, position: number, record: MarketRecord, index: number): ListedMarket {
  const { first, listedAt, statuses } = record;
  const isResolved = ({ phase }: { readonly phase: string }) => phase === "determined" || phase === "finalized";
  const lastUnfinalized = statuses.findLastIndex(({ phase }) => phase !== "finalized");
  return {
    venue: event.venue,
    event,
    index,
    position,
    question: first.title,
    label: first.outcomeLabel ?? "Yes",
    rules: first.rules ?? "",
    resolutionSource: "",
    strike: null,
    mechanism: mechanismOf(event.venue, record),
    tick: first.tickSize ?? DEFAULT_TICK,
    openAt: openTime(record),
    closeAt: closeTime(record),
    determineAt: statuses.find(isResolved)?.at ?? Number.POSITIVE_INFINITY,
    disputed: false,
    finalizeAt: statuses[lastUnfinalized + 1]?.at ?? Number.POSITIVE_INFINITY,
    recorded: {
      marketId: first.marketId,
      keys: first.venueKeys,
      url: first.url,
      label: first.outcomeLabel,
      listedAt,
      openAt: first.openAt,
      expectedResolutionAt: first.expectedResolutionAt,
      tickSize: first.tickSize,
      takerFee: first.takerFee,
    },
  };
}
