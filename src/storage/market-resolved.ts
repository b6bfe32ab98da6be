import { type MarketSnapshot, type Outcome, settlementValueOf } from "../domain/market.ts";
import type { NewEvent } from "../event-log/index.ts";
import { toStorableText, toStorableTime } from "./storable.ts";

/** Maximum length of a market id in API paths. It also bounds the keys and payloads of events. */
export const EVENT_MARKET_ID_LENGTH_MAX = 512;
const TITLE_LENGTH_MAX = 1_000;

/** Encodes an outcome for comparison with the announced outcome; returns "" for an unknown outcome. */
export function encodeOutcome(outcome: Outcome | null): string {
  if (outcome === null) return "";
  return "value" in outcome ? `${outcome.kind} ${outcome.value}` : outcome.kind;
}

/** Creates the `market_resolved` event of a market. Its `model_probability` is always null. */
export function createMarketResolvedEvent({ listing, quote }: MarketSnapshot, outcome: Outcome): NewEvent {
  const { venue, marketId } = listing;
  const occurredAt = toStorableTime(quote.receivedAt) ?? 0;
  return {
    type: "market_resolved",
    key: `market_resolved/${occurredAt}/${venue}/${marketId}`,
    occurredAt,
    venue,
    marketId,
    payload: {
      platform: venue,
      market_id: marketId,
      title: toStorableText(listing.title).slice(0, TITLE_LENGTH_MAX).toWellFormed(),
      outcome: outcome.kind,
      settlement_value: settlementValueOf(outcome),
      last_price: quote.lastPrice,
      model_probability: null,
    },
  };
}
