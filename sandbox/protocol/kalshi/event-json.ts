import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { ListedEvent } from "../../world/types.ts";
import { kalshiEventTicker, kalshiSeriesTicker } from "./ids.ts";
import { formatIsoOrNull } from "./market-json.ts";

/** Base fee rate. The fee in dollars per contract at price p is FEE_RATE × multiplier × p × (1 − p). */
const FEE_RATE = 0.07;

/** Venue category by world category. Categories that are not listed have the same name. */
const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  Weather: "Climate and Weather",
  Culture: "Entertainment",
  Tech: "Science and Technology",
};

export const kalshiCategory = (event: ListedEvent): string => CATEGORY_NAMES[event.category] ?? event.category;

/** REST representation of an event, without its markets. */
export function presentEvent(event: ListedEvent): Record<string, unknown> {
  return {
    event_ticker: kalshiEventTicker(event),
    series_ticker: kalshiSeriesTicker(event),
    title: event.title,
    sub_title: event.recorded === undefined ? `Closes ${toIso(event.closeAt).slice(0, 10)}` : event.description,
    mutually_exclusive: event.mutuallyExclusive,
    category: kalshiCategory(event),
    strike_date: formatIsoOrNull(event.closeAt),
    ...presentFeeOverrides(event),
  };
}

/** Presents recorded fees as overrides of the event, because recordings have fees per market, the venue per series. */
function presentFeeOverrides(event: ListedEvent): Record<string, unknown> {
  const fee = event.markets.find(({ recorded }) => recorded?.takerFee)?.recorded?.takerFee;
  if (fee === undefined || fee === null) return {};
  return {
    fee_type_override: "quadratic",
    fee_multiplier_override: fee.kind === "quadratic" ? Math.round((fee.rate / FEE_RATE) * 1e6) / 1e6 : 0,
  };
}

/** REST representation of the series that contains `event`. */
export function presentSeries(event: ListedEvent): Record<string, unknown> {
  const hasMakerFees = event.category === "Sports" || event.category === "Politics";
  return {
    ticker: kalshiSeriesTicker(event),
    title: event.seriesTitle,
    category: kalshiCategory(event),
    ...(event.recorded === undefined
      ? {
          fee_type: hasMakerFees ? "quadratic_with_maker_fees" : "quadratic",
          fee_multiplier: event.isRound ? 0.5 : 1,
        }
      : {}),
  };
}
