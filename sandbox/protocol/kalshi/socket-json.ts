import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { BookState, FeedEvent, ListedEvent, ListedMarket, World } from "../../world/types.ts";
import { presentEvent } from "./event-json.ts";
import { deriveUuid, kalshiEventTicker, kalshiTicker, kalshiTradeId } from "./ids.ts";
import {
  closeTimeOf,
  formatContracts,
  formatDollars,
  kalshiSettlementValue,
  presentTopOfBook,
  resultOf,
  toOppositePrice,
  toWholeDollars,
} from "./market-json.ts";

const toSeconds = (at: number) => Math.floor(at / 1_000);

function presentMarketIds(market: ListedMarket): { market_ticker: string; market_id: string } {
  const ticker = kalshiTicker(market);
  return { market_ticker: ticker, market_id: deriveUuid(ticker) };
}

/** Message of the ticker channel: top of the book at time `at`. */
export function createTickerMessage(world: World, market: ListedMarket, at: number): Record<string, unknown> {
  const book = world.book(market, at);
  const activity = world.activity(market, at);
  const lastTrade = world.trades(market, at, at + 1).at(-1);
  return {
    ...presentMarketIds(market),
    price_dollars: formatDollars(book.lastPrice ?? 0),
    ...presentTopOfBook(book),
    last_trade_size_fp: formatContracts(lastTrade?.size ?? 0),
    volume_fp: formatContracts(activity.volumeContracts),
    open_interest_fp: formatContracts(activity.openInterestContracts),
    dollar_volume: toWholeDollars(activity.volumeContracts),
    dollar_open_interest: toWholeDollars(activity.openInterestContracts),
    ts_ms: at,
    ts: toSeconds(at),
    time: toIso(at),
  };
}

export function createTradeMessage({ market, trade }: FeedEvent & { kind: "trade" }): Record<string, unknown> {
  return {
    trade_id: kalshiTradeId(trade),
    market_ticker: kalshiTicker(market),
    yes_price_dollars: formatDollars(trade.yesPrice),
    no_price_dollars: formatDollars(toOppositePrice(trade.yesPrice)),
    count_fp: formatContracts(trade.size),
    taker_side: trade.takerSide,
    taker_outcome_side: trade.takerSide,
    taker_book_side: trade.takerSide === "yes" ? "bid" : "ask",
    is_block_trade: false,
    ts: toSeconds(trade.at),
    ts_ms: trade.at,
  };
}

/** Returns a message of `market_lifecycle_v2`, or null for changes that the venue does not publish. */
export function createLifecycleMessage(
  world: World,
  { market, from, to, at }: FeedEvent & { kind: "lifecycle" },
): Record<string, unknown> | null {
  const market_ticker = kalshiTicker(market);
  if (to === "active")
    return from === "paused" ? { event_type: "activated", market_ticker, is_deactivated: false } : null;
  if (to === "paused") return { event_type: "deactivated", market_ticker, is_deactivated: true };
  if (to === "closed") {
    const closeAt = closeTimeOf(world, market, to);
    if (closeAt >= market.closeAt) return null;
    return { event_type: "close_date_updated", market_ticker, close_ts: toSeconds(closeAt) };
  }
  const lifecycle = world.lifecycle(market, at);
  if (to === "determined") {
    return {
      event_type: "determined",
      market_ticker,
      result: resultOf(lifecycle),
      settlement_value: formatDollars(kalshiSettlementValue(world, market, lifecycle) ?? 0),
      determination_ts: toSeconds(market.determineAt),
    };
  }
  return to === "finalized" ? { event_type: "settled", market_ticker, settled_ts: toSeconds(market.finalizeAt) } : null;
}

export function createMarketListedMessage(market: ListedMarket): Record<string, unknown> {
  return {
    event_type: "created",
    market_ticker: kalshiTicker(market),
    open_ts: toSeconds(market.openAt),
    close_ts: Number.isFinite(market.closeAt) ? toSeconds(market.closeAt) : null,
    additional_metadata: {
      name: market.label,
      title: market.question,
      yes_sub_title: market.label,
      rules_primary: market.rules,
      event_ticker: kalshiEventTicker(market.event),
      can_close_early: true,
    },
  };
}

export function createEventListedMessage(event: ListedEvent): Record<string, unknown> {
  const { event_ticker, series_ticker, title, sub_title: subtitle, collateral_return_type } = presentEvent(event);
  return { event_ticker, series_ticker, title, subtitle, collateral_return_type };
}

/** Size of resting orders by side and price. The prices of the "no" side depend on `usesYesPrices`. */
export type Ladders = Readonly<Record<"yes" | "no", ReadonlyMap<string, number>>>;

export function toLadders(book: BookState, usesYesPrices: boolean): Ladders {
  return {
    yes: new Map(book.bids.map(({ price, size }) => [formatDollars(price), size])),
    no: new Map(
      book.asks.map(({ price, size }) => [formatDollars(usesYesPrices ? price : toOppositePrice(price)), size]),
    ),
  };
}

/** Order book snapshot; the field of an empty side is absent. */
export function createSnapshotMessage(market: ListedMarket, ladders: Ladders): Record<string, unknown> {
  const levels = (side: "yes" | "no") =>
    [...ladders[side]].map(([price, size]) => [price, formatContracts(size)]).reverse();
  return {
    ...presentMarketIds(market),
    ...(ladders.yes.size === 0 ? {} : { yes_dollars_fp: levels("yes") }),
    ...(ladders.no.size === 0 ? {} : { no_dollars_fp: levels("no") }),
  };
}

/** One message per changed level. */
export function createDeltaMessages(market: ListedMarket, before: Ladders, after: Ladders, at: number): object[] {
  const messages: object[] = [];
  for (const side of ["yes", "no"] as const) {
    for (const price of new Set([...before[side].keys(), ...after[side].keys()])) {
      const delta = (after[side].get(price) ?? 0) - (before[side].get(price) ?? 0);
      if (delta === 0) continue;
      messages.push({
        ...presentMarketIds(market),
        price_dollars: price,
        delta_fp: formatContracts(delta),
        side,
        ts_ms: at,
      });
    }
  }
  return messages;
}
