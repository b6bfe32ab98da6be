import type { MarketStatus } from "../../../domain/market.ts";
import type { TimeUrgency } from "../../../quant/time-decay.ts";
import type { DateInstants, DateRelation, TextSpan } from "../../../text/text-dates.ts";
export const RESOLUTION_MECHANISMS = [
  "scheduled_data_release",
  "event_outcome",
  "date_based",
  "continuous_monitoring",
  "unknown",
] as const;
export type ResolutionMechanism = (typeof RESOLUTION_MECHANISMS)[number];

export const KEY_DATE_IMPACTS = ["high", "medium"] as const;

/** A key date of a market. Times are Unix milliseconds. */
export interface KeyDate {
  readonly at: number;
  /** End of the day or period; equal to `at` for an instant. */
  readonly endAt: number;
  readonly label: string;
  readonly impact: (typeof KEY_DATE_IMPACTS)[number];
}

/** How and when a market resolves, as of an instant. Times are Unix milliseconds. */
export interface Resolution {
  /** Null before trading starts. */
  readonly status: Exclude<MarketStatus, "pending"> | null;
  readonly expirationAt: number | null;
  readonly closeAt: number | null;
  readonly expectedResolutionAt: number | null;
  readonly hoursToExpiration: number | null;
  readonly mechanism: ResolutionMechanism;
  readonly rulesSummary: string | null;
  readonly timeUrgency: TimeUrgency | null;
  /** In cents per day; negative if YES loses value. */
  readonly thetaEstimate: number | null;
  readonly keyDates: readonly KeyDate[];
  readonly recurringSchedule: string | null;
}

/** A date in a title or in rules, with its start and end. scheduled: an event is planned at the date. */
export interface RulesDate extends TextSpan, DateInstants {
  readonly relation: DateRelation | "scheduled";
}
