import type { MarketSnapshot, Outcome } from "../domain/market.ts";
import type { NewEvent } from "../event-log/index.ts";
import { storableText, storableTime } from "./storable.ts";

/** API paths accept no longer ids, and keys and payloads of events are bounded. */
export const EVENT_MARKET_ID_LENGTH_MAX = 512;
const TITLE_LENGTH_MAX = 1_000;

/** Encodes an outcome for comparison with the announced one; empty while the outcome is unknown. */
export function outcomeText(outcome: Outcome | null): string {
  if (outcome === null) return "";
  return "value" in outcome ? `${outcome.kind} ${outcome.value}` : outcome.kind;
}

/** The `market_resolved` event of a market. `model_probability` is null if no model has analysed the market. */
export function marketResolved({ listing, quote }: MarketSnapshot, outcome: Outcome): NewEvent {
  const { venue, marketId } = listing;
  const occurredAt = storableTime(quote.receivedAt) ?? 0;
  return {
    type: "market_resolved",
    key: `market_resolved/${occurredAt}/${venue}/${marketId}`,
    occurredAt,
    venue,
    marketId,
    payload: {
      platform: venue,
      market_id: marketId,
      title: storableText(listing.title).slice(0, TITLE_LENGTH_MAX).toWellFormed(),
      outcome: outcome.kind,
      settlement_value: settlementValue(outcome),
      last_price: quote.lastPrice,
      model_probability: null,
    },
  };
}

/** Payout of one YES contract, in [0, 1]; null if the venue does not report it. */
function settlementValue(outcome: Outcome): number | null {
  if (outcome.kind === "yes") return 1;
  return outcome.kind === "no" ? 0 : outcome.value;
}
