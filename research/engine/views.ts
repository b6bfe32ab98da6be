/** Creates market views as of a past time, from resolved questions. */
import type { EventView, LegView, MarketView, PricePoint } from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { ResolvedRow } from "./rows.ts";
import { venueOf } from "./venues.ts";

/** Maximum age of an event leg's price. */
const LEG_AGE_MS_MAX = 3 * DAY_MS;
/** Maximum sum of the prices of mutually exclusive outcomes. */
const SUM_MAX = 1.25;
/** Minimum sum of the prices of an exhaustive set of outcomes. */
const SUM_MIN_EXHAUSTIVE = 0.9;
/** Matches "Will X happen by T". The closing time of such a question is a deadline. */
const DEADLINE_TITLE = /^will\b.*\b(by|before)\b/i;

/** A resolved question with parsed times. */
export interface QuestionHistory {
  readonly row: ResolvedRow;
  readonly group: string;
  readonly resolvedAt: number;
  readonly prices: readonly PricePoint[];
  readonly openAt: number | null;
  /** Closing time in Unix milliseconds; null if unknown or after the last resolution in the file. */
  readonly closeAt: number | null;
  /** All questions of the same venue and event, including this one; only this one without an event. */
  readonly event: readonly QuestionHistory[];
}

/**
 * Parses the rows of a file. A question whose deadline is after the last resolution in the file must have resolved
 * early. Such a deadline reveals the outcome, so it is set to null.
 */
export function toQuestionHistories(rows: readonly ResolvedRow[]): QuestionHistory[] {
  const lastResolution = rows.reduce((last, row) => Math.max(last, Date.parse(row.resolved_at)), 0);
  const events = new Map<string, QuestionHistory[]>();
  return rows.map((row) => {
    const closeAt = timeOf(row.close_at);
    const key = row.event_id == null ? null : `${row.venue} ${row.event_id}`;
    const event = key === null ? [] : (events.get(key) ?? []);
    if (key !== null) events.set(key, event);
    const history: QuestionHistory = {
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

/**
 * Creates the view of a question as of `asOf`. The view omits the outcome, the resolution time, the final volume, and
 * the category, which is often a guess.
 */
export function viewQuestion(history: QuestionHistory, asOf: number): MarketView {
  const { row, closeAt } = history;
  const { kind, fee } = venueOf(row.venue);
  const title = row.title ?? "";
  return {
    ...createEmptyView(row.venue, row.market_id, asOf),
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

/** Creates a view with venue, market id and fee only. */
export function createEmptyView(venue: string, marketId: string, asOf: number): MarketView {
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
 * Creates the event of a view. The markets of an event are assumed to be mutually exclusive, because the files contain
 * the sides of a contest or the ranges of a quantity. If their prices sum to more than 1.25, the assumption is wrong
 * and the event is null. If they sum to less than 0.9, an outcome is missing: the event is not exhaustive.
 */
function eventOf({ event }: QuestionHistory, asOf: number): EventView | null {
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
