import type { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import type { StoredPastPrices } from "../storage/index.ts";
import { Backfill } from "./backfill.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { VenueHealth } from "./venue-health.ts";
import { VenueIngest } from "./venue-ingest.ts";

export interface IngestVenue {
  readonly adapter: VenueAdapter;
  readonly health: VenueHealth;
}

export interface VenueReadersOptions {
  readonly venues: ReadonlyMap<VenueId, IngestVenue>;
  readonly board: MarketBoard;
  readonly storeWriter: StoreWriter;
  readonly pastPrices: StoredPastPrices;
  readonly clock: Clock;
  readonly log: Log;
}

/** The venues that this process reads at the moment. */
export class VenueReaders {
  readonly #options: VenueReadersOptions;
  readonly #readers = new Map<VenueId, VenueIngest>();

  constructor(options: VenueReadersOptions) {
    this.#options = options;
  }

  find(venue: VenueId): VenueIngest | undefined {
    return this.#readers.get(venue);
  }

  has(venue: VenueId): boolean {
    return this.#readers.has(venue);
  }

  /** The first sweep of every venue read here has completed or failed. */
  areFirstSweepsOver(): boolean {
    const { venues } = this.#options;
    return [...this.#readers.keys()].every((venue) => venues.get(venue)?.health.isSettled === true);
  }

  start(venue: VenueId): void {
    const { venues, board, storeWriter, pastPrices, clock, log } = this.#options;
    const { adapter, health } = venues.get(venue) ?? {};
    if (adapter === undefined || health === undefined) return;
    const reader = new VenueIngest({
      venue: adapter,
      board,
      storeWriter: storeWriter,
      backfill: new Backfill({ venue, board, pastPrices: pastPrices, clock }),
      health,
      areFirstSweepsOver: () => this.areFirstSweepsOver(),
      clock,
      log,
    });
    this.#readers.set(venue, reader);
    reader.start();
  }

  /** Stops reading a venue. It counts as read here until `finish`, which stores what is queued, has resolved. */
  async stop(venue: VenueId, finish: () => Promise<void>): Promise<void> {
    const reader = this.#readers.get(venue);
    await reader?.stop();
    await finish();
    if (this.#readers.get(venue) === reader) this.#readers.delete(venue);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.stop()));
  }
}
