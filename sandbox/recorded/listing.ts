import type { Fact } from "../../src/recording/format.ts";
import type { ListedEvent, ListedMarket, RecordedFee, SandboxVenue } from "../world/types.ts";
import type { MarketRecord } from "./market-record.ts";

export type RecordedEventFact = Extract<Fact, { readonly kind: "event" }>["event"];

/** Steps assumed where a recording does not tell; what is not told is not shown either. */
const FINEST_TICK = 0.001;
const AMM_VENUE: SandboxVenue = "manifold";

/** What one venue of a recording lists. */
export interface ListedRecord {
  readonly records: ReadonlyMap<ListedMarket, MarketRecord>;
  /** Events of which the recording has told by `at`, oldest listing first. */
  eventsAt(at: number): readonly ListedEvent[];
  /** Their markets of which it has told by then, in the same order. */
  marketsAt(at: number): readonly ListedMarket[];
}

/** Turns the records of all venues into what the protocols show. Dates are moved to the wall clock. */
export function listRecords(
  records: ReadonlyMap<SandboxVenue, ReadonlyMap<string, MarketRecord>>,
  events: ReadonlyMap<SandboxVenue, ReadonlyMap<string, RecordedEventFact>>,
  toWall: (at: number) => number,
): { readonly byVenue: ReadonlyMap<SandboxVenue, ListedRecord>; readonly leftOut: number } {
  const byVenue = new Map<SandboxVenue, ListedRecord>();
  const numbers = { event: 0, market: 0 };
  let leftOut = 0;
  for (const [venue, own] of records) {
    const groups = new Map<string, MarketRecord[]>();
    for (const record of own.values()) {
      if (isAmm(venue, record) && !record.hasPrice) {
        leftOut += 1;
        continue;
      }
      const { eventId, marketId } = record.first;
      const key = eventId === null ? `market ${marketId}` : `event ${eventId}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [record]);
      else group.push(record);
    }
    const listed: ListedEvent[] = [];
    const recordOf = new Map<ListedMarket, MarketRecord>();
    for (const group of groups.values()) {
      const event = listEvent(venue, group, events.get(venue) ?? new Map(), numbers, toWall);
      listed.push(event);
      for (const [position, record] of group.entries()) {
        const market = event.markets[position];
        if (market !== undefined) recordOf.set(market, record);
      }
    }
    byVenue.set(venue, listedRecord(listed, recordOf));
  }
  return { byVenue, leftOut };
}

function isAmm(venue: SandboxVenue, { first }: MarketRecord): boolean {
  return venue === AMM_VENUE || first.venueKeys.kind === "amm";
}

function listedRecord(events: readonly ListedEvent[], records: ReadonlyMap<ListedMarket, MarketRecord>): ListedRecord {
  const listedAt = (event: ListedEvent) =>
    event.markets.reduce(
      (first, { recorded }) => Math.min(first, recorded?.listedAt ?? first),
      Number.POSITIVE_INFINITY,
    );
  const keyed = events.map((event) => ({ event, at: listedAt(event) })).sort((a, b) => a.at - b.at);
  const marketTimes = [...records.values()].map((record) => record.listedAt).sort((a, b) => a - b);
  let known = { events: [] as readonly ListedEvent[], markets: [] as readonly ListedMarket[], count: -1 };
  /** Both lists change only when another market is listed. */
  const listsAt = (at: number) => {
    const count =
      marketTimes.length === 0 || at >= (marketTimes.at(-1) ?? 0) ? marketTimes.length : countUpTo(marketTimes, at);
    if (count !== known.count) {
      const present = keyed.filter((entry) => entry.at <= at).map((entry) => entry.event);
      const markets = present
        .flatMap((event) => event.markets)
        .filter(({ recorded }) => (recorded?.listedAt ?? 0) <= at);
      known = { events: present, markets, count };
    }
    return known;
  };
  return { records, eventsAt: (at) => listsAt(at).events, marketsAt: (at) => listsAt(at).markets };
}

function countUpTo(times: readonly number[], at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function listEvent(
  venue: SandboxVenue,
  group: readonly MarketRecord[],
  events: ReadonlyMap<string, RecordedEventFact>,
  numbers: { event: number; market: number },
  toWall: (at: number) => number,
): ListedEvent {
  const first = group[0]?.first;
  const eventId = first?.eventId ?? null;
  const fact = eventId === null ? undefined : events.get(eventId);
  const markets: ListedMarket[] = [];
  const event: ListedEvent = {
    venue,
    index: numbers.event++,
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
    openAt: Math.min(...group.map((record) => openOf(record, toWall))),
    closeAt:
      fact?.endAt != null
        ? toWall(fact.endAt)
        : Math.max(...group.map((record) => wallOrNever(record.first.closeAt, toWall))),
    markets,
    recorded: { eventId, url: fact?.url ?? null },
  };
  for (const [position, record] of group.entries())
    markets.push(listMarket(event, position, record, numbers.market++, toWall));
  return event;
}

type MarketFact = MarketRecord["first"];

/** Of an event that no line tells of: the part of the market's title before its own name. */
function titleOf(market: MarketFact | undefined): string {
  if (market === undefined) return "";
  const suffix = ` — ${market.outcomeLabel}`;
  return market.title.endsWith(suffix) ? market.title.slice(0, -suffix.length) : market.title;
}

function openOf({ first, listedAt }: MarketRecord, toWall: (at: number) => number): number {
  return first.openAt === null ? listedAt : Math.min(listedAt, toWall(first.openAt));
}

const wallOrNever = (at: number | null, toWall: (at: number) => number) =>
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
  const isAnswered = ({ phase }: { readonly phase: string }) => phase === "determined" || phase === "finalized";
  const lastOpen = statuses.findLastIndex(({ phase }) => phase !== "finalized");
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
    tick: first.tickSize ?? FINEST_TICK,
    openAt: openOf(record, toWall),
    closeAt: wallOrNever(first.closeAt, toWall),
    determineAt: statuses.find(isAnswered)?.at ?? Number.POSITIVE_INFINITY,
    disputed: false,
    finalizeAt: statuses[lastOpen + 1]?.at ?? Number.POSITIVE_INFINITY,
    recorded: {
      marketId: first.marketId,
      keys: first.venueKeys,
      url: first.url,
      label: first.outcomeLabel,
      listedAt,
      openAt: wall(first.openAt),
      expectedResolutionAt: wall(first.expectedResolutionAt),
      tickSize: first.tickSize,
      takerFee: feeOf(first),
    },
  };
}

function feeOf({ takerFee }: MarketFact): RecordedFee | null {
  if (takerFee === null || takerFee.kind === "none" || takerFee.kind === "quadratic") return takerFee;
  return { kind: takerFee.kind };
}
