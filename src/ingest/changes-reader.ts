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

  /** A market that this node never received as open is not added to the board after its end. */
  const isWanted = ({ listing: { marketId, status } }: MarketSnapshot) =>
    status === "active" || status === "pending" || board.find(venue.id, marketId) !== null;

  return async (sweptAt) => {
    if (venue.listChangedMarkets === undefined) return;
    const startedAt = clock.now();
    // Earlier times are in the future if our clock has been set back.
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
      // The venue refuses to list changes; sweeps still find them. Treated as an outage, it would cause constant
      // sweeps.
      health.drop("changes_unavailable");
      return;
    }
    if (isComplete) readAt = startedAt;
  };
}
