/** Resolved questions for tests. */

import type { ResolvedRow } from "../../../research/engine/rows.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";

export const RESOLVED_AT = Date.UTC(2026, 5, 1);

/** Returns the time that is `days` before the resolution. */
export const daysBefore = (days: number): string => new Date(RESOLVED_AT - days * DAY_MS).toISOString();

/** A question that resolves YES, with one price of 0.6 two days before the resolution. */
export function createRow(changes: Partial<ResolvedRow> = {}): ResolvedRow {
  return {
    venue: "venue_a",
    market_id: "M",
    resolved_at: daysBefore(0),
    outcome: 1,
    prices: [[daysBefore(2), 0.6]],
    title: "Will it happen?",
    group: "g",
    ...changes,
  };
}
