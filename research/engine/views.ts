/** Creates the views that markets had at a past time, from the rows of a file. */
import type { EventView, LegView, MarketView, PricePoint } from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { ResolvedRow } from "./rows.ts";
import { venueOf } from "./venues.ts";

/** Maximum age of the price of a leg. */
const LEG_AGE_MS_MAX = 3 * DAY_MS;
/** Outcomes whose prices sum to more than this do not exclude each other. */
const SUM_MAX = 1.25;
/** With a smaller sum, an outcome is missing. */
const SUM_MIN_EXHAUSTIVE = 0.9;
/** "Will X happen by T": the close is a deadline. */
const DEADLINE_TITLE = /^will\b.*\b(by|before)\b/i;

/** A resolved question with parsed times. Views are created from it. */
export interface History {
  readonly row: ResolvedRow;
  readonly group: string;
  readonly resolvedAt: number;
  readonly prices: readonly PricePoint[];
  readonly openAt: number | null;
  /** Null if unknown, or later than the newest resolution of the file. */
  readonly closeAt: number | null;
  /** Histories of the same venue and event, this one included; empty without an event. */
  readonly event: readonly History[];
}

/**
 * Questions with a deadline after the last resolution of the file are in it only because they ended early. Their
 * deadline reveals the outcome, so it is not used.
 */
export function toHistories(rows: readonly ResolvedRow[]): History[] {
  const lastResolution = rows.reduce((last, row) => Math.max(last, Date.parse(row.resolved_at)), 0);
  const events = new Map<string, History[]>();
  return rows.map((row) => {
    const closeAt = timeOf(row.close_at);
    const key = row.event_id == null ? null : `${row.venue} ${row.event_id}`;
    const event = key === null ? [] : (events.get(key) ?? []);
    if (key !== null) events.set(key, event);
    const history: History = {
      row,
      group: row.group ?? `${row.venue} ${row.event_id ?? row.market_id}`,
      resolvedAt: Date.parse(row.resolved_at),
      prices: row.prices.map(([at, yesPrice]) => ({ at: Date.parse(at), yesPrice })).sort((a, b) => a.at - b.at),
      openAt: timeOf(row.created_at),
      closeAt: closeAt === null || closeAt > lastResolution ? null : closeAt,
      event,
    };
    event.push(history);
    return history;
  });
}

const timeOf = (text: string | null | undefined): number | null => (text == null ? null : Date.parse(text));

/** The view omits the outcome, the time of resolution, the final volume, and the category, which is often a guess. */
export function viewOf(history: History, asOf: number): MarketView {
  const { row, closeAt } = history;
  const { kind, fee } = venueOf(row.venue);
  const title = row.title ?? "";
  return {
    ...createView(row.venue, row.market_id, asOf),
    title,
    kind,
    takerFee: fee,
    openAt: history.openAt !== null && history.openAt <= asOf ? history.openAt : null,
    closeAt,
    deadlineAt: DEADLINE_TITLE.test(title) ? closeAt : null,
    prices: pricesUntil(history.prices, asOf),
    event: eventOf(history, asOf),
  };
}

/** A view without data. */
export function createView(venue: string, marketId: string, asOf: number): MarketView {
  const { kind, fee } = venueOf(venue);
  return {
    asOf,
    venue,
    adapter: venue,
    marketId,
    title: "",
    category: null,
    kind,
    openAt: null,
    closeAt: null,
    deadlineAt: null,
    takerFee: fee,
    quote: null,
    prices: [],
    book: null,
    trades: [],
    activity: null,
    peers: [],
    event: null,
    consensus: null,
    research: null,
  };
}

/**
 * The markets of an event in a file exclude each other: the files list the sides of a contest and the ranges of a
 * measure. Prices that sum to more than 1.25 contradict that, so the event is omitted. Prices that sum to less
 * than 0.9 show that an outcome is missing.
 */
function eventOf({ event }: History, asOf: number): EventView | null {
  const legs = event.flatMap((history): LegView[] => {
    const price = history.prices.findLast(({ at }) => at <= asOf);
    if (price === undefined || asOf - price.at > LEG_AGE_MS_MAX) return [];
    return [{ marketId: history.row.market_id, label: history.row.title ?? "", ...price, spread: null }];
  });
  const sum = legs.reduce((total, { yesPrice }) => total + yesPrice, 0);
  if (legs.length < 2 || sum > SUM_MAX) return null;
  return { isExclusive: true, isExhaustive: sum >= SUM_MIN_EXHAUSTIVE, legs, ladder: null };
}

/** `prices` must be in time order. */
function pricesUntil(prices: readonly PricePoint[], asOf: number): readonly PricePoint[] {
  const next = prices.findIndex(({ at }) => at > asOf);
  return next === -1 ? prices : prices.slice(0, next);
}
