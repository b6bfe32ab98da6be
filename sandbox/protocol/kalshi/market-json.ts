import { cacheByObject } from "../../../src/lib/cache-by-object.ts";
import { toIso } from "../../../src/lib/dates/iso-time.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { BookState, Level, Lifecycle, ListedMarket, Phase, PriceBand, World } from "../../world/types.ts";
import { kalshiEventTicker, kalshiTicker } from "./ids.ts";

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

/** Price of the opposite outcome: 1 - price, rounded to six decimals. */
export const toOppositePrice = (price: number): number => Math.round((1 - price) * 1e6) / 1e6;

/** Formats an ISO time. Returns null for Infinity, which means an unknown date in a recording. */
export const formatIsoOrNull = (at: number): string | null => (Number.isFinite(at) ? toIso(at) : null);

const STATUS_BY_PHASE: Readonly<Record<Phase, string>> = {
  pending: "initialized",
  active: "active",
  paused: "inactive",
  closed: "closed",
  determined: "determined",
  disputed: "disputed",
  finalized: "finalized",
};

/** Returns the time at which trading ended or is scheduled to end. A settlement before `closeAt` ends trading. */
export function closeTimeOf(world: World, market: ListedMarket, phase: Phase): number {
  if (phase === "pending" || phase === "active" || phase === "paused") return market.closeAt;
  const { phase: previousPhase, since } = world.lifecycle(market, market.determineAt - 1);
  return previousPhase === "closed" ? since : market.closeAt;
}

/** Returns the time at which the market was listed or last changed its phase. */
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

function resultOf({ outcome }: Lifecycle): "" | "yes" | "no" | "scalar" {
  if (outcome === null) return "";
  return outcome.kind === "yes" || outcome.kind === "no" ? outcome.kind : "scalar";
}

/** Returns the fields of a market that never change. */
const presentStaticFields = cacheByObject((market: ListedMarket): Readonly<Record<string, unknown>> => {
  const { bands, label, recorded } = market;
  const [primary = "", ...secondary] = market.rules.split("\n\n");
  return {
    ticker: kalshiTicker(market),
    event_ticker: kalshiEventTicker(market.event),
    market_type: "binary",
    title: market.question,
    yes_sub_title: label,
    ...(recorded === undefined
      ? {
          open_time: toIso(market.openAt),
          expected_expiration_time: toIso(market.closeAt + HOUR_MS),
          latest_expiration_time: toIso(market.closeAt + 7 * DAY_MS),
        }
      : {
          open_time: recorded.openAt === null ? null : toIso(recorded.openAt),
          expected_expiration_time:
            recorded.expectedResolutionAt === null ? null : toIso(recorded.expectedResolutionAt),
        }),
    rules_primary: primary,
    rules_secondary: secondary.join("\n\n"),
    ...(recorded?.priceBands === null ? {} : presentPriceGrid(bands)),
  };
});

function presentPriceGrid(bands: readonly PriceBand[]) {
  return {
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

/** REST representation of a market at time `at`. */
export function presentMarket(world: World, market: ListedMarket, at: number): Record<string, unknown> {
  const lifecycle = world.lifecycle(market, at);
  const book = world.book(market, at);
  const activity = world.activity(market, at);
  const value = kalshiSettlementValue(world, market, lifecycle);
  const { phase } = lifecycle;
  return {
    ...presentStaticFields(market),
    status: STATUS_BY_PHASE[phase],
    close_time: formatIsoOrNull(closeTimeOf(world, market, phase)),
    ...presentTopOfBook(book),
    last_price_dollars: formatDollars(book.lastPrice ?? 0),
    volume_fp: formatContracts(activity.volumeContracts),
    volume_24h_fp: formatContracts(activity.volume24hContracts),
    open_interest_fp: formatContracts(activity.openInterestContracts),
    result: resultOf(lifecycle),
    ...(value === null ? {} : { settlement_value_dollars: formatDollars(value) }),
    ...(phase === "finalized" ? { settlement_ts: toIso(market.finalizeAt) } : {}),
  };
}

/** Returns both sides as bids, worst level first. */
export function presentOrderBook(book: BookState): { yes_dollars: string[][]; no_dollars: string[][] } {
  return {
    yes_dollars: book.bids.map(({ price, size }) => [formatDollars(price), formatContracts(size)]).reverse(),
    no_dollars: book.asks
      .map(({ price, size }) => [formatDollars(toOppositePrice(price)), formatContracts(size)])
      .reverse(),
  };
}
