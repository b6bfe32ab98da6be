/** What the test oracle expects of a market, and the fields that all venues share. */
import { amount, type Expectation, type Expected, exactly, near, price, time } from "../expectation.ts";
import type { JsonObject } from "../json.ts";
import { displayedPrice } from "./price.ts";

/** Prices at which taker fees are compared. They are points of Limitless' fee table. */
export const FEE_PRICES = [0.5, 0.75, 0.95] as const;

/** A row that must be read, with the expected fields. */
export interface ExpectedMarket {
  readonly id: string;
  readonly raw: JsonObject;
  /** Why the adapter must leave the row out; null if it must read it. Documented in README.md. */
  readonly leftOut: string | null;
  /** Whether the adapter may leave the row out: the documents call the kind of market optional. */
  readonly isOptional?: boolean;
  /** Whether the listing of open markets must contain the row; null if the documents do not decide. */
  readonly isListed: boolean | null;
  /** Whether the market has no price, so that the service does not list it. */
  readonly isUnpriced: boolean;
  readonly facts: Expected;
}

export function leftOutMarket(id: string, raw: JsonObject, reason: string): ExpectedMarket {
  return { id, raw, leftOut: reason, isListed: false, isUnpriced: false, facts: {} };
}

export type ExpectedStatus = "pending" | "active" | "closed" | "determined" | "finalized";

/** Outcome as one value: "yes", "no", "partial 0.25", "void" or null. */
export function outcome(kind: "yes" | "no" | "void" | null): Expectation {
  return exactly(kind);
}

/** A settlement at a value between 0 and 1. A value of 0 or 1 is a plain no or yes. */
export function settledAt(value: number): Expectation {
  if (value <= 0) return exactly("no");
  if (value >= 1) return exactly("yes");
  return {
    text: `partial ${value} or void at ${value}`,
    matches: (actual) => {
      const [kind, number] = typeof actual === "string" ? actual.split(" ") : [];
      return (kind === "partial" || kind === "void") && Math.abs(Number(number) - value) < 1e-6;
    },
  };
}

/** Taker fee in dollars per contract at each of `FEE_PRICES`; null if it is unknown. */
export function takerFee(feeAt: ((price: number) => number) | null): Expected {
  return Object.fromEntries(
    FEE_PRICES.map((at) => [`taker_fee_at_${at}`, near(feeAt === null ? null : feeAt(at), 1e-9)]),
  );
}

export interface ExpectedQuote {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bidSize?: number | null;
  readonly askSize?: number | null;
  readonly last: number | null;
  readonly indicative?: number | null;
}

export function quoteFacts(quote: ExpectedQuote): Expected {
  return {
    bid: price(quote.bid),
    ask: price(quote.ask),
    ...(quote.bidSize === undefined ? {} : { bid_size: amount(quote.bidSize) }),
    ...(quote.askSize === undefined ? {} : { ask_size: amount(quote.askSize) }),
    last_price: price(quote.last),
    yes_price: price(displayedPrice(quote)),
  };
}

export interface ExpectedActivity {
  readonly volume24h: number | null;
  readonly volumeTotal: number | null;
  readonly liquidity: number | null;
  readonly openInterest: number | null;
}

export function activityFacts(activity: ExpectedActivity): Expected {
  return {
    volume_24h: amount(activity.volume24h),
    volume_total: amount(activity.volumeTotal),
    liquidity: amount(activity.liquidity),
    open_interest: amount(activity.openInterest),
  };
}

export function timeFact(at: number | null): Expectation {
  return time(at);
}
