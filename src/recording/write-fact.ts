import type { Static } from "typebox";
import type { MarketListing } from "../domain/market.ts";
import type { BookLevel } from "../domain/order-book.ts";
import type { Fact } from "./format.ts";
import type { ActivityLine, BookLine, EventLine, MarketLine, QuoteLine, TradeLine } from "./line-schemas.ts";

/** The fields of a line after `at`, `venue` and `kind`; JSON omits undefined ones. */
type Body<Line extends { at: unknown; venue: unknown }> = Omit<Line, "at" | "venue">;

/** A fact as a line, without line break. Null fields are omitted. */
export function writeFact(fact: Fact): string {
  const { at, venue, kind } = fact;
  return JSON.stringify({ at, venue, kind, ...bodyOf(fact) });
}

function bodyOf(fact: Fact): object {
  switch (fact.kind) {
    case "event": {
      const { event } = fact;
      return {
        event_id: event.eventId,
        title: event.title,
        description: event.description ?? undefined,
        category: event.category ?? undefined,
        url: event.url ?? undefined,
        mutually_exclusive: event.mutuallyExclusive || undefined,
        exhaustive: event.exhaustive || undefined,
        featured: event.featured || undefined,
        end_at: event.endAt ?? undefined,
      } satisfies Body<Static<typeof EventLine>>;
    }
    case "market":
      return marketBody(fact.market);
    case "quote": {
      const { marketId, quote } = fact;
      return {
        market_id: marketId,
        bid: quote.bid ?? undefined,
        ask: quote.ask ?? undefined,
        bid_size: quote.bidSize ?? undefined,
        ask_size: quote.askSize ?? undefined,
        last_price: quote.lastPrice ?? undefined,
        indicative_price: quote.indicativePrice ?? undefined,
        event_at: quote.eventAt ?? undefined,
      } satisfies Body<Static<typeof QuoteLine>>;
    }
    case "activity": {
      const { marketId, activity } = fact;
      return {
        market_id: marketId,
        volume_24h_usd: activity.volume24hUsd ?? undefined,
        volume_total_usd: activity.volumeTotalUsd ?? undefined,
        liquidity_usd: activity.liquidityUsd ?? undefined,
        open_interest_usd: activity.openInterestUsd ?? undefined,
      } satisfies Body<Static<typeof ActivityLine>>;
    }
    case "book": {
      const { marketId, book } = fact;
      return {
        market_id: marketId,
        bids: pairsOf(book.bids),
        asks: pairsOf(book.asks),
        last_price: book.lastPrice ?? undefined,
        event_at: book.eventAt ?? undefined,
      } satisfies Body<Static<typeof BookLine>>;
    }
    case "trade": {
      const { marketId, trade } = fact;
      return {
        market_id: marketId,
        trade_id: trade.tradeId,
        executed_at: trade.executedAt,
        yes_price: trade.yesPrice,
        size: trade.size,
        taker_side: trade.takerSide ?? undefined,
      } satisfies Body<Static<typeof TradeLine>>;
    }
  }
}

function marketBody(market: Omit<MarketListing, "venue">): object {
  const { outcome, takerFee, venueKeys } = market;
  return {
    market_id: market.marketId,
    event_id: market.eventId ?? undefined,
    title: market.title,
    outcome_label: market.outcomeLabel ?? undefined,
    url: market.url ?? undefined,
    category: market.category ?? undefined,
    status: market.status,
    paused: market.paused || undefined,
    outcome: outcome?.kind === "void" ? { kind: "void", value: outcome.value ?? undefined } : (outcome ?? undefined),
    rules: market.rules ?? undefined,
    open_at: market.openAt ?? undefined,
    close_at: market.closeAt ?? undefined,
    expected_resolution_at: market.expectedResolutionAt ?? undefined,
    resolved_at: market.resolvedAt ?? undefined,
    tick_size: market.tickSize ?? undefined,
    taker_fee:
      takerFee?.kind === "value_table"
        ? { kind: "value_table", buy_points: takerFee.buyPoints.map(([price, share]) => [price, share]) }
        : (takerFee ?? undefined),
    venue_keys: Object.keys(venueKeys).length === 0 ? undefined : venueKeys,
  } satisfies Body<Static<typeof MarketLine>>;
}

const pairsOf = (levels: readonly BookLevel[]) => levels.map(({ price, size }): [number, number] => [price, size]);
