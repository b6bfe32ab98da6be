import type { MarketStatus } from "../../../domain/market.ts";
import type { TimeUrgency } from "../../../quant/time-decay.ts";
import type { DateInstants, DateRelation, Span } from "../../../text/text-dates.ts";
export const RESOLUTION_MECHANISMS = [
  "scheduled_data_release",
  "event_outcome",
  "date_based",
  "continuous_monitoring",
  "unknown",
] as const;
export type ResolutionMechanism = (typeof RESOLUTION_MECHANISMS)[number];

export const IMPACTS = ["high", "medium"] as const;

/** A date that matters for a market. Times are Unix milliseconds. */
export interface KeyDate {
  readonly at: number;
  /** End of a date that lasts a day or longer; equal to `at` otherwise. */
  readonly endAt: number;
  readonly label: string;
  readonly impact: (typeof IMPACTS)[number];
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
  /** Cents a day; negative if YES loses. */
  readonly thetaEstimate: number | null;
  readonly keyDates: readonly KeyDate[];
  readonly recurringSchedule: string | null;
}

/** A date in a title or in rules, with the instants that it means. scheduled: something is planned at it. */
export interface RulesDate extends Span, DateInstants {
  readonly relation: DateRelation | "scheduled";
}
