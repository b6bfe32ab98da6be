import type { Outcome } from "../../domain/market.ts";
import { fromMicros, parseDecimal, toMicros } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseList, parseText, parseTime, toPlausibleTime } from "./parse-values.ts";
import type { GammaMarket, Resolution } from "./wire.ts";

/**
 * State of the resolution of one question. open: no outcome is proposed. proposed: the proposed outcome is not
 * disputed. contested: the proposed outcome is disputed. settled: final. unavailable: the oracle's feed could not be
 * read.
 */
export interface ParsedResolution {
  readonly state: "open" | "proposed" | "contested" | "settled" | "unavailable";
  /** Present only if settled: a proposal is not a result. */
  readonly outcome: Outcome | null;
  /** Unix milliseconds. */
  readonly resolvedAt: number | null;
}

/** Statuses of the resolutions endpoint and of `umaResolutionStatus`. An unknown status counts as open. */
const STATES: Readonly<Record<string, ParsedResolution["state"]>> = {
  proposed: "proposed",
  reproposed: "proposed",
  challenged: "contested",
  disputed: "contested",
  arbitration: "contested",
  resolved: "settled",
  settled: "settled",
};

const PAYOUT_UNIT = 1_000_000;

export function parseResolution(row: Resolution, countDrop: DropCounter): ParsedResolution {
  const state = stateOf(row.status);
  if (state !== "settled") return { state, outcome: null, resolvedAt: null };
  const outcome = outcomeOfPayouts(row.payouts);
  if (outcome === null) countDrop("bad_payouts");
  return { state, outcome, resolvedAt: resolutionTimeOf(row.resolved_at) };
}

/** Returns the oracle's state in a market row: the current status, or else the last status of its history, or null. */
export function oracleStateOfRow(
  row: Pick<GammaMarket, "umaResolutionStatus" | "umaResolutionStatuses">,
): ParsedResolution["state"] | null {
  const status = parseText(row.umaResolutionStatus) ?? parseText(parseList(row.umaResolutionStatuses)?.at(-1));
  return status === null ? null : stateOf(status);
}

function stateOf(status: string): ParsedResolution["state"] {
  const name = status.toLowerCase();
  return Object.hasOwn(STATES, name) ? (STATES[name] ?? "open") : "open";
}

/** Parses ISO text, or Unix seconds as a number or text. */
function resolutionTimeOf(value: unknown): number | null {
  const seconds = parseDecimal(value);
  return seconds === null ? parseTime(value) : toPlausibleTime(seconds * 1000);
}

/** Converts the payout of one YES contract to an outcome. */
function outcomeOfValue(value: number): Outcome {
  if (value === 1) return { kind: "yes" };
  if (value === 0) return { kind: "no" };
  return { kind: "partial", value };
}

/** Parses a list of two numbers. */
function parsePair(value: unknown): readonly [number | null, number | null] {
  const list = parseList(value);
  return list?.length === 2 ? [parseDecimal(list[0]), parseDecimal(list[1])] : [null, null];
}

/** Parses the payouts of both tokens in millionths, which sum to 1: `[1000000, 0]`. */
function outcomeOfPayouts(value: unknown): Outcome | null {
  const [yes, no] = parsePair(value);
  if (yes === null || no === null || yes < 0 || no < 0 || yes + no !== PAYOUT_UNIT) return null;
  return outcomeOfValue(fromMicros(Math.round(yes)));
}

/** Returns the outcome of final prices, which are exactly 0 and 1 or both 0.5, or null for other prices. */
export function outcomeOfPrices(value: unknown): Outcome | null {
  const [yes, no] = parsePair(value);
  if (yes === null || no === null) return null;
  if (![0, 0.5, 1].includes(yes) || toMicros(yes) + toMicros(no) !== toMicros(1)) return null;
  return outcomeOfValue(yes);
}
