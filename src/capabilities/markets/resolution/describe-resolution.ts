import { validCloseTime, validExpectedTime } from "../../../domain/close-time.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { deadlineTheta, timeUrgency } from "../../../quant/time-decay.ts";
import { listKeyDates } from "./key-dates.ts";
import type { Resolution } from "./model.ts";
import { type RulesReading, readRules } from "./read-rules.ts";

export interface ResolvableMarket {
  readonly listing: MarketListing;
  /** Price of a YES contract in [0, 1]; null if unknown. */
  readonly yesPrice: number | null;
}

/**
 * Describes how and when a market resolves, as of `now` (Unix milliseconds).
 *
 * @param eventTitle  title of the market's event; null if it has none
 */
export function describeResolution(market: ResolvableMarket, eventTitle: string | null, now: number): Resolution {
  const { listing } = market;
  const reading = readRules(listing, eventTitle, now);
  const isResolved = listing.status === "finalized" || listing.status === "determined";
  const { expirationAt, resolvesAt } = computeTimes(listing, reading, now);
  const hoursUntil = (at: number) => Math.max(0, (at - now) / HOUR_MS);
  return {
    status: listing.status === "pending" ? null : listing.status,
    expirationAt,
    closeAt: validCloseTime(listing, now),
    expectedResolutionAt: validExpectedTime(listing, now),
    hoursToExpiration: isResolved ? 0 : expirationAt === null ? null : hoursUntil(expirationAt),
    mechanism: reading.mechanism,
    rulesSummary: reading.summary,
    timeUrgency: isResolved || resolvesAt === null ? null : timeUrgency(hoursUntil(resolvesAt)),
    thetaEstimate: estimateTheta(market, reading, now),
    keyDates: listKeyDates(listing, reading, { now, resolvesAt }),
    recurringSchedule: reading.schedule?.calendar.name ?? null,
  };
}

/**
 * Returns the latest date of the venue, and when the market is expected to resolve. Some venues do not update their end
 * date when the deadline is later. Once the venue's dates have passed, the deadline of the rules is used instead.
 */
function computeTimes(listing: MarketListing, { deadlineAt }: RulesReading, now: number) {
  const expectedAt = validExpectedTime(listing, now);
  const stated = [validCloseTime(listing, now), expectedAt].filter((at) => at !== null);
  const latest = stated.length === 0 ? null : Math.max(...stated);
  if (deadlineAt !== null && deadlineAt > now && (latest === null || latest <= now))
    return { expirationAt: deadlineAt, resolvesAt: deadlineAt };
  return { expirationAt: latest, resolvesAt: expectedAt ?? latest };
}

/**
 * Returns the daily change of the YES price if nothing happens, in cents. Negative if YES requires an event before a
 * deadline, positive if YES requires that the event does not happen, 0 for an event at a known time. Null if the market
 * is not open, or if its deadline, price or condition for YES is unknown.
 */
function estimateTheta({ listing, yesPrice }: ResolvableMarket, reading: RulesReading, now: number): number | null {
  if (listing.status !== "active") return null;
  const { mechanism, deadlineAt, polarity } = reading;
  if (mechanism === "scheduled_data_release" || mechanism === "event_outcome") return 0;
  if (deadlineAt === null || deadlineAt <= now || yesPrice === null || polarity === null) return null;
  const days = (deadlineAt - now) / DAY_MS;
  if (polarity === "occurs") return deadlineTheta(yesPrice, days);
  // The gain of YES is the loss of NO. `0 -` avoids a negative zero.
  return 0 - deadlineTheta(1 - yesPrice, days);
}

/**
 * Returns the deadline by which an event must happen for YES, if the event can happen at any time before. Null for
 * matches, data releases and questions without a deadline, and if the deadline has passed.
 *
 * @param eventTitle  title of the market's event; null if it has none
 * @param now  Unix milliseconds
 * @returns  Unix milliseconds
 */
export function findEventDeadline(listing: MarketListing, eventTitle: string | null, now: number): number | null {
  const { mechanism, deadlineAt, polarity } = readRules(listing, eventTitle, now);
  if (mechanism === "scheduled_data_release" || mechanism === "event_outcome" || polarity !== "occurs") return null;
  return deadlineAt !== null && deadlineAt > now ? deadlineAt : null;
}
