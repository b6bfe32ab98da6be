/**
 * Why a market of an event is not among the event's open markets on the board. settled_no: settled NO. settled: settled
 * otherwise. closed: closed without a known result. placeholder: an outcome that is not named yet, or "Other", whose
 * meaning changes. unreadable: the row lacks what a market needs.
 */
export const LEFT_OUT_REASONS = ["settled_no", "settled", "closed", "placeholder", "unreadable"] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** How many markets a venue lists for an event, and how many of them were read. */
export interface EventChildren {
  /** Rows in the venue's response: those read and those left out. */
  readonly total: number;
  readonly read: number;
  /** Rows left out by reason, without zeros. */
  readonly leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
}

/** Counts the rows of an event. `null` is a row that was read. */
export function countChildren(rows: Iterable<LeftOutReason | null>): EventChildren {
  const leftOut: Partial<Record<LeftOutReason, number>> = {};
  let total = 0;
  let read = 0;
  for (const reason of rows) {
    total += 1;
    if (reason === null) read += 1;
    else leftOut[reason] = (leftOut[reason] ?? 0) + 1;
  }
  return { total, read, leftOut };
}

interface Settlement {
  readonly status: string;
  readonly outcome: { readonly kind: string } | null;
}

/** Whether the market is finally settled NO, so it is not the outcome of its event. */
export function isSettledNo({ status, outcome }: Settlement): boolean {
  return status === "finalized" && outcome?.kind === "no";
}

/** Returns why a market that was parsed does not count as open; null if it counts. */
export function settledReasonOf(listing: Settlement): LeftOutReason | null {
  if (listing.status !== "finalized") return null;
  return isSettledNo(listing) ? "settled_no" : "settled";
}
