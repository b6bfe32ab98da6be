import type { EventListing, FeeRounding, TakerFee } from "../../domain/market.ts";
import { parseTime } from "./parse-values.ts";
import type { EventWire, SeriesWire } from "./wire.ts";

const TITLE_LENGTH_MAX = 1_000;
const SLUG_LENGTH_MAX = 80;
const SITE_URL = "https://kalshi.com/markets";
/** The fee in dollars per contract at price p is 0.07 × multiplier × p × (1 - p). */
const FEE_RATE = 0.07;
const MULTIPLIER_MAX = 100;

/**
 * Fee rounding by kind of membership. The venue rounds each fee up to 0.0001 USD. Then it rounds the change of the
 * balance: to 0.0001 USD for direct members, to a cent for others.
 *
 * @see https://docs.kalshi.com/getting_started/fee_rounding
 */
export const FEE_ROUNDING = {
  other: { feeStep: 0.0001, balanceStep: 0.01 },
  direct: { feeStep: 0.0001, balanceStep: 0.0001 },
} as const satisfies Readonly<Record<string, FeeRounding>>;

/** An event and the data that its markets need from it. */
export interface ParsedEvent {
  readonly listing: EventListing;
  readonly seriesTicker: string;
  /** The event's own fee type if it overrides its series, otherwise the series' fee type; null if unknown. */
  readonly feeType: string | null;
  readonly feeMultiplier: number | null;
}

/** Returns the URL of an event's page. Only the tickers identify the event; the slug is for readability. */
function urlOf(event: EventWire): string {
  const slug = event.title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, SLUG_LENGTH_MAX);
  const part = (ticker: string) => encodeURIComponent(ticker.toLowerCase());
  return `${SITE_URL}/${part(event.series_ticker)}/${slug || "event"}/${part(event.event_ticker)}`;
}

/** @param series the event's series; if null, the event's own (deprecated) category is used */
export function parseEvent(event: EventWire, series: SeriesWire | null, venue: string): ParsedEvent {
  const category = series?.category ?? event.category ?? "";
  return {
    listing: {
      venue,
      eventId: event.event_ticker,
      title: event.title.trim().slice(0, TITLE_LENGTH_MAX),
      description: event.sub_title?.trim() || null,
      category: category === "" ? null : category,
      url: urlOf(event),
      mutuallyExclusive: event.mutually_exclusive === true,
      // Kalshi does not guarantee that the markets of an event cover every outcome.
      exhaustive: false,
      // The event list is read without markets.
      children: null,
      featured: false,
      endAt: parseTime(event.strike_date),
    },
    seriesTicker: event.series_ticker,
    feeType: event.fee_type_override ?? series?.fee_type ?? null,
    feeMultiplier: event.fee_multiplier_override ?? series?.fee_multiplier ?? null,
  };
}

/**
 * Returns null if the fee is unknown; the API does not publish the amount of a `flat` fee. The three quadratic types
 * charge takers the same fee.
 */
export function takerFeeOf(event: ParsedEvent | null, rounding: FeeRounding): TakerFee | null {
  const multiplier = event?.feeMultiplier ?? null;
  if (event === null || multiplier === null || !(multiplier >= 0) || multiplier > MULTIPLIER_MAX) return null;
  const isQuadratic =
    event.feeType === "quadratic" ||
    event.feeType === "quadratic_with_maker_fees" ||
    event.feeType === "quadratic_with_combo_maker_fees";
  if (!isQuadratic) return null;
  if (multiplier === 0) return { kind: "none" };
  // Rounds away floating-point error, so that 0.07 * 0.5 gives 0.035.
  return {
    kind: "quadratic",
    rate: Math.round(FEE_RATE * multiplier * 1e9) / 1e9,
    exponent: 1,
    rounding,
  };
}
