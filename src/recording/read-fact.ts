import type { Static } from "typebox";
import type { EventListing, MarketListing, Outcome, Quote, TakerFee } from "../domain/market.ts";
import { type BookLevel, isCrossed, type OrderBook } from "../domain/order-book.ts";
import { type Fact, LineError, parseJson } from "./format.ts";
import {
  type BookLine,
  type EventLine,
  factValidators,
  type MarketLine,
  type OutcomeLine,
  type QuoteLine,
  type TakerFeeLine,
} from "./line-schemas.ts";

/** @throws LineFault if the line is not a valid fact */
export function readFact(line: string): Fact {
  const value = parseJson(line);
  const kind = typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(factValidators, kind))
    throw new LineError("not a fact of a known kind");
  switch (kind as Fact["kind"]) {
    case "event": {
      const row = validate("event", factValidators.event, value);
      return { at: row.at, venue: row.venue, kind: "event", event: eventOf(row) };
    }
    case "market": {
      const row = validate("market", factValidators.market, value);
      return { at: row.at, venue: row.venue, kind: "market", market: marketOf(row) };
    }
    case "quote": {
      const row = validate("quote", factValidators.quote, value);
      return { at: row.at, venue: row.venue, kind: "quote", marketId: row.market_id, quote: quoteOf(row) };
    }
    case "activity": {
      const row = validate("activity", factValidators.activity, value);
      const activity = {
        volume24hUsd: row.volume_24h_usd ?? null,
        volumeTotalUsd: row.volume_total_usd ?? null,
        liquidityUsd: row.liquidity_usd ?? null,
        openInterestUsd: row.open_interest_usd ?? null,
      };
      return { at: row.at, venue: row.venue, kind: "activity", marketId: row.market_id, activity };
    }
    case "book": {
      const row = validate("book", factValidators.book, value);
      return { at: row.at, venue: row.venue, kind: "book", marketId: row.market_id, book: bookOf(row) };
    }
    case "trade": {
      const row = validate("trade", factValidators.trade, value);
      const trade = {
        tradeId: row.trade_id,
        executedAt: row.executed_at,
        yesPrice: row.yes_price,
        size: row.size,
        takerSide: row.taker_side ?? null,
      };
      return { at: row.at, venue: row.venue, kind: "trade", marketId: row.market_id, trade };
    }
  }
}

interface Validator<Row> {
  Check(value: unknown): value is Row;
  Errors(value: unknown): Iterable<{ readonly instancePath: string; readonly message: string }>;
}

function validate<Row>(kind: string, validator: Validator<Row>, value: unknown): Row {
  if (validator.Check(value)) return value;
  const [first] = validator.Errors(value);
  throw new LineError(`invalid ${kind}: ${first?.instancePath || "the line"} ${first?.message ?? "is invalid"}`);
}

function eventOf(row: Static<typeof EventLine>): Omit<EventListing, "venue"> {
  return {
    eventId: row.event_id,
    title: row.title,
    description: row.description ?? null,
    category: row.category ?? null,
    url: row.url ?? null,
    mutuallyExclusive: row.mutually_exclusive ?? false,
    exhaustive: row.exhaustive ?? false,
    featured: row.featured ?? false,
    endAt: row.end_at ?? null,
  };
}

function marketOf(row: Static<typeof MarketLine>): Omit<MarketListing, "venue"> {
  return {
    marketId: row.market_id,
    eventId: row.event_id ?? null,
    title: row.title,
    outcomeLabel: row.outcome_label ?? null,
    url: row.url ?? null,
    category: row.category ?? null,
    status: row.status,
    paused: row.paused ?? false,
    outcome: outcomeOf(row.outcome),
    rules: row.rules ?? null,
    openAt: row.open_at ?? null,
    closeAt: row.close_at ?? null,
    expectedResolutionAt: row.expected_resolution_at ?? null,
    resolvedAt: row.resolved_at ?? null,
    tickSize: row.tick_size ?? null,
    takerFee: takerFeeOf(row.taker_fee),
    venueKeys: row.venue_keys ?? {},
  };
}

function outcomeOf(outcome: Static<typeof OutcomeLine> | undefined): Outcome | null {
  return outcome?.kind === "void" ? { kind: "void", value: outcome.value ?? null } : (outcome ?? null);
}

function takerFeeOf(fee: Static<typeof TakerFeeLine> | undefined): TakerFee | null {
  return fee?.kind === "value_table" ? { kind: "value_table", buyPoints: fee.buy_points } : (fee ?? null);
}

function quoteOf(row: Static<typeof QuoteLine>): Omit<Quote, "receivedAt"> {
  const bid = row.bid ?? null;
  const ask = row.ask ?? null;
  if (isCrossed(bid, ask)) throw new LineError("crossed quote");
  return {
    bid,
    ask,
    bidSize: row.bid_size ?? null,
    askSize: row.ask_size ?? null,
    lastPrice: row.last_price ?? null,
    indicativePrice: row.indicative_price ?? null,
    eventAt: row.event_at ?? null,
  };
}

function bookOf(row: Static<typeof BookLine>): Omit<OrderBook, "receivedAt"> {
  const bids = levelsOf(row.bids ?? [], -1);
  const asks = levelsOf(row.asks ?? [], 1);
  if (isCrossed(bids[0]?.price ?? null, asks[0]?.price ?? null)) throw new LineError("crossed book");
  return { bids, asks, lastPrice: row.last_price ?? null, eventAt: row.event_at ?? null };
}

/** @param sign -1 for bids (highest price first), 1 for asks (lowest price first) */
function levelsOf(pairs: readonly (readonly [number, number])[], sign: -1 | 1): BookLevel[] {
  let previous = Number.NEGATIVE_INFINITY;
  return pairs.map(([price, size]) => {
    if (price * sign <= previous) throw new LineError("the levels of the book are not sorted best first");
    previous = price * sign;
    return { price, size };
  });
}
