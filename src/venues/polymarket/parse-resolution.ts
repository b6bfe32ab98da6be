import type { Outcome } from "../../domain/market.ts";
import { fromMicros, parseDecimal, toMicros } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { listOf, plausibleTime } from "./parse-values.ts";
import type { Resolution } from "./wire.ts";

/** What the oracle says of one question. */
export interface ResolutionFacts {
  readonly state: "open" | "proposed" | "contested" | "settled";
  /** Settled, or proposed and not contested; null otherwise. */
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
/** Written where no price was proposed. */
const UNSET_PRICE = 69;
/** On chain a price of 1 is 1e18; some rows carry that form. */
const CHAIN_UNIT = 1e18;
const CHAIN_PRICE_MIN = 1e9;

/** A resolutions row to domain. A proposal that is being contested stands for nothing yet. */
export function parseResolution(row: Resolution, drop: DropCounter): ResolutionFacts {
  const state = Object.hasOwn(STATES, row.status) ? (STATES[row.status] ?? "open") : "open";
  if (state === "settled") {
    const outcome = outcomeOfPayouts(row.payouts);
    if (outcome === null) drop("bad_payouts");
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

/** What one YES contract pays, as an outcome. */
function outcomeOfValue(value: number): Outcome {
  if (value === 1) return { kind: "yes" };
  if (value === 0) return { kind: "no" };
  return { kind: "partial", value };
}

/** `[1000000, 0]` and the like: what each token pays, in millionths, together 1. */
function outcomeOfPayouts(value: unknown): Outcome | null {
  const list = listOf(value);
  const yes = parseDecimal(list?.[0]);
  const no = parseDecimal(list?.[1]);
  if (list?.length !== 2 || yes === null || no === null || yes < 0 || no < 0 || yes + no !== PAYOUT_UNIT) return null;
  return outcomeOfValue(fromMicros(Math.round(yes)));
}

/** Final prices are exactly 0 and 1, or a half each; anything else is a market price, not a result. */
export function outcomeOfPrices(value: unknown): Outcome | null {
  const list = listOf(value);
  const yes = parseDecimal(list?.[0]);
  const no = parseDecimal(list?.[1]);
  if (list?.length !== 2 || yes === null || no === null) return null;
  if (![0, 0.5, 1].includes(yes) || toMicros(yes) + toMicros(no) !== toMicros(1)) return null;
  return outcomeOfValue(yes);
}
