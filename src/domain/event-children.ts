/**
 * Why a market of an event is not among the event's open markets on the board. settled_no: settled NO. settled: settled
 * otherwise. closed: closed without a known result. placeholder: an outcome without a name yet, or "Other", whose
 * meaning changes. unreadable: the row lacks required fields.
 */
export const LEFT_OUT_REASONS = ["settled_no", "settled", "closed", "placeholder", "unreadable"] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** Number of markets that a venue lists for an event, and number of them that were read. */
export interface EventChildren {
  /** Rows in the venue's response, read or left out. */
  readonly total: number;
  readonly read: number;
  /** Rows left out by reason, without zeros. */
  readonly leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
}

/** Counts the rows of an event by the reason why they were left out; null for a row that was read. */
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

export function isSettledNo({ status, outcome }: Settlement): boolean {
  return status === "finalized" && outcome?.kind === "no";
}

/** Returns why a parsed market does not count as open; null if it does. */
export function settledReasonOf(listing: Settlement): LeftOutReason | null {
  if (listing.status !== "finalized") return null;
  return isSettledNo(listing) ? "settled_no" : "settled";
}
