import { VenueError } from "../domain/errors.ts";
import type { ListingPage } from "../ports/venue.ts";
import { applyInSlices, type VenueContext } from "./context.ts";

/** Overlap between reads, because the venue's clock may differ from ours and a change may be listed late. */
const OVERLAP_MS = 30_000;

/** Reads the markets that changed since the last read, so that sweeps can have long pauses. */
export class ChangesReader {
  readonly #context: VenueContext;
  /** Start of the last complete read, Unix milliseconds; at first the start of the ingest. */
  #readAt: number;

  constructor(context: VenueContext) {
    this.#context = context;
    this.#readAt = context.clock.now();
  }

  /**
   * Applies the changes since the last complete read or sweep.
   *
   * @param sweptAt  start of the last complete sweep, Unix milliseconds; null before the first one is complete
   */
  async read(sweptAt: number | null): Promise<void> {
    const { venue, clock, health, signal } = this.#context;
    if (venue.listChangedMarkets === undefined) return;
    const startedAt = clock.now();
    // Earlier times are in the future if our clock has been set back.
    const sinceMs = Math.min(startedAt, Math.max(this.#readAt, sweptAt ?? 0)) - OVERLAP_MS;
    let isComplete = true;
    try {
      for await (const page of venue.listChangedMarkets(sinceMs, signal)) {
        const markets = page.markets.filter((market) => this.#isWanted(market));
        await applyInSlices(this.#context, { ...page, markets });
        health.succeeded();
        if (page.incompleteReason != null) isComplete = false;
      }
    } catch (error) {
      if (!(error instanceof VenueError) || error.failure !== "client_error") throw error;
      // The venue refuses to list changes; sweeps still find them. Treated as an outage, it would cause constant sweeps.
      health.drop("changes_unavailable");
      return;
    }
    if (isComplete) this.#readAt = startedAt;
  }

  /** A market that was over before this node could see it open is not added to the board. */
  #isWanted({ listing: { venue, marketId, status } }: ListingPage["markets"][number]): boolean {
    return status === "active" || status === "pending" || this.#context.board.find(venue, marketId) !== null;
  }
}
