import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { LeaseRow, LeaseStore, LeaseView } from "./lease-store.ts";

/** Duration of a lease without renewal: another node takes over from a killed one after this time. */
export const LEASE_MS = 6_000;
const ROUND_PAUSE_MS = 1_000;
/** A holder stops this long before its lease expires, because stopping takes time and a busy event loop delays timers. */
const SAFETY_MS = 1_500;

export interface LeaseHandlers {
  /** This node has acquired the lease. */
  acquired(name: string): void;
  /**
   * The lease ends; the handler stops its work. If `isLost`, another node may hold the lease already. Otherwise the lease
   * is held until the promise resolves, so that queued rows can still be written.
   */
  ended(name: string, isLost: boolean): Promise<void>;
  /** A report for the other nodes on the work under this lease; null keeps the previous one. */
  report(name: string): string | null;
}

export interface LeasesOptions {
  readonly store: LeaseStore;
  /** Id of this node. */
  readonly holder: string;
  /** Names of the leases that this node may hold. Leases with the same text before the colon are spread evenly. */
  readonly eligible: readonly string[];
  /** Names of the leases that `find` returns. */
  readonly watched: readonly string[];
  readonly handlers: LeaseHandlers;
  readonly clock: Clock;
  readonly log: Log;
}

/** A lease as it was read from the store `ageMs` ago. */
export interface ObservedLease extends LeaseRow {
  readonly ageMs: number;
}

interface Held {
  readonly fence: number;
  /** Monotonic time at which the work must stop unless the lease was renewed. */
  stopAt: number;
  cancelTimer: () => void;
  isEnding: boolean;
}

const groupOf = (name: string) => name.slice(0, name.indexOf(":"));

/**
 * Acquires, renews, balances and releases leases. At any time at most one node holds a lease: a holder measures its time
 * from before it sent the renewal, on its monotonic clock, so it stops before the store lets another node acquire the
 * lease.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #held = new Map<string, Held>();
  /** Lost leases whose work has not stopped yet; they are not acquired again before it has. */
  readonly #stopping = new Set<string>();
  readonly #endings = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #view: { readonly view: LeaseView; readonly at: number } | null = null;
  #failures = 0;
  #isClosing = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** The fence of a lease that this node holds right now, else null. */
  fenceOf(name: string): number | null {
    const held = this.#held.get(name);
    return held !== undefined && this.#options.clock.monotonic() < held.stopAt ? held.fence : null;
  }

  /** Held and not being released. */
  holds(name: string): boolean {
    return this.fenceOf(name) !== null && this.#held.get(name)?.isEnding === false;
  }

  /** A lease as last read from the store; null before the first read and for a lease that no node ever held. */
  find(name: string): ObservedLease | null {
    const lease = this.#view?.view.leases.find((row) => row.name === name);
    if (this.#view === null || lease === undefined) return null;
    return { ...lease, ageMs: this.#options.clock.monotonic() - this.#view.at };
  }

  /** The leases were read from the store at least once. */
  get hasView(): boolean {
    return this.#view !== null;
  }

  /** Stops all work, then releases all leases, so that other nodes can acquire them immediately. */
  async stop(): Promise<void> {
    const { store, holder, eligible, log } = this.#options;
    this.#isClosing = true;
    // Renewals continue until the work has ended, so that its queued rows can still be written.
    await this.#releaseAll();
    this.#stop.abort();
    await this.#loop;
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

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      let hasMore = false;
      try {
        hasMore = await this.#round();
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        if (this.#failures === 1) log.warn({ err: error }, "leases could not be renewed or read");
      }
      if (!hasMore) await clock.sleep(ROUND_PAUSE_MS, this.#stop.signal).catch(() => {});
    }
  }

  /** Renews all leases, then acquires or releases at most one; true if another may be acquired immediately. */
  async #round(): Promise<boolean> {
    const { store, holder, eligible, watched, clock } = this.#options;
    await this.#renew();
    if (this.#isClosing) return false;
    if (eligible.length > 0) await store.announce(holder, eligible, LEASE_MS);
    const view = await store.view([...new Set([...watched, ...eligible])]);
    this.#view = { view, at: clock.monotonic() };
    if (this.#isClosing) return false;
    const free = this.#findFree(view);
    if (free !== null) return this.#acquire(free);
    const surplus = this.#findSurplus(view);
    if (surplus !== null) this.#release(surplus);
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
    held.stopAt = sentAt + LEASE_MS - SAFETY_MS;
    held.cancelTimer();
    held.cancelTimer = clock.setTimeout(
      () => this.#lose(name, "it could not be renewed in time"),
      held.stopAt - clock.monotonic(),
    );
  }

  /** A free lease for which no other live candidate holds fewer leases of the same group. */
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
   * A lease to hand over to a node with at least two fewer. Only the node with the most leases hands over, one at a time
   * and only while no lease is free, so that the distribution becomes stable.
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
      // The lease acquired last, because the least work was done under it.
      const surplus = ownLeases.findLast(([name]) => receivers.some(({ names }) => names.includes(name)));
      if (surplus !== undefined) return surplus[0];
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
    // A response that took too long is discarded; the next round tries again.
    if (fence === null || clock.monotonic() >= sentAt + LEASE_MS - SAFETY_MS) return false;
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

  /** Releases a lease after its work has ended; until then it is held and renewed. */
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

  #track(end: Promise<void>): void {
    const { log } = this.#options;
    const tracked = end
      .catch((error: unknown) => log.error({ err: error }, "stopping the work under a lease failed"))
      .finally(() => this.#endings.delete(tracked));
    this.#endings.add(tracked);
  }
}

function countOf(view: LeaseView, candidate: string, group: string): number {
  return view.leases.filter(({ name, holder, isLive }) => isLive && holder === candidate && groupOf(name) === group)
    .length;
}
