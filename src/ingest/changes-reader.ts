import { VenueError } from "../domain/errors.ts";
import type { MarketSnapshot } from "../domain/market.ts";
import { applyInSlices, type VenueContext } from "./context.ts";

/** Overlap between reads, because the venue's clock may differ from ours and a change may be listed late. */
const OVERLAP_MS = 30_000;

/**
 * Returns a function that applies the markets that changed since the last complete read or sweep, so that sweeps can
 * have long pauses. Its parameter is the start of the last complete sweep in Unix milliseconds, or null before the
 * first one is complete.
 */
export function createChangesReader(context: VenueContext): (sweptAt: number | null) => Promise<void> {
  const { venue, board, clock, health, signal } = context;
  /** Start of the last complete read, Unix milliseconds; at first the start of the ingest. */
  let readAt = clock.now();

  /** Rejects ended markets that are not on the board. */
  const isWanted = ({ listing: { marketId, status } }: MarketSnapshot) =>
    status === "active" || status === "pending" || board.find(venue.id, marketId) !== null;

  return async (sweptAt) => {
    if (venue.listChangedMarkets === undefined) return;
    const startedAt = clock.now();
    // If this node's clock was set back, `readAt` and `sweptAt` may be in the future.
    const sinceMs = Math.min(startedAt, Math.max(readAt, sweptAt ?? 0)) - OVERLAP_MS;
    let isComplete = true;
    try {
      for await (const page of venue.listChangedMarkets(sinceMs, signal)) {
        await applyInSlices(context, { ...page, markets: page.markets.filter(isWanted) });
        health.succeeded();
        if (page.incompleteReason != null) isComplete = false;
      }
    } catch (error) {
      if (!(error instanceof VenueError) || error.failure !== "client_error") throw error;
      // The venue refuses to list changes. This is not treated as an outage, which would cause constant sweeps: the
      // usual sweeps still find the changes.
      health.drop("changes_unavailable");
      return;
    }
    if (isComplete) readAt = startedAt;
  };
}
