import type { Outcome } from "../../domain/market.ts";
import { fromMicros, parseDecimal, toMicros } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { listOf, plausibleTime } from "./parse-values.ts";
import type { Resolution } from "./wire.ts";

/** The oracle's resolution of one question. */
export interface ResolutionFacts {
  readonly state: "open" | "proposed" | "contested" | "settled";
  /** Present if settled, or proposed and not contested. */
  readonly outcome: Outcome | null;
  readonly resolvedAt: number | null;
}

const STATES: Readonly<Record<string, ResolutionFacts["state"]>> = {
  proposed: "proposed",
  reproposed: "proposed",
  challenged: "contested",
  disputed: "contested",
  arbitration: "contested",
  resolved: "settled",
};

const PAYOUT_UNIT = 1_000_000;
/** The oracle's value if no price is proposed. */
const UNSET_PRICE = 69;
/** Unit of on-chain prices, which some rows contain: 1e18 is a price of 1. */
const CHAIN_UNIT = 1e18;
/** Minimum value that is treated as an on-chain price. */
const CHAIN_PRICE_MIN = 1e9;

/** Parses a resolutions row. A contested proposal has no outcome. */
export function parseResolution(row: Resolution, countDrop: DropCounter): ResolutionFacts {
  const state = Object.hasOwn(STATES, row.status) ? (STATES[row.status] ?? "open") : "open";
  if (state === "settled") {
    const outcome = outcomeOfPayouts(row.payouts);
    if (outcome === null) countDrop("bad_payouts");
    const seconds = parseDecimal(row.resolved_at);
    return { state, outcome, resolvedAt: seconds === null ? null : plausibleTime(seconds * 1000) };
  }
  if (state !== "proposed") return { state, outcome: null, resolvedAt: null };
  const price =
    row.status === "reproposed"
      ? (proposedPrice(row.reproposed_price) ?? proposedPrice(row.proposed_price))
      : proposedPrice(row.proposed_price);
  return { state, outcome: price === null ? null : outcomeOfValue(price), resolvedAt: null };
}

function proposedPrice(value: unknown): number | null {
  const parsed = parseDecimal(value);
  if (parsed === null || parsed === UNSET_PRICE) return null;
  const price = parsed >= CHAIN_PRICE_MIN ? parsed / CHAIN_UNIT : parsed;
  return price >= 0 && price <= 1 ? price : null;
}

/** Converts the payout of one YES contract to an outcome. */
function outcomeOfValue(value: number): Outcome {
  if (value === 1) return { kind: "yes" };
  if (value === 0) return { kind: "no" };
  return { kind: "partial", value };
}

/** Parses the payouts of both tokens in millionths, which sum to 1: `[1000000, 0]`. */
function outcomeOfPayouts(value: unknown): Outcome | null {
  const list = listOf(value);
  const yes = parseDecimal(list?.[0]);
  const no = parseDecimal(list?.[1]);
  if (list?.length !== 2 || yes === null || no === null || yes < 0 || no < 0 || yes + no !== PAYOUT_UNIT) return null;
  return outcomeOfValue(fromMicros(Math.round(yes)));
}

/** Returns the outcome of final prices, which are exactly 0 and 1 or both 0.5, or null for other prices. */
export function outcomeOfPrices(value: unknown): Outcome | null {
  const list = listOf(value);
  const yes = parseDecimal(list?.[0]);
  const no = parseDecimal(list?.[1]);
  if (list?.length !== 2 || yes === null || no === null) return null;
  if (![0, 0.5, 1].includes(yes) || toMicros(yes) + toMicros(no) !== toMicros(1)) return null;
  return outcomeOfValue(yes);
}
