import type { BookState, FeedEvent, ListedEvent, ListedMarket, World } from "../../world/types.ts";
import { eventJson } from "./event-json.ts";
import { kalshiEventTicker, kalshiTicker, uuidOf } from "./ids.ts";
import { closeTimeOf, count, dollars, iso, opposite, resultOf, settlementValue, topOfBook } from "./market-json.ts";

const seconds = (at: number) => Math.floor(at / 1_000);

function marketIds(market: ListedMarket): { market_ticker: string; market_id: string } {
  const ticker = kalshiTicker(market);
  return { market_ticker: ticker, market_id: uuidOf(ticker) };
}

/** Message of the ticker channel: top of the book at time `at`. */
export function tickerMessage(world: World, market: ListedMarket, at: number): Record<string, unknown> {
  const book = world.book(market, at);
  const activity = world.activity(market, at);
  const lastTrade = world.trades(market, at, at + 1).at(-1);
  return {
    ...marketIds(market),
    price_dollars: dollars(book.lastPrice ?? 0),
    ...topOfBook(book),
    last_trade_size_fp: count(lastTrade?.size ?? 0),
    volume_fp: count(activity.volumeContracts),
    open_interest_fp: count(activity.openInterestContracts),
    dollar_volume: activity.volumeUsd === null ? null : Math.round(activity.volumeUsd),
    dollar_open_interest:
      activity.openInterestContracts === null
        ? null
        : Math.round(activity.openInterestContracts * (book.lastPrice ?? 0)),
    ts_ms: at,
    ts: seconds(at),
    time: iso(at),
  };
}

export function tradeMessage({ market, trade }: FeedEvent & { kind: "trade" }): Record<string, unknown> {
  return {
    trade_id: trade.recordedId ?? uuidOf(trade.id),
    market_ticker: kalshiTicker(market),
    yes_price_dollars: dollars(trade.yesPrice),
    no_price_dollars: dollars(opposite(trade.yesPrice)),
    count_fp: count(trade.size),
    taker_side: trade.takerSide,
    taker_outcome_side: trade.takerSide,
    taker_book_side: trade.takerSide === "yes" ? "bid" : "ask",
    is_block_trade: false,
    ts: seconds(trade.at),
    ts_ms: trade.at,
  };
}

/** Message of market_lifecycle_v2. Null for opening, closing and disputes, which the venue does not publish. */
export function lifecycleMessage(
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
    return { event_type: "close_date_updated", market_ticker, close_ts: seconds(closeAt) };
  }
  const lifecycle = world.lifecycle(market, at);
  if (to === "determined") {
    return {
      event_type: "determined",
      market_ticker,
      result: resultOf(lifecycle),
      settlement_value: dollars(settlementValue(world, market, lifecycle) ?? 0),
      determination_ts: seconds(market.determineAt),
    };
  }
  return to === "finalized" ? { event_type: "settled", market_ticker, settled_ts: seconds(market.finalizeAt) } : null;
}

export function createdMessage(market: ListedMarket): Record<string, unknown> {
  return {
    event_type: "created",
    market_ticker: kalshiTicker(market),
    open_ts: seconds(market.openAt),
    close_ts: Number.isFinite(market.closeAt) ? seconds(market.closeAt) : null,
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

export function eventMessage(event: ListedEvent): Record<string, unknown> {
  const { event_ticker, series_ticker, title, sub_title: subtitle, collateral_return_type } = eventJson(event);
  return { event_ticker, series_ticker, title, subtitle, collateral_return_type };
}

/** Resting size by side and price. The "no" side has NO prices unless the subscription uses YES prices. */
export type Ladders = Readonly<Record<"yes" | "no", ReadonlyMap<string, number>>>;

export function laddersOf(book: BookState, usesYesPrices: boolean): Ladders {
  return {
    yes: new Map(book.bids.map(({ price, size }) => [dollars(price), size])),
    no: new Map(book.asks.map(({ price, size }) => [dollars(usesYesPrices ? price : opposite(price)), size])),
  };
}

/** Order book snapshot; the key of an empty side is absent. */
export function snapshotMessage(market: ListedMarket, ladders: Ladders): Record<string, unknown> {
  const levels = (side: "yes" | "no") => [...ladders[side]].map(([price, size]) => [price, count(size)]).reverse();
  return {
    ...marketIds(market),
    ...(ladders.yes.size === 0 ? {} : { yes_dollars_fp: levels("yes") }),
    ...(ladders.no.size === 0 ? {} : { no_dollars_fp: levels("no") }),
  };
}

/** One message per changed level. */
export function deltaMessages(market: ListedMarket, before: Ladders, after: Ladders, at: number): object[] {
  const messages: object[] = [];
  for (const side of ["yes", "no"] as const) {
    for (const price of new Set([...before[side].keys(), ...after[side].keys()])) {
      const delta = (after[side].get(price) ?? 0) - (before[side].get(price) ?? 0);
      if (delta === 0) continue;
      messages.push({ ...marketIds(market), price_dollars: price, delta_fp: count(delta), side, ts_ms: at });
    }
  }
  return messages;
}
