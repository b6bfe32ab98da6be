import type { BookState, Level, Lifecycle, ListedMarket, Phase, World } from "../../world/types.ts";
import { kalshiEventTicker, kalshiTicker } from "./ids.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Prices of the previous day are recalculated this often per market. */
const PREVIOUS_STEP_MS = 10 * 60_000;

/** Dollars with four decimals, or six for prices finer than 0.0001. */
export function dollars(value: number): string {
  const micros = Math.round(value * 1e6);
  return (micros / 1e6).toFixed(micros % 100 === 0 ? 4 : 6);
}

/** Contracts with two decimals; null stays null. */
export function count(value: number): string;
export function count(value: number | null): string | null;
export function count(value: number | null): string | null {
  return value === null ? null : value.toFixed(2);
}

/** 1 - price, rounded to six decimals. */
export function opposite(price: number): number {
  return Math.round((1 - price) * 1e6) / 1e6;
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** ISO time; null for Infinity, the time of an unknown date in a recording. */
export function isoOrNull(at: number): string | null {
  return Number.isFinite(at) ? iso(at) : null;
}

const RAW_STATUS: Readonly<Record<Phase, string>> = {
  pending: "initialized",
  active: "active",
  paused: "inactive",
  closed: "closed",
  determined: "determined",
  disputed: "disputed",
  finalized: "finalized",
};

/** When trading ended or is scheduled to end. An early settlement moves the close to an earlier time. */
export function closeTimeOf(world: World, market: ListedMarket, phase: Phase): number {
  if (phase === "pending" || phase === "active" || phase === "paused") return market.closeAt;
  const { phase: previousPhase, since } = world.lifecycle(market, market.determineAt - 1);
  return previousPhase === "closed" ? since : market.closeAt;
}

/** Payout of one YES contract; null before determination. A void market settles at its last price. */
export function settlementValue(world: World, market: ListedMarket, lifecycle: Lifecycle): number | null {
  const { outcome } = lifecycle;
  if (outcome === null) return null;
  if (outcome.kind === "yes") return 1;
  if (outcome.kind === "no") return 0;
  if (outcome.kind === "partial") return outcome.value;
  return world.book(market, market.determineAt).lastPrice ?? 0.5;
}

export function resultOf({ outcome }: Lifecycle): "" | "yes" | "no" | "scalar" {
  if (outcome === null) return "";
  return outcome.kind === "yes" || outcome.kind === "no" ? outcome.kind : "scalar";
}

const staticFieldsCache = new WeakMap<ListedMarket, Readonly<Record<string, unknown>>>();

/** The fields of a market that never change. */
function staticFields(market: ListedMarket): Readonly<Record<string, unknown>> {
  const cached = staticFieldsCache.get(market);
  if (cached !== undefined) return cached;
  const { strike, tick, label, recorded } = market;
  const [primary = "", ...secondary] = market.rules.split("\n\n");
  const fields = {
    ticker: kalshiTicker(market),
    event_ticker: kalshiEventTicker(market.event),
    market_type: "binary",
    title: market.question,
    subtitle: label,
    yes_sub_title: label,
    no_sub_title: label === "Yes" ? "No" : label,
    ...(recorded === undefined
      ? {
          created_time: iso(market.openAt),
          open_time: iso(market.openAt),
          expected_expiration_time: iso(market.closeAt + HOUR_MS),
          expiration_time: iso(market.closeAt + 7 * DAY_MS),
          latest_expiration_time: iso(market.closeAt + 7 * DAY_MS),
        }
      : {
          open_time: recorded.openAt === null ? null : iso(recorded.openAt),
          expected_expiration_time: recorded.expectedResolutionAt === null ? null : iso(recorded.expectedResolutionAt),
        }),
    settlement_timer_seconds: market.event.frequency === "fifteen_min" ? 30 : 3_600,
    occurrence_datetime: null,
    fee_waiver_expiration_time: null,
    notional_value_dollars: "1.0000",
    liquidity_dollars: "0.0000",
    can_close_early: true,
    early_close_condition: null,
    ...(strike === null ? {} : { strike_type: strike.type, floor_strike: strike.floor, cap_strike: strike.cap }),
    functional_strike: null,
    custom_strike: null,
    primary_participant_key: null,
    rules_primary: primary,
    rules_secondary: secondary.join("\n\n"),
    ...(recorded?.tickSize === null
      ? {}
      : {
          price_level_structure: tick < 0.01 ? "deci_cent" : "linear_cent",
          price_ranges: [{ start: "0.0000", end: "1.0000", step: dollars(tick) }],
        }),
    exchange_index: 0,
  };
  staticFieldsCache.set(market, fields);
  return fields;
}

export interface TopOfBook {
  readonly yes_bid_dollars: string;
  readonly yes_bid_size_fp: string | null;
  readonly yes_ask_dollars: string;
  readonly yes_ask_size_fp: string | null;
}

function sizeOf(level: Level | undefined): string | null {
  return level?.isSizeUnknown === true ? null : count(level?.size ?? 0);
}

/** An empty side is a bid of 0 or an ask of 1. */
export function topOfBook(book: BookState): TopOfBook {
  return {
    yes_bid_dollars: dollars(book.bids[0]?.price ?? 0),
    yes_bid_size_fp: sizeOf(book.bids[0]),
    yes_ask_dollars: dollars(book.asks[0]?.price ?? 1),
    yes_ask_size_fp: sizeOf(book.asks[0]),
  };
}

interface PreviousFields {
  readonly step: number;
  readonly fields: Readonly<Record<string, string>>;
}
const previousFieldsCache = new WeakMap<ListedMarket, PreviousFields>();

/** The prices of one day ago. */
function previousFields(world: World, market: ListedMarket, at: number): Readonly<Record<string, string>> {
  const step = Math.floor((at - DAY_MS) / PREVIOUS_STEP_MS);
  const cached = previousFieldsCache.get(market);
  if (cached?.step === step) return cached.fields;
  const dayAgo = step * PREVIOUS_STEP_MS;
  const book = dayAgo < market.openAt ? null : world.book(market, dayAgo);
  const fields = {
    previous_yes_bid_dollars: dollars(book?.bids[0]?.price ?? 0),
    previous_yes_ask_dollars: dollars(book?.asks[0]?.price ?? 1),
    previous_price_dollars: dollars(book?.lastPrice ?? 0),
  };
  previousFieldsCache.set(market, { step, fields });
  return fields;
}

/** REST representation of a market at time `at`. */
export function marketJson(world: World, market: ListedMarket, at: number): Record<string, unknown> {
  const lifecycle = world.lifecycle(market, at);
  const book = world.book(market, at);
  const activity = world.activity(market, at);
  const top = topOfBook(book);
  const value = settlementValue(world, market, lifecycle);
  const { phase } = lifecycle;
  const changedAt = phase === "pending" ? market.openAt : Math.max(market.openAt, lifecycle.since);
  return {
    ...staticFields(market),
    status: RAW_STATUS[phase],
    updated_time: iso(changedAt),
    close_time: isoOrNull(closeTimeOf(world, market, phase)),
    ...top,
    no_bid_dollars: dollars(opposite(Number(top.yes_ask_dollars))),
    no_ask_dollars: dollars(opposite(Number(top.yes_bid_dollars))),
    last_price_dollars: dollars(book.lastPrice ?? 0),
    ...previousFields(world, market, at),
    volume_fp: count(activity.volumeContracts),
    volume_24h_fp: count(activity.volume24hContracts),
    open_interest_fp: count(activity.openInterestContracts),
    result: resultOf(lifecycle),
    expiration_value: lifecycle.outcome?.kind ?? "",
    ...(value === null ? {} : { settlement_value_dollars: dollars(value) }),
    settlement_ts: phase === "finalized" ? iso(market.finalizeAt) : null,
  };
}

/** Both sides are bids, worst first: the best `depth` levels of each, or all if `depth` is 0 or less. */
export function orderbookJson(book: BookState, depth: number): { yes_dollars: string[][]; no_dollars: string[][] } {
  const bestLevels = <Item>(levels: readonly Item[]) => (depth > 0 ? levels.slice(0, depth) : levels);
  return {
    yes_dollars: bestLevels(book.bids)
      .map(({ price, size }) => [dollars(price), count(size)])
      .reverse(),
    no_dollars: bestLevels(book.asks)
      .map(({ price, size }) => [dollars(opposite(price)), count(size)])
      .reverse(),
  };
}
