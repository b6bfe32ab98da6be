import { toIso } from "../../../src/lib/dates/iso-time.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { BookState, Level, Lifecycle, ListedMarket, Phase, PriceBand, World } from "../../world/types.ts";
import { kalshiEventTicker, kalshiTicker } from "./ids.ts";

/** Interval between recalculations of a market's prices of the previous day. */
const PREVIOUS_PRICES_INTERVAL_MS = 10 * 60_000;

/** Formats dollars with four decimals, or with six if the value is not a multiple of 0.0001. */
export function formatDollars(value: number): string {
  const micros = Math.round(value * 1e6);
  return (micros / 1e6).toFixed(micros % 100 === 0 ? 4 : 6);
}

/** Formats contracts with two decimals; returns null for null. */
export function formatContracts(value: number): string;
export function formatContracts(value: number | null): string | null;
export function formatContracts(value: number | null): string | null {
  return value === null ? null : value.toFixed(2);
}

/** Kalshi's dollar amount of a number of contracts: half of it, in whole dollars. Returns null for null. */
export function toWholeDollars(contracts: number | null): number | null {
  return contracts === null ? null : Math.floor(contracts / 2);
}

/** Price of the opposite outcome: 1 - price, rounded to six decimals. */
export function toOppositePrice(price: number): number {
  return Math.round((1 - price) * 1e6) / 1e6;
}

/** Formats an ISO time. Returns null for Infinity, which stands for an unknown date in a recording. */
export function formatIsoOrNull(at: number): string | null {
  return Number.isFinite(at) ? toIso(at) : null;
}

const STATUS_BY_PHASE: Readonly<Record<Phase, string>> = {
  pending: "initialized",
  active: "active",
  paused: "inactive",
  closed: "closed",
  determined: "determined",
  disputed: "disputed",
  finalized: "finalized",
};

/** Returns when trading ended or is scheduled to end. An early settlement ends trading before `closeAt`. */
export function closeTimeOf(world: World, market: ListedMarket, phase: Phase): number {
  if (phase === "pending" || phase === "active" || phase === "paused") return market.closeAt;
  const { phase: previousPhase, since } = world.lifecycle(market, market.determineAt - 1);
  return previousPhase === "closed" ? since : market.closeAt;
}

/** Returns when the market was listed or last changed its phase. Trading does not change it. */
export function updatedTimeOf(market: ListedMarket, { phase, since }: Lifecycle): number {
  return phase === "pending" ? (market.recorded?.listedAt ?? market.openAt) : Math.max(market.openAt, since);
}

/** Returns the payout of a YES contract in dollars, or null before determination. A void market pays its last price. */
export function kalshiSettlementValue(world: World, market: ListedMarket, lifecycle: Lifecycle): number | null {
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

/** Returns the fields of a market that never change. */
function presentStaticFields(market: ListedMarket): Readonly<Record<string, unknown>> {
  const cached = staticFieldsCache.get(market);
  if (cached !== undefined) return cached;
  const { strike, bands, label, recorded } = market;
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
          created_time: toIso(market.openAt),
          open_time: toIso(market.openAt),
          expected_expiration_time: toIso(market.closeAt + HOUR_MS),
          expiration_time: toIso(market.closeAt + 7 * DAY_MS),
          latest_expiration_time: toIso(market.closeAt + 7 * DAY_MS),
        }
      : {
          open_time: recorded.openAt === null ? null : toIso(recorded.openAt),
          expected_expiration_time:
            recorded.expectedResolutionAt === null ? null : toIso(recorded.expectedResolutionAt),
        }),
    settlement_timer_seconds: market.event.frequency === "fifteen_min" ? 30 : 3_600,
    notional_value_dollars: "1.0000",
    liquidity_dollars: "0.0000",
    can_close_early: true,
    early_close_condition: "Trading ends early if the outcome is known before the closing time.",
    // JSON omits undefined values. The venue omits fields without a value; it does not send null.
    strike_type: strike?.type,
    floor_strike: strike?.floor ?? undefined,
    cap_strike: strike?.cap ?? undefined,
    rules_primary: primary,
    rules_secondary: secondary.join("\n\n"),
    ...(recorded?.priceBands === null ? {} : presentPriceGrid(bands)),
    exchange_index: 0,
  };
  staticFieldsCache.set(market, fields);
  return fields;
}

const STRUCTURE_BY_STEP: Readonly<Record<number, string>> = { 0.01: "linear_cent", 0.001: "deci_cent" };

/** Returns the price grid of a market. The venue has a name for each; a recorded grid may have none. */
function presentPriceGrid(bands: readonly PriceBand[]) {
  const [first] = bands;
  const even = bands.length === 1 && first !== undefined ? STRUCTURE_BY_STEP[first.step] : undefined;
  return {
    price_level_structure: even ?? (bands.length > 1 ? "tapered_deci_cent" : "custom"),
    price_ranges: bands.map(({ from, to, step }) => ({
      start: formatDollars(from),
      end: formatDollars(to),
      step: formatDollars(step),
    })),
  };
}

export interface TopOfBook {
  readonly yes_bid_dollars: string;
  readonly yes_bid_size_fp: string | null;
  readonly yes_ask_dollars: string;
  readonly yes_ask_size_fp: string | null;
}

function sizeOf(level: Level | undefined): string | null {
  return level?.isSizeUnknown === true ? null : formatContracts(level?.size ?? 0);
}

/** Best bid and ask with sizes. An empty side has a bid of 0 or an ask of 1. */
export function presentTopOfBook(book: BookState): TopOfBook {
  return {
    yes_bid_dollars: formatDollars(book.bids[0]?.price ?? 0),
    yes_bid_size_fp: sizeOf(book.bids[0]),
    yes_ask_dollars: formatDollars(book.asks[0]?.price ?? 1),
    yes_ask_size_fp: sizeOf(book.asks[0]),
  };
}

interface PreviousFields {
  readonly step: number;
  readonly fields: Readonly<Record<string, string>>;
}
const previousFieldsCache = new WeakMap<ListedMarket, PreviousFields>();

/** Returns the price fields of one day ago. */
function presentPreviousFields(world: World, market: ListedMarket, at: number): Readonly<Record<string, string>> {
  const step = Math.floor((at - DAY_MS) / PREVIOUS_PRICES_INTERVAL_MS);
  const cached = previousFieldsCache.get(market);
  if (cached?.step === step) return cached.fields;
  const dayAgo = step * PREVIOUS_PRICES_INTERVAL_MS;
  const book = dayAgo < market.openAt ? null : world.book(market, dayAgo);
  const fields = {
    previous_yes_bid_dollars: formatDollars(book?.bids[0]?.price ?? 0),
    previous_yes_ask_dollars: formatDollars(book?.asks[0]?.price ?? 1),
    previous_price_dollars: formatDollars(book?.lastPrice ?? 0),
  };
  previousFieldsCache.set(market, { step, fields });
  return fields;
}

/** REST representation of a market at time `at`. */
export function presentMarket(world: World, market: ListedMarket, at: number): Record<string, unknown> {
  const lifecycle = world.lifecycle(market, at);
  const book = world.book(market, at);
  const activity = world.activity(market, at);
  const top = presentTopOfBook(book);
  const value = kalshiSettlementValue(world, market, lifecycle);
  const { phase } = lifecycle;
  return {
    ...presentStaticFields(market),
    status: STATUS_BY_PHASE[phase],
    updated_time: toIso(updatedTimeOf(market, lifecycle)),
    close_time: formatIsoOrNull(closeTimeOf(world, market, phase)),
    ...top,
    no_bid_dollars: formatDollars(toOppositePrice(Number(top.yes_ask_dollars))),
    no_ask_dollars: formatDollars(toOppositePrice(Number(top.yes_bid_dollars))),
    last_price_dollars: formatDollars(book.lastPrice ?? 0),
    ...presentPreviousFields(world, market, at),
    volume_fp: formatContracts(activity.volumeContracts),
    volume_24h_fp: formatContracts(activity.volume24hContracts),
    open_interest_fp: formatContracts(activity.openInterestContracts),
    result: resultOf(lifecycle),
    expiration_value: lifecycle.outcome?.kind ?? "",
    ...(value === null ? {} : { settlement_value_dollars: formatDollars(value) }),
    ...(phase === "finalized" ? { settlement_ts: toIso(market.finalizeAt) } : {}),
  };
}

/**
 * Returns both sides as bids, worst level first, with the best `depth` levels of each; all levels if `depth` is 0 or
 * less.
 */
export function presentOrderBook(book: BookState, depth: number): { yes_dollars: string[][]; no_dollars: string[][] } {
  const bestLevels = <Item>(levels: readonly Item[]) => (depth > 0 ? levels.slice(0, depth) : levels);
  return {
    yes_dollars: bestLevels(book.bids)
      .map(({ price, size }) => [formatDollars(price), formatContracts(size)])
      .reverse(),
    no_dollars: bestLevels(book.asks)
      .map(({ price, size }) => [formatDollars(toOppositePrice(price)), formatContracts(size)])
      .reverse(),
  };
}
