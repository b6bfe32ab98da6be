/** Ingest: reads the venues and keeps the board and the store true. */

import type { MarketBoard } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { EventLog } from "../event-log/index.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../ports/venue.ts";
import {
  createChangeStore,
  createHistoryStore,
  createMarketStore,
  createTickWriter,
  DEFAULT_RETENTION,
  type PastPrices,
  type RetentionDays,
  StoredPastPrices,
  type TickCounters,
  venueLeaseName,
} from "../storage/index.ts";
import { Backfill } from "./backfill.ts";
import { Follower } from "./follower.ts";
import { parseHealthReport } from "./health-codec.ts";
import { createLeaseStore } from "./lease-store.ts";
import { Leases } from "./leases.ts";
import { StoreWriter } from "./store-writer.ts";
import type { VenueHealth, VenueStatusReport } from "./venue-health.ts";
import { VenueIngest } from "./venue-ingest.ts";

export { VenueHealth } from "./venue-health.ts";

const LOOK_UP_MS_MAX = 4_000;
/** Callers may not use up a venue's request budget with ids that nobody knows: the ingest needs it. */
const LOOK_UPS_MAX = 4;
const SETTLED_SHOWN_MS = 30 * 86_400_000;
const ROLL_UP_EVERY_MS = 60_000;
const DAY_AGO_EVERY_MS = 2 * 60_000;
/** After this many markets in one go, whoever else waits has a turn. */
const MARKETS_AT_ONCE = 1_000;
const RETENTION_EVERY_MS = 3_600_000;
/** A job whose lease another node holds looks this often whether it is its turn now. */
const JOB_STANDBY_MS = 5_000;
const JOBS_LEASE = "job:maintenance";
/** The bus topic on which a node tells that it has stored changes of markets. */
const CHANGES_TOPIC = "market_changes";
/** Counting the markets is a pass over all of them, and probes ask for health often. */
const COUNTED_FOR_MS = 500;

export interface IngestOptions {
  readonly venues: readonly { readonly adapter: VenueAdapter; readonly health: VenueHealth }[];
  readonly board: MarketBoard;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly eventLog: EventLog;
  readonly eventDays: number;
  /** What replaces the defaults of how long things are kept. */
  readonly retention?: Partial<RetentionDays>;
  /** This process among others on the same store; left out where it is alone and does everything. */
  readonly node?: NodeSettings;
  /** Tells the other processes of what was stored; without it each looks by itself, twice a second. */
  readonly bus?: Bus;
}

/** Of several processes that share a store: which this one is and what it does. */
export interface NodeSettings {
  /** Unlike that of any other process, also of this one's earlier lives. */
  readonly id: string;
  /** Answers calls, so the board must have every venue. */
  readonly serves: boolean;
  /** Reads those venues whose leases it holds. */
  readonly ingests: boolean;
  /** Does the store's housekeeping while it holds the lease for it. */
  readonly maintains: boolean;
}

export interface Ingest {
  /** Fills the board from the store; afterwards what was known before the restart can be read. */
  restore(): Promise<number>;
  start(): void;
  /** Every venue's first sweep has ended, well or badly, here or on the node that reads it. */
  readonly isSettled: boolean;
  health(): Record<VenueId, VenueStatusReport>;
  /** Asks a venue for one market and puts it on the board; false where the venue does not know it. */
  lookUp(venue: VenueId, marketId: string): Promise<boolean>;
  readonly past: PastPrices;
  /** Rows on their way into the store. */
  readonly counters: IngestCounters;
  /** What the background jobs last failed with, by name; empty when all is well. */
  readonly failingJobs: readonly string[];
  stop(): Promise<void>;
}

/** Written and dropped count since the start; queued is now. */
export interface IngestCounters {
  readonly ticks: TickCounters;
  readonly markets: { readonly queued: number };
  readonly trades: { readonly queued: number; readonly dropped: number };
  readonly statusChanges: { readonly dropped: number };
}

export function createIngest(options: IngestOptions): Ingest {
  const { venues, board, database, clock, log, node, eventLog } = options;
  const store = createMarketStore(database, undefined, () => eventLog.announce());
  const changes = createChangeStore(database);
  const history = createHistoryStore(database);
  const ticks = createTickWriter({ database, clock, log });
  const known = new Map(venues.map((venue) => [venue.adapter.id, venue]));
  const hasBoard = node === undefined || node.serves || node.ingests;
  /** The venues that are read here, now. */
  const running = new Map<VenueId, VenueIngest>();
  const settledSince = () => clock.now() - SETTLED_SHOWN_MS;

  const leases =
    node === undefined
      ? null
      : new Leases({
          store: createLeaseStore(database),
          holder: node.id,
          wanted: [
            ...(node.ingests ? [...known.keys()].map(venueLeaseName) : []),
            ...(node.maintains ? [JOBS_LEASE] : []),
          ],
          watched: [...known.keys()].map(venueLeaseName),
          handlers: {
            taken: (name) => void begin(venueOf(name)),
            ended: (name, isLost) => end(venueOf(name), isLost),
            report: (name) => {
              const venue = venueOf(name);
              const health = venue !== null && running.has(venue) ? known.get(venue)?.health : undefined;
              return health === undefined ? null : JSON.stringify(health.report(0));
            },
          },
          clock,
          log,
        });
  const claim = (venue: VenueId) => {
    const fence = leases?.fenceOf(venueLeaseName(venue)) ?? null;
    return fence === null ? null : { venue, fence };
  };
  const follower =
    leases === null
      ? null
      : new Follower({
          venues: [...known.keys()],
          isFollowed: (venue) => claim(venue) === null && !running.has(venue),
          finalizedSinceMs: settledSince,
          ...{ board, changes, clock, log },
        });
  let unsubscribe: (() => void) | undefined;
  const areSweepsOver = () => [...running.keys()].every((venue) => known.get(venue)?.health.isSettled === true);
  const announce = () => options.bus?.publish(CHANGES_TOPIC);
  const shared = leases === null ? {} : { shared: { claim, changes, announce } };
  const isFirstSweep = () => !areSweepsOver();
  const recorder = new StoreWriter({ board, store, ticks, clock, log, isFirstSweep, ...shared });
  const past = new StoredPastPrices({
    history,
    venues: venues.map(({ adapter }) => adapter),
    board,
    clock,
    store: (market) => recorder.flushMarket(market),
  });
  const read = (venue: VenueId) => {
    const { adapter, health } = known.get(venue) ?? {};
    if (adapter === undefined || health === undefined) return;
    const ingest = new VenueIngest({
      venue: adapter,
      backfill: new Backfill({ venue, board, past, clock }),
      areFirstSweepsOver: areSweepsOver,
      ...{ board, recorder, health, clock, log },
    });
    running.set(venue, ingest);
    ingest.start();
  };

  const venueOf = (name: string): VenueId | null =>
    [...known.keys()].find((venue) => venueLeaseName(venue) === name) ?? null;

  /** A venue is ours: what its last reader has stored is taken over first, then it is read. */
  const begin = async (venue: VenueId | null) => {
    if (venue === null) return;
    await follower?.catchUp(venue).catch((error: unknown) => {
      log.warn({ venue, err: error }, "the venue's last state could not be read; it is read from the venue");
    });
    // Lost or given up meanwhile, or begun by an earlier call.
    if (leases?.keeps(venueLeaseName(venue)) !== true || running.has(venue)) return;
    known.get(venue)?.health.began();
    read(venue);
  };

  const end = async (venue: VenueId | null, isLost: boolean) => {
    if (venue === null) return;
    const ingest = running.get(venue);
    await ingest?.stop();
    if (isLost) {
      // Changes may never have reached the store: what the board has of this venue cannot be trusted.
      follower?.forget(venue);
    } else {
      await recorder.flush();
      await ticks.flush();
    }
    if (running.get(venue) === ingest) running.delete(venue);
  };

  const stopping = new AbortController();
  const failing = new Set<string>();
  const lookUps = new Map<VenueId, number>();
  const jobs: Promise<void>[] = [];

  const job = async (name: string, everyMs: number, run: () => Promise<unknown>, isOurs = () => true) => {
    while (!stopping.signal.aborted) {
      const isOurTurn = isOurs();
      try {
        if (isOurTurn) await run();
        failing.delete(name);
      } catch (error) {
        failing.add(name);
        log.warn({ job: name, err: error }, "background job failed and will run again");
      }
      await clock.sleep(isOurTurn ? everyMs : JOB_STANDBY_MS, stopping.signal).catch(() => {});
    }
  };

  const readDayAgo = async () => {
    const prices = await history.priceDayAgo(clock.now());
    let annotated = 0;
    for (const market of board.markets()) {
      const price = market.storeKey === null ? undefined : prices.get(market.storeKey);
      if (price === undefined || price === market.priceDayAgo) continue;
      board.annotate(market, { priceDayAgo: price });
      annotated += 1;
      if (annotated % MARKETS_AT_ONCE === 0) await clock.sleep(0);
    }
  };

  let counted = { at: Number.NEGATIVE_INFINITY, active: new Map<VenueId, number>() };
  const countActive = (): ReadonlyMap<VenueId, number> => {
    const now = clock.monotonic();
    if (now - counted.at < COUNTED_FOR_MS) return counted.active;
    const active = new Map<VenueId, number>();
    for (const { listing } of board.markets()) {
      if (listing.status === "active") active.set(listing.venue, (active.get(listing.venue) ?? 0) + 1);
    }
    counted = { at: now, active };
    return active;
  };

  /** Markets settled long ago leave the board; the store keeps them. */
  const forgetSettled = async () => {
    const before = settledSince();
    const old = [...board.markets()].filter(
      ({ listing, updatedAt }) => listing.status === "finalized" && updatedAt < before,
    );
    for (const market of old) board.remove(market);
  };

  const retention = { ...DEFAULT_RETENTION, ...options.retention };
  const isMaintaining = () => leases === null || leases.fenceOf(JOBS_LEASE) !== null;

  /** As the node that reads the venue last told it. */
  const followed = (venue: VenueId, markets: number, health: VenueHealth): VenueStatusReport => {
    const lease = leases?.find(venueLeaseName(venue)) ?? null;
    const report = lease?.report == null ? null : parseHealthReport(lease.report);
    const ageMs = (lease?.reportAgeMs ?? 0) + (lease?.ageMs ?? 0);
    return { ...health.aged(report, ageMs, lease?.isLive === true, markets), role: "follower" };
  };

  const isVenueSettled = (venue: VenueId, health: VenueHealth): boolean => {
    if (leases === null || running.has(venue)) return health.isSettled;
    // Ours in a moment, when its last state was read.
    if (!leases.isInformed || claim(venue) !== null) return false;
    const { sweep, status } = followed(venue, 0, health);
    return sweep.completed > 0 || status === "degraded" || status === "down";
  };

  return {
    async restore() {
      if (!hasBoard) return 0;
      await follower?.skipToPresent();
      for await (const events of store.loadEvents()) for (const event of events) board.applyEvent(event);
      for await (const page of store.loadAll({ finalizedSinceMs: settledSince() })) {
        for (const { snapshot, key } of page) if (known.has(snapshot.listing.venue)) board.restore(snapshot, key);
      }
      board.prepareLists();
      return board.size;
    },
    start() {
      recorder.start();
      if (leases === null) for (const venue of known.keys()) read(venue);
      leases?.start();
      if (hasBoard) {
        follower?.start();
        if (follower !== null) unsubscribe = options.bus?.subscribe(CHANGES_TOPIC, () => follower.wake());
        jobs.push(
          job("price_day_ago", DAY_AGO_EVERY_MS, readDayAgo),
          job("forget_settled", RETENTION_EVERY_MS, forgetSettled),
        );
      }
      if (node?.maintains !== false) {
        jobs.push(
          job("roll_up", ROLL_UP_EVERY_MS, () => history.rollUp(clock.now()), isMaintaining),
          job("retention", RETENTION_EVERY_MS, () => history.applyRetention(clock.now(), retention), isMaintaining),
          job("event_retention", RETENTION_EVERY_MS, () => eventLog.applyRetention(options.eventDays), isMaintaining),
        );
      }
    },
    get isSettled() {
      return !hasBoard || venues.every(({ adapter, health }) => isVenueSettled(adapter.id, health));
    },
    health() {
      const counts = countActive();
      return Object.fromEntries(
        venues.map(({ adapter: { id }, health }) => {
          const markets = counts.get(id) ?? 0;
          const isRead = leases === null || running.has(id);
          return [id, isRead ? { ...health.report(markets), role: "ingest" } : followed(id, markets, health)];
        }),
      );
    },
    async lookUp(venue, marketId) {
      const adapter = known.get(venue)?.adapter;
      if (adapter === undefined) return false;
      const inFlight = lookUps.get(venue) ?? 0;
      if (inFlight >= LOOK_UPS_MAX) {
        throw new VenueError("rate_limited", `${venue} is being asked for too many unknown markets`, {
          retryable: true,
        });
      }
      lookUps.set(venue, inFlight + 1);
      const deadline = AbortSignal.timeout(LOOK_UP_MS_MAX);
      try {
        const page = await adapter.findMarket(marketId, deadline);
        if (page !== null) absorb(venue, page);
        return page !== null;
      } catch (error) {
        if (deadline.aborted)
          throw new VenueError("timeout", `${venue} did not answer in time`, { retryable: true, cause: error });
        throw error;
      } finally {
        lookUps.set(venue, (lookUps.get(venue) ?? 1) - 1);
      }
    },
    past,
    get counters() {
      const { marketsQueued, tradesQueued, tradesDropped, statusChangesDropped } = recorder.counters;
      return {
        ticks: ticks.counters,
        markets: { queued: marketsQueued },
        trades: { queued: tradesQueued, dropped: tradesDropped },
        statusChanges: { dropped: statusChangesDropped },
      };
    },
    get failingJobs() {
      return [...failing];
    },
    async stop() {
      stopping.abort();
      unsubscribe?.();
      await leases?.stop();
      await Promise.all([...running.values()].map((ingest) => ingest.stop()));
      await follower?.stop();
      await Promise.allSettled(jobs);
      await recorder.close();
    },
  };

  /** Puts on the board what a caller asked for by name; of a venue that another node reads, only what is unknown here. */
  function absorb(venue: VenueId, page: ListingPage): void {
    const ingest = running.get(venue);
    if (ingest !== undefined) {
      ingest.absorb(page);
      return;
    }
    for (const event of page.events) if (board.applyEvent(event)) recorder.noteEvent(event);
    for (const snapshot of page.markets) {
      const { venue: of, marketId } = snapshot.listing;
      if (board.find(of, marketId) === null) recorder.note(board.apply(snapshot, page.requestedAt));
    }
  }
}
