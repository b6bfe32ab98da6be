import type { VenueId } from "../domain/market.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database } from "../ports/database.ts";
import { type VenueFence, venueLeaseName } from "../storage/index.ts";
import type { IngestContext } from "./context.ts";
import { createFollower, type Follower } from "./follower.ts";
import { createLeaseStore } from "./lease-store.ts";
import { Leases } from "./leases.ts";
import { parseHealthReport, type VenueHealth, type VenueStatusReport } from "./venue-health.ts";
import type { VenueReaders } from "./venue-ingest.ts";

const MAINTENANCE_LEASE = "job:maintenance";
/** The bus topic on which a node announces that it has stored changes of markets. */
export const CHANGES_TOPIC = "market_changes";

/** A process that shares the store with others, and its roles. */
export interface NodeSettings {
  /** Id that is unique to this run of the process. */
  readonly id: string;
  /** True if the node serves API requests, so that its board must contain every venue. */
  readonly serves: boolean;
  /** True if the node reads the venues whose leases it holds. */
  readonly ingests: boolean;
  /** True if the node runs the store's maintenance jobs while it holds their lease. */
  readonly maintains: boolean;
}

export interface ClusterOptions extends IngestContext {
  readonly node: NodeSettings;
  readonly readers: VenueReaders;
  readonly database: Database;
  /** Delivers other nodes' announcements of changes, which wake the follower. Without a bus, it only polls. */
  readonly bus?: Bus;
  /** Writes all queued rows to the store. */
  readonly flush: () => Promise<void>;
}

/** Shares the venues with other nodes on one store: reads some of them and loads the others from the store. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #leases: Leases;
  readonly #follower: Follower;
  readonly #venueOf: ReadonlyMap<string, VenueId>;
  #unsubscribe: () => void = () => {};

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { node, readers, database, clock, log } = options;
    this.#venueOf = new Map([...options.venues.keys()].map((venue) => [venueLeaseName(venue), venue]));
    const venueLeases = [...this.#venueOf.keys()];
    this.#leases = new Leases({
      store: createLeaseStore(database),
      holder: node.id,
      eligible: [...(node.ingests ? venueLeases : []), ...(node.maintains ? [MAINTENANCE_LEASE] : [])],
      watched: venueLeases,
      handlers: {
        acquired: (name) => void this.#startReading(this.#venueOf.get(name)),
        ended: (name, isLost) => this.#stopReading(this.#venueOf.get(name), isLost),
        report: (name) => this.#report(this.#venueOf.get(name)),
      },
      clock,
      log,
    });
    this.#follower = createFollower(options, (venue) => this.fenceOf(venue) === null && !readers.has(venue));
  }

  /** Returns this node's fence for a venue, or null if this node does not hold the venue's lease. */
  fenceOf(venue: VenueId): VenueFence | null {
    const fence = this.#leases.fenceOf(venueLeaseName(venue));
    return fence === null ? null : { venue, fence };
  }

  get isMaintainer(): boolean {
    return this.#leases.fenceOf(MAINTENANCE_LEASE) !== null;
  }

  /** Skips the changes stored so far. Call it before the board is loaded from the store. */
  skipToPresent(): Promise<void> {
    return this.#follower.skipToPresent();
  }

  start(hasBoard: boolean): void {
    this.#leases.start();
    if (!hasBoard) return;
    this.#follower.start();
    this.#unsubscribe = this.#options.bus?.subscribe(CHANGES_TOPIC, () => this.#follower.wake()) ?? this.#unsubscribe;
  }

  /** Releases the leases after all rows queued for their venues are stored. */
  async stopLeases(): Promise<void> {
    this.#unsubscribe();
    await this.#leases.stop();
  }

  stopFollowing(): Promise<void> {
    return this.#follower.stop();
  }

  /** Returns the health of a venue that another node reads, from the report that the other node stored. */
  followedHealth(venue: VenueId, markets: number, health: VenueHealth): VenueStatusReport {
    const lease = this.#leases.find(venueLeaseName(venue));
    const report = lease?.report == null ? null : parseHealthReport(lease.report);
    const ageMs = (lease?.reportAgeMs ?? 0) + (lease?.ageMs ?? 0);
    return { ...health.adjustForAge(report, ageMs, lease?.isLive === true, markets), role: "follower" };
  }

  /** Returns whether another node reads the venue and has ended its first sweep. */
  isSettledElsewhere(venue: VenueId, health: VenueHealth): boolean {
    // If this node has a fence, it is about to read the venue itself.
    if (!this.#leases.hasView || this.fenceOf(venue) !== null) return false;
    const { sweep, status } = this.followedHealth(venue, 0, health);
    return sweep.completed > 0 || status === "degraded" || status === "down";
  }

  /** Loads the changes that the venue's previous reader has stored, then starts to read the venue. */
  async #startReading(venue: VenueId | undefined): Promise<void> {
    if (venue === undefined) return;
    const { venues, readers, log } = this.#options;
    await this.#follower.catchUp(venue).catch((error: unknown) => {
      log.warn({ venue, err: error }, "the venue's stored state could not be loaded; reading it from the venue");
    });
    // While loading, the lease may have ended or an earlier call may have started the reader.
    if (!this.#leases.holds(venueLeaseName(venue)) || readers.has(venue)) return;
    venues.get(venue)?.health.readingStarted();
    readers.start(venue);
  }

  async #stopReading(venue: VenueId | undefined, isLost: boolean): Promise<void> {
    if (venue === undefined) return;
    await this.#options.readers.stop(venue, async () => {
      // After a lost lease, queued changes may never be stored, so the venue's markets are loaded from the store.
      if (isLost) this.#follower.reset(venue);
      else await this.#options.flush();
    });
  }

  #report(venue: VenueId | undefined): string | null {
    const { venues, readers } = this.#options;
    const health = venue !== undefined && readers.has(venue) ? venues.get(venue)?.health : undefined;
    return health === undefined ? null : JSON.stringify(health.report(0));
  }
}
