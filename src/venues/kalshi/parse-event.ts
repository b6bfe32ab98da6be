import type { EventListing, TakerFee } from "../../domain/market.ts";
import { parseTime } from "./parse-scalars.ts";
import type { EventWire, SeriesWire } from "./wire.ts";

const TITLE_LENGTH_MAX = 1_000;
const SLUG_LENGTH_MAX = 80;
const SITE = "https://kalshi.com/markets";
/** Dollars per contract at price p: 0.07 times the multiplier times p (1 - p). */
const FEE_RATE = 0.07;
const MULTIPLIER_MAX = 100;

/** An event with what its markets need of it. */
export interface EventFacts {
  readonly listing: EventListing;
  readonly seriesTicker: string;
  /** Of the event where it overrides its series, else of the series; null when unknown. */
  readonly feeType: string | null;
  readonly feeMultiplier: number | null;
}

/** The page of an event; the part in the middle is for people, the site reads the tickers. */
function urlOf(event: EventWire): string {
  const slug = event.title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, SLUG_LENGTH_MAX);
  const part = (ticker: string) => encodeURIComponent(ticker.toLowerCase());
  return `${SITE}/${part(event.series_ticker)}/${slug || "event"}/${part(event.event_ticker)}`;
}

/** @param series the event's series; null when the venue did not tell it, then the event's own (deprecated) category */
export function parseEvent(event: EventWire, series: SeriesWire | null, venue: string): EventFacts {
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
      // Kalshi never promises that the markets of an event are all there is.
      exhaustive: false,
      featured: false,
      endAt: parseTime(event.strike_date),
    },
    seriesTicker: event.series_ticker,
    feeType: event.fee_type_override ?? series?.fee_type ?? null,
    feeMultiplier: event.fee_multiplier_override ?? series?.fee_multiplier ?? null,
  };
}

/** The three quadratic kinds differ in what makers pay only. `flat` amounts are not in the interface: null. */
export function takerFeeOf(event: EventFacts | null): TakerFee | null {
  const multiplier = event?.feeMultiplier ?? null;
  if (event === null || multiplier === null || !(multiplier >= 0) || multiplier > MULTIPLIER_MAX) return null;
  const isQuadratic =
    event.feeType === "quadratic" ||
    event.feeType === "quadratic_with_maker_fees" ||
    event.feeType === "quadratic_with_combo_maker_fees";
  if (!isQuadratic) return null;
  if (multiplier === 0) return { kind: "none" };
  // Cents of a percent are kept whole: 0.07 * 0.5 is 0.035 and not 0.035000000000000003.
  return { kind: "quadratic", rate: Math.round(FEE_RATE * multiplier * 1e9) / 1e9, exponent: 1 };
}
