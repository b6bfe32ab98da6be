import assert from "node:assert/strict";
import { test } from "node:test";
import { describeResolution } from "../../../src/capabilities/markets/resolution/describe-resolution.ts";
import type { Resolution, ResolutionMechanism } from "../../../src/capabilities/markets/resolution/model.ts";
import type { MarketListing, MarketStatus } from "../../../src/domain/market.ts";
import type { TimeUrgency } from "../../../src/quant/time-decay.ts";
import { sampleMarket } from "../markets/market-samples.ts";

/** A market modelled on one of a venue, with expected values computed by a person. Times are ISO 8601. */
export interface CheckedMarket {
  readonly title: string;
  readonly rules?: string;
  readonly event?: string;
  readonly status?: MarketStatus;
  readonly openAt?: string;
  readonly closeAt?: string;
  /** When the venue expects the result; equal to `closeAt` if absent. */
  readonly expectedAt?: string;
  readonly price?: number;
  readonly now: string;

  readonly mechanism: ResolutionMechanism;
  /** Cents a day, rounded to 1e-4. */
  readonly theta: number | null;
  readonly urgency: TimeUrgency | null;
  readonly schedule?: string;
  /** The future key dates as "date label (impact)", to the minute. */
  readonly keyDates: readonly string[];
}

const parseTime = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

export function describeChecked({
  title,
  rules,
  event,
  price,
  ...market
}: Omit<CheckedMarket, "keyDates">): Resolution {
  const listing: Partial<MarketListing> = {
    title,
    rules: rules ?? null,
    status: market.status ?? "active",
    openAt: parseTime(market.openAt),
    closeAt: parseTime(market.closeAt),
    expectedResolutionAt: parseTime(market.expectedAt ?? market.closeAt),
  };
  const priced = { listing: sampleMarket("m", { listing }).listing, yesPrice: price ?? null };
  return describeResolution(priced, event ?? null, Date.parse(market.now));
}

/** Declares a test that compares the service's answer with the expected values. */
export function testCheckedMarket(market: CheckedMarket): void {
  test(`checked by hand: ${market.title}`, () => {
    const resolution = describeChecked(market);
    const now = Date.parse(market.now);
    const theta = resolution.thetaEstimate;
    assert.deepEqual(
      {
        mechanism: resolution.mechanism,
        theta: theta === null ? null : Math.round(theta * 1e4) / 1e4 + 0,
        urgency: resolution.timeUrgency,
        schedule: resolution.recurringSchedule,
        keyDates: resolution.keyDates
          .filter(({ endAt }) => endAt >= now)
          .map(({ at, label, impact }) => `${new Date(at).toISOString().slice(0, 16)} ${label} (${impact})`),
      },
      {
        mechanism: market.mechanism,
        theta: market.theta,
        urgency: market.urgency,
        schedule: market.schedule ?? null,
        keyDates: market.keyDates,
      },
    );
  });
}
