import { STALE_ANALYSIS_MS_MAX } from "../domain/estimate-age.ts";
import { type MarketSnapshot, type Outcome, settlementValueOf } from "../domain/market.ts";
import type { NewEvent } from "../event-log/index.ts";
import { toMillisSql } from "../lib/timestamp-sql.ts";
import type { Transaction } from "../ports/database.ts";
import { toStorableText, toStorableTime } from "./storable.ts";

/** Maximum length of a market id in API paths. It also bounds the keys and payloads of events. */
export const EVENT_MARKET_ID_LENGTH_MAX = 512;
const TITLE_LENGTH_MAX = 1_000;

/** Encodes an outcome for comparison with the announced outcome; returns "" for an unknown outcome. */
export function encodeOutcome(outcome: Outcome | null): string {
  if (outcome === null) return "";
  return "value" in outcome ? `${outcome.kind} ${outcome.value}` : outcome.kind;
}

/** An estimate of the probability of YES, and the price of YES at the same time, both in [0, 1]. */
interface LastEstimate extends Record<string, unknown> {
  readonly probability: number;
  readonly marketPrice: number;
  /** Time of the estimate and the price, Unix milliseconds. */
  readonly at: number;
}

/** Selects for each market the last usable estimate before the time $3, with the index by market and time. */
const SELECT_ESTIMATES = `
select settled.position::int4 as position, estimate.probability, estimate.market_price as "marketPrice",
  ${toMillisSql("estimate.analysed_at")} as at
from unnest($1::text[], $2::text[], $3::float8[]) with ordinality as settled (venue, market_id, before_ms, position)
cross join lateral (
  select probability, market_price, analysed_at from analyses
  where venue = settled.venue and market_id = settled.market_id
    and analysed_at < to_timestamp(before_ms / 1000)
    and analysed_at >= to_timestamp((before_ms - ${STALE_ANALYSIS_MS_MAX}) / 1000)
  order by analysed_at desc limit 1
) as estimate`;

/**
 * Returns for each market the last stored estimate within 72 hours before its resolution, or null. If the venue reports
 * no resolution time, the time at which the result was received is used.
 */
export async function readLastEstimates(
  transaction: Transaction,
  markets: readonly MarketSnapshot[],
): Promise<(LastEstimate | null)[]> {
  const rows = await transaction.query<LastEstimate & { position: number }>(SELECT_ESTIMATES, [
    markets.map(({ listing }) => listing.venue),
    markets.map(({ listing }) => listing.marketId),
    markets.map(({ listing, quote }) => toStorableTime(listing.resolvedAt) ?? toStorableTime(quote.receivedAt) ?? 0),
  ]);
  const estimates = new Map(rows.map(({ position, ...estimate }) => [position, estimate]));
  return markets.map((_, index) => estimates.get(index + 1) ?? null);
}

/**
 * Creates the `market_resolved` event of a market.
 *
 * @param estimate  the service's last estimate before the resolution; null if there is none
 */
export function createMarketResolvedEvent(
  { listing, quote }: MarketSnapshot,
  outcome: Outcome,
  estimate: LastEstimate | null,
): NewEvent {
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
      // The price at the time of the estimate, because the last price of a settled market reflects the result.
      model_probability: estimate?.probability ?? null,
      market_price: estimate?.marketPrice ?? null,
      model_probability_at: estimate === null ? null : new Date(estimate.at).toISOString(),
    },
  };
}
