import type { Fact } from "../../src/recording/format.ts";
import type { ListedEvent, ListedMarket, RecordedFee, SandboxVenue } from "../world/types.ts";
import { type MarketRecord, partitionPoint } from "./market-record.ts";

export type RecordedEventFact = Extract<Fact, { readonly kind: "event" }>["event"];

/** Tick size assumed if a recording has none; the protocols do not publish it. */
const DEFAULT_TICK = 0.001;
const AMM_VENUE: SandboxVenue = "manifold";

/** The markets of one venue of a recording. */
export interface VenueRecords {
  readonly records: ReadonlyMap<ListedMarket, MarketRecord>;
  /** Events with at least one market listed by `at`, oldest listing first. */
  eventsAt(at: number): readonly ListedEvent[];
  /** Markets of those events that are listed by `at`, in the same order. */
  marketsAt(at: number): readonly ListedMarket[];
}

/** Converts recorded markets to listed events and markets; dates are moved to the wall clock. */
export function listRecords(
  records: ReadonlyMap<SandboxVenue, ReadonlyMap<string, MarketRecord>>,
  events: ReadonlyMap<SandboxVenue, ReadonlyMap<string, RecordedEventFact>>,
  toWall: (at: number) => number,
): { readonly byVenue: ReadonlyMap<SandboxVenue, VenueRecords>; readonly omittedMarkets: number } {
  const byVenue = new Map<SandboxVenue, VenueRecords>();
  const nextIndex = { event: 0, market: 0 };
  let omittedMarkets = 0;
  for (const [venue, venueRecords] of records) {
    const groups = new Map<string, MarketRecord[]>();
    for (const record of venueRecords.values()) {
      if (isAmm(venue, record) && !record.hasPrice) {
        omittedMarkets += 1;
        continue;
      }
      const { eventId, marketId } = record.first;
      const key = eventId === null ? `market ${marketId}` : `event ${eventId}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [record]);
      else group.push(record);
    }
    const venueEvents: ListedEvent[] = [];
    const recordOf = new Map<ListedMarket, MarketRecord>();
    for (const group of groups.values()) {
      const event = listEvent(venue, group, events.get(venue) ?? new Map(), nextIndex, toWall);
      venueEvents.push(event);
      for (const [position, record] of group.entries()) {
        const market = event.markets[position];
        if (market !== undefined) recordOf.set(market, record);
      }
    }
    byVenue.set(venue, createVenueRecords(venueEvents, recordOf));
  }
  return { byVenue, omittedMarkets };
}

function isAmm(venue: SandboxVenue, { first }: MarketRecord): boolean {
  return venue === AMM_VENUE || first.venueKeys.kind === "amm";
}

function createVenueRecords(
  events: readonly ListedEvent[],
  records: ReadonlyMap<ListedMarket, MarketRecord>,
): VenueRecords {
  const listedAt = (event: ListedEvent) =>
    event.markets.reduce(
      (first, { recorded }) => Math.min(first, recorded?.listedAt ?? first),
      Number.POSITIVE_INFINITY,
    );
  const byListingTime = events.map((event) => ({ event, at: listedAt(event) })).sort((a, b) => a.at - b.at);
  const marketTimes = [...records.values()].map((record) => record.listedAt).sort((a, b) => a - b);
  let cached = { events: [] as readonly ListedEvent[], markets: [] as readonly ListedMarket[], count: -1 };
  /** Recomputes both lists only when another market is listed. */
  const listsAt = (at: number) => {
    const count = partitionPoint(marketTimes, (listedAt) => listedAt <= at);
    if (count !== cached.count) {
      const listedEvents = byListingTime.filter((entry) => entry.at <= at).map((entry) => entry.event);
      const markets = listedEvents
        .flatMap((event) => event.markets)
        .filter(({ recorded }) => (recorded?.listedAt ?? 0) <= at);
      cached = { events: listedEvents, markets, count };
    }
    return cached;
  };
  return { records, eventsAt: (at) => listsAt(at).events, marketsAt: (at) => listsAt(at).markets };
}

function listEvent(
  venue: SandboxVenue,
  group: readonly MarketRecord[],
  events: ReadonlyMap<string, RecordedEventFact>,
  nextIndex: { event: number; market: number },
  toWall: (at: number) => number,
): ListedEvent {
  const first = group[0]?.first;
  const eventId = first?.eventId ?? null;
  const fact = eventId === null ? undefined : events.get(eventId);
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
    openAt: Math.min(...group.map((record) => openTime(record, toWall))),
    closeAt:
      fact?.endAt != null
        ? toWall(fact.endAt)
        : Math.max(...group.map((record) => wallOrInfinity(record.first.closeAt, toWall))),
    markets,
    recorded: { eventId, url: fact?.url ?? null },
  };
  for (const [position, record] of group.entries())
    markets.push(listMarket(event, position, record, nextIndex.market++, toWall));
  return event;
}

type MarketFact = MarketRecord["first"];

/** Title of an event without an event line: the market's title without the name of its outcome. */
function titleOf(market: MarketFact | undefined): string {
  if (market === undefined) return "";
  const suffix = ` — ${market.outcomeLabel}`;
  return market.title.endsWith(suffix) ? market.title.slice(0, -suffix.length) : market.title;
}

function openTime({ first, listedAt }: MarketRecord, toWall: (at: number) => number): number {
  return first.openAt === null ? listedAt : Math.min(listedAt, toWall(first.openAt));
}

const wallOrInfinity = (at: number | null, toWall: (at: number) => number) =>
  at === null ? Number.POSITIVE_INFINITY : toWall(at);

function listMarket(
  event: ListedEvent,
  position: number,
  record: MarketRecord,
  index: number,
  toWall: (at: number) => number,
): ListedMarket {
  const { first, listedAt, statuses } = record;
  const wall = (at: number | null) => (at === null ? null : toWall(at));
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
    mechanism: isAmm(event.venue, record) ? "amm" : "clob",
    tick: first.tickSize ?? DEFAULT_TICK,
    openAt: openTime(record, toWall),
    closeAt: wallOrInfinity(first.closeAt, toWall),
    determineAt: statuses.find(isResolved)?.at ?? Number.POSITIVE_INFINITY,
    disputed: false,
    finalizeAt: statuses[lastUnfinalized + 1]?.at ?? Number.POSITIVE_INFINITY,
    recorded: {
      marketId: first.marketId,
      keys: first.venueKeys,
      url: first.url,
      label: first.outcomeLabel,
      listedAt,
      openAt: wall(first.openAt),
      expectedResolutionAt: wall(first.expectedResolutionAt),
      tickSize: first.tickSize,
      takerFee: takerFee(first),
    },
  };
}

function takerFee({ takerFee: fee }: MarketFact): RecordedFee | null {
  if (fee === null || fee.kind === "none" || fee.kind === "quadratic") return fee;
  return { kind: fee.kind };
}
