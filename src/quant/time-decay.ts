import { assertPositive, assertProbability } from "./assert.ts";

/**
 * Daily time decay of the probability that an event happens before a deadline, if the event has a constant hazard and
 * has not happened: the change of the probability over the next day (or until the deadline, if that is sooner) in which
 * nothing happens, in cents of a contract that pays $1.
 *
 * With p = 1 - exp(-h T), the hazard is h = -ln(1 - p) / T, and after d days without the event
 * p' = 1 - (1 - p)^((T - d) / T). Theta = 100 (p' - p), with d = min(1, T).
 *
 * The model does not apply to an event at a known time, such as a match or a data release: its probability does not
 * decay.
 *
 * @param probability  current probability of the event, in [0, 1]
 * @param days  days until the deadline, above 0
 * @returns  cents a day, in [-100, 0]
 * @see Cox, Oakes (1984), "Analysis of Survival Data", section 2.2 (exponential distribution)
 * @example deadlineTheta(0.75, 2); // 100 * ((1 - 0.25^0.5) - 0.75) = -25
 */
export function deadlineTheta(probability: number, days: number): number {
  assertProbability(probability, "probability");
  assertPositive(days, "days");
  const daysAhead = Math.min(1, days);
  const later = 1 - (1 - probability) ** ((days - daysAhead) / days);
  return Math.min(0, 100 * (later - probability));
}

/** How soon a market expires: under 24 hours, 1 to 3 days, 3 to 14 days, later. */
export type TimeUrgency = "critical" | "high" | "medium" | "low";

/**
 * The urgency of a market that expires in `hours` hours: `critical` below 24 hours, `high` below 3 days, `medium` up to
 * 14 days, else `low`.
 *
 * @param hours  at least 0
 */
export function timeUrgency(hours: number): TimeUrgency {
  if (!(hours >= 0)) throw new RangeError(`hours must be at least 0, not ${hours}`);
  if (hours < 24) return "critical";
  if (hours < 3 * 24) return "high";
  return hours <= 14 * 24 ? "medium" : "low";
}
