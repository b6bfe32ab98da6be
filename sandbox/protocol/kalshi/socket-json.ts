import type { BookState, FeedEvent, ListedMarket, World } from "../../world/types.ts";
import { kalshiTicker, kalshiTradeId } from "./ids.ts";
import { closeTimeOf, formatContracts, formatDollars, presentTopOfBook, toOppositePrice } from "./market-json.ts";

/** Creates a message of the ticker channel: the top of the book at time `at`. */
export function createTickerMessage(world: World, market: ListedMarket, at: number): Record<string, unknown> {
  const book = world.book(market, at);
  return {
    market_ticker: kalshiTicker(market),
    price_dollars: formatDollars(book.lastPrice ?? 0),
    ...presentTopOfBook(book),
    ts_ms: at,
  };
}

export function createTradeMessage({ market, trade }: FeedEvent & { kind: "trade" }): Record<string, unknown> {
  return {
    trade_id: kalshiTradeId(trade),
    market_ticker: kalshiTicker(market),
    yes_price_dollars: formatDollars(trade.yesPrice),
    count_fp: formatContracts(trade.size),
    taker_outcome_side: trade.takerSide,
    is_block_trade: false,
    ts_ms: trade.at,
  };
}

/** Returns the event type of `market_lifecycle_v2`, or null for changes that the venue does not publish. */
export function lifecycleEventType(
  world: World,
  { market, from, to }: FeedEvent & { kind: "lifecycle" },
): string | null {
  if (to === "active") return from === "paused" ? "activated" : null;
  if (to === "paused") return "deactivated";
  if (to === "closed") return closeTimeOf(world, market, to) < market.closeAt ? "close_date_updated" : null;
  if (to === "determined") return "determined";
  return to === "finalized" ? "settled" : null;
}

/** Size of resting orders by side and price. */
export type Ladders = Readonly<Record<"yes" | "no", ReadonlyMap<string, number>>>;

export function toLadders(book: BookState): Ladders {
  return {
    yes: new Map(book.bids.map(({ price, size }) => [formatDollars(price), size])),
    no: new Map(book.asks.map(({ price, size }) => [formatDollars(toOppositePrice(price)), size])),
  };
}

/** Creates an order book snapshot. The field of an empty side is absent. */
export function createSnapshotMessage(market: ListedMarket, ladders: Ladders): Record<string, unknown> {
  const levels = (side: "yes" | "no") =>
    [...ladders[side]].map(([price, size]) => [price, formatContracts(size)]).reverse();
  return {
    market_ticker: kalshiTicker(market),
    ...(ladders.yes.size === 0 ? {} : { yes_dollars_fp: levels("yes") }),
    ...(ladders.no.size === 0 ? {} : { no_dollars_fp: levels("no") }),
  };
}

/** Creates one message per changed level. */
export function createDeltaMessages(market: ListedMarket, before: Ladders, after: Ladders, at: number): object[] {
  const messages: object[] = [];
  for (const side of ["yes", "no"] as const) {
    for (const price of new Set([...before[side].keys(), ...after[side].keys()])) {
      const delta = (after[side].get(price) ?? 0) - (before[side].get(price) ?? 0);
      if (delta === 0) continue;
      messages.push({
        market_ticker: kalshiTicker(market),
        price_dollars: price,
        delta_fp: formatContracts(delta),
        side,
        ts_ms: at,
      });
    }
  }
  return messages;
}
