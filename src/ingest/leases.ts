import { PeriodicJob } from "../lib/periodic-job.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { LeaseRow, LeaseStore, LeaseView } from "./lease-store.ts";

/** Time until a lease expires without renewal. Another node takes over a killed node's lease after this time. */
export const LEASE_MS = 6_000;
const ROUND_PAUSE_MS = 1_000;
/** Time before the expiry at which a holder stops its work, because stopping takes time and timers can be late. */
const STOP_MARGIN_MS = 1_500;

export interface LeaseHandlers {
  /** Called when this node has acquired the lease. */
  acquired(name: string): void;
  /**
   * Called when the lease ends; must stop the work. If `isLost`, another node may already hold the lease. Otherwise
   * this node holds the lease until the promise resolves, so that queued rows can be written.
   */
  ended(name: string, isLost: boolean): Promise<void>;
  /** Returns a report on the work under this lease for the other nodes, or null to keep the previous report. */
  report(name: string): string | null;
}

export interface LeasesOptions {
  readonly store: LeaseStore;
  /** Id of this node. */
  readonly holder: string;
  /** Names of the leases that this node may hold. Leases with the same prefix before the colon are spread evenly. */
  readonly eligible: readonly string[];
  /** Names of the leases that `find` returns. */
  readonly watched: readonly string[];
  readonly handlers: LeaseHandlers;
  readonly clock: Clock;
  readonly log: Log;
}

/** The state of a lease that was read from the store `ageMs` ago. */
export interface ObservedLease extends LeaseRow {
  readonly ageMs: number;
}

interface Held {
  readonly fence: number;
  /** Monotonic time at which the work must stop unless the lease is renewed. */
  stopAt: number;
  cancelTimer: () => void;
  isEnding: boolean;
}

const groupOf = (name: string) => name.slice(0, name.indexOf(":"));

/**
 * Acquires, renews, balances and releases leases. At most one node holds a lease at any time: a holder counts the
 * lease's duration from the time at which it sent the renewal, on its monotonic clock. So it stops before the lease
 * expires in the store.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #held = new Map<string, Held>();
  /** Names of lost leases whose work has not stopped yet. They cannot be acquired until it has. */
  readonly #stopping = new Set<string>();
  readonly #endings = new Set<Promise<void>>();
  readonly #job: PeriodicJob;
  #view: { readonly view: LeaseView; readonly at: number } | null = null;
  #isClosing = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#job = new PeriodicJob({
      clock: options.clock,
      intervalMs: ROUND_PAUSE_MS,
      run: async () => {
        while (await this.#round());
      },
      onFailure(error, failures) {
        if (failures === 1) options.log.warn({ err: error }, "leases could not be renewed or read");
      },
    });
  }

  start(): void {
    this.#job.start();
  }

  /** Returns the fence of a lease that this node holds, or null if this node does not hold it. */
  fenceOf(name: string): number | null {
    const held = this.#held.get(name);
    return held !== undefined && this.#options.clock.monotonic() < held.stopAt ? held.fence : null;
  }

  /** Returns whether this node holds the lease and is not releasing it. */
  holds(name: string): boolean {
    return this.fenceOf(name) !== null && this.#held.get(name)?.isEnding === false;
  }

  /** Returns the last read state of a lease, or null if it has not been read or no node has ever held the lease. */
  find(name: string): ObservedLease | null {
    const lease = this.#view?.view.leases.find((row) => row.name === name);
    if (this.#view === null || lease === undefined) return null;
    return { ...lease, ageMs: this.#options.clock.monotonic() - this.#view.at };
  }

  /** True if the leases have been read from the store at least once. */
  get hasView(): boolean {
    return this.#view !== null;
  }

  /** Stops all work, then releases all leases, so that other nodes can acquire them immediately. */
  async stop(): Promise<void> {
    const { store, holder, eligible, log } = this.#options;
    this.#isClosing = true;
    // The leases are renewed until the work has ended, so that its queued rows can be written.
    await this.#releaseAll();
    await this.#job.stop();
    await this.#releaseAll();
    try {
      if (eligible.length > 0) await store.withdraw(holder);
    } catch (error) {
      log.warn({ err: error }, "could not withdraw this node; other nodes count it until its candidacy expires");
    }
  }

  async #releaseAll(): Promise<void> {
    for (const name of [...this.#held.keys()]) this.#release(name);
    await Promise.all(this.#endings);
  }

  /** Renews all leases, then acquires or releases at most one. Returns true if another one may follow immediately. */
  async #round(): Promise<boolean> {
    const { store, holder, eligible, watched, clock } = this.#options;
    await this.#renew();
    if (this.#isClosing) return false;
    if (eligible.length > 0) await store.announce(holder, eligible, LEASE_MS);
    const view = await store.view([...new Set([...watched, ...eligible])]);
    this.#view = { view, at: clock.monotonic() };
    if (this.#isClosing) return false;
    const freeName = this.#findFree(view);
    if (freeName !== null) return this.#acquire(freeName);
    const surplusName = this.#findSurplus(view);
    if (surplusName !== null) this.#release(surplusName);
    return false;
  }

  async #renew(): Promise<void> {
    const { store, holder, handlers, clock } = this.#options;
    const leases = [...this.#held].map(([name, { fence }]) => ({ name, fence, report: handlers.report(name) }));
    const sentAt = clock.monotonic();
    const renewed = await store.renew(leases, holder, LEASE_MS);
    for (const { name, fence } of leases) {
      const held = this.#held.get(name);
      if (held === undefined || held.fence !== fence) continue;
      if (renewed.has(name)) this.#extend(name, held, sentAt);
      else this.#lose(name, "another node has acquired it");
    }
  }

  #extend(name: string, held: Held, sentAt: number): void {
    const { clock } = this.#options;
    held.stopAt = sentAt + LEASE_MS - STOP_MARGIN_MS;
    held.cancelTimer();
    held.cancelTimer = clock.setTimeout(
      () => this.#lose(name, "it could not be renewed in time"),
      held.stopAt - clock.monotonic(),
    );
  }

  /** Returns a lease without holder, if no other live candidate holds fewer leases of its group; otherwise null. */
  #findFree(view: LeaseView): string | null {
    const { eligible, holder } = this.#options;
    const isHeldElsewhere = new Map(view.leases.map((lease) => [lease.name, lease.isLive && lease.holder !== holder]));
    for (const name of eligible) {
      if (this.#held.has(name) || this.#stopping.has(name) || isHeldElsewhere.get(name) === true) continue;
      const others = view.candidates.filter(({ candidate, names }) => candidate !== holder && names.includes(name));
      const ownCount = this.#count(groupOf(name));
      if (others.every(({ candidate }) => ownCount <= countOf(view, candidate, groupOf(name)))) return name;
    }
    return null;
  }

  /**
   * Returns a lease to hand over to a node with at least two fewer leases, or null. Only the node with the most leases
   * hands over, one lease at a time, and not while a lease has no holder, so that the distribution becomes stable.
   */
  #findSurplus(view: LeaseView): string | null {
    const { eligible, holder } = this.#options;
    for (const group of new Set(eligible.map(groupOf))) {
      const leases = view.leases.filter(({ name }) => groupOf(name) === group);
      const ownLeases = [...this.#held].filter(([name]) => groupOf(name) === group);
      if (ownLeases.some(([, { isEnding }]) => isEnding) || leases.some(({ isLive }) => !isLive)) continue;
      const hasPriority = (candidate: string) => {
        const count = countOf(view, candidate, group);
        return count > ownLeases.length || (count === ownLeases.length && candidate < holder);
      };
      const others = view.candidates.filter(({ candidate }) => candidate !== holder);
      if (others.some(({ candidate }) => hasPriority(candidate))) continue;
      const receivers = others.filter(({ candidate }) => countOf(view, candidate, group) <= ownLeases.length - 2);
      // Selects the most recently acquired lease, because the least work was done under it.
      const surplusLease = ownLeases.findLast(([name]) => receivers.some(({ names }) => names.includes(name)));
      if (surplusLease !== undefined) return surplusLease[0];
    }
    return null;
  }

  #count(group: string): number {
    return [...this.#held.keys()].filter((name) => groupOf(name) === group).length;
  }

  async #acquire(name: string): Promise<boolean> {
    const { store, holder, handlers, clock, log } = this.#options;
    const sentAt = clock.monotonic();
    const fence = await store.acquire(name, holder, LEASE_MS);
    // If the response took too long, the lease is not used, and the next round retries.
    if (fence === null || clock.monotonic() >= sentAt + LEASE_MS - STOP_MARGIN_MS) return false;
    const held: Held = { fence, stopAt: 0, cancelTimer: () => {}, isEnding: false };
    this.#held.set(name, held);
    this.#extend(name, held, sentAt);
    log.info({ lease: name, fence }, "lease acquired");
    handlers.acquired(name);
    return true;
  }

  #lose(name: string, reason: string): void {
    const { handlers, log } = this.#options;
    const held = this.#held.get(name);
    if (held === undefined) return;
    held.cancelTimer();
    this.#held.delete(name);
    this.#stopping.add(name);
    log.warn({ lease: name, fence: held.fence, reason }, "lease lost");
    this.#track(handlers.ended(name, true).finally(() => this.#stopping.delete(name)));
  }

  /** Releases a lease after its work has ended. Until the release this node holds and renews the lease. */
  #release(name: string): void {
    const held = this.#held.get(name);
    if (held === undefined || held.isEnding) return;
    held.isEnding = true;
    this.#track(this.#finish(name, held));
  }

  async #finish(name: string, held: Held): Promise<void> {
    const { store, holder, handlers, log } = this.#options;
    try {
      await handlers.ended(name, false);
      if (this.#held.get(name) === held) await store.release(name, holder, held.fence);
      log.info({ lease: name, fence: held.fence }, "lease released");
    } catch (error) {
      log.warn({ lease: name, err: error }, "a lease could not be released; it will expire");
    } finally {
      held.cancelTimer();
      if (this.#held.get(name) === held) this.#held.delete(name);
    }
  }

  #track(ending: Promise<void>): void {
    const { log } = this.#options;
    const tracked = ending
      .catch((error: unknown) => log.error({ err: error }, "stopping the work under a lease failed"))
      .finally(() => this.#endings.delete(tracked));
    this.#endings.add(tracked);
  }
}

function countOf(view: LeaseView, candidate: string, group: string): number {
  return view.leases.filter(({ name, holder, isLive }) => isLive && holder === candidate && groupOf(name) === group)
    .length;
}
