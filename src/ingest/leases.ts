import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { LeaseRow, LeaseStore, LeaseView } from "./lease-store.ts";

/** How long a lease lasts unless it is renewed: a killed node's work is taken over after this. */
export const LEASE_MS = 6_000;
const ROUND_MS = 1_000;
/**
 * A holder stops this long before its lease can be taken by another: stopping takes a moment, and a busy event loop
 * notices late.
 */
const SAFETY_MS = 1_500;

export interface LeaseHandlers {
  /** The lease is ours from now on. */
  taken(name: string): void;
  /**
   * The lease ends. Stops its work at once; `isLost` tells that it may already be another's, else it stays ours until
   * the promise resolves, so that what is queued can still be written.
   */
  ended(name: string, isLost: boolean): Promise<void>;
  /** What others are to know of the work under this lease; null for nothing new. */
  report(name: string): string | null;
}

export interface LeasesOptions {
  readonly store: LeaseStore;
  /** This process, unlike any other. */
  readonly holder: string;
  /** The leases that this node would take. Those that share the word before the colon are spread evenly over nodes. */
  readonly eligible: readonly string[];
  /** All leases whose state `find` is to know. */
  readonly watched: readonly string[];
  readonly handlers: LeaseHandlers;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the store said of a lease, as old as `ageMs`. */
export interface SeenLease extends LeaseRow {
  readonly ageMs: number;
}

interface Held {
  readonly fence: number;
  /** Monotonic time at which the work must have stopped unless a renewal has succeeded by then. */
  stopAt: number;
  cancelWatch: () => void;
  isEnding: boolean;
}

const groupOf = (name: string) => name.slice(0, name.indexOf(":"));

/**
 * Takes, renews, shares and gives up leases. At any time at most one node holds one: a renewal is counted from before it
 * was sent on the monotonic clock, so that its holder always stops before the store lets another take it.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #held = new Map<string, Held>();
  /** Lost, and its work has not stopped altogether yet: not to be taken again before that. */
  readonly #stopping = new Set<string>();
  readonly #ends = new Set<Promise<void>>();
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

  /** The fence of a lease that is ours at this very moment, else null. */
  fenceOf(name: string): number | null {
    const held = this.#held.get(name);
    return held !== undefined && this.#options.clock.monotonic() < held.stopAt ? held.fence : null;
  }

  /** Ours, and not about to be given up. */
  keeps(name: string): boolean {
    return this.fenceOf(name) !== null && this.#held.get(name)?.isEnding === false;
  }

  /** What the store said of a lease when it was last asked; null before the first answer, or when nobody ever held it. */
  find(name: string): SeenLease | null {
    const lease = this.#view?.view.leases.find((row) => row.name === name);
    if (this.#view === null || lease === undefined) return null;
    return { ...lease, ageMs: this.#options.clock.monotonic() - this.#view.at };
  }

  /** The store has answered at least once. */
  get isInformed(): boolean {
    return this.#view !== null;
  }

  /** Stops all work in good order and releases everything, so that others can take it at once. */
  async stop(): Promise<void> {
    const { store, holder, eligible, log } = this.#options;
    this.#isClosing = true;
    // Renewals go on while the work ends, so that all of it can still be written.
    await this.#giveAll();
    this.#stop.abort();
    await this.#loop;
    await this.#giveAll();
    try {
      if (eligible.length > 0) await store.withdraw(holder);
    } catch (error) {
      log.warn({ err: error }, "this node could not say goodbye; others notice by its silence");
    }
  }

  async #giveAll(): Promise<void> {
    for (const name of [...this.#held.keys()]) this.#give(name);
    await Promise.all(this.#ends);
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      let isMoreToTake = false;
      try {
        isMoreToTake = await this.#round();
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        if (this.#failures === 1) log.warn({ err: error }, "the store gives no answer about leases");
      }
      if (!isMoreToTake) await clock.sleep(ROUND_MS, this.#stop.signal).catch(() => {});
    }
  }

  /** Renews, looks, then takes or gives up one lease at most; true when another may be taken at once. */
  async #round(): Promise<boolean> {
    const { store, holder, eligible, watched, clock } = this.#options;
    await this.#renew();
    if (this.#isClosing) return false;
    if (eligible.length > 0) await store.announce({ candidate: holder, names: eligible }, LEASE_MS);
    const view = await store.view([...new Set([...watched, ...eligible])]);
    this.#view = { view, at: clock.monotonic() };
    if (this.#isClosing) return false;
    const free = this.#toTake(view);
    if (free !== null) return this.#take(free);
    const surplus = this.#toGive(view);
    if (surplus !== null) this.#give(surplus);
    return false;
  }

  async #renew(): Promise<void> {
    const { store, holder, handlers, clock } = this.#options;
    const mine = [...this.#held].map(([name, { fence }]) => ({ name, fence, report: handlers.report(name) }));
    const sentAt = clock.monotonic();
    const renewed = await store.renew(mine, holder, LEASE_MS);
    for (const { name, fence } of mine) {
      const held = this.#held.get(name);
      if (held === undefined || held.fence !== fence) continue;
      if (renewed.has(name)) this.#prolong(name, held, sentAt);
      else this.#lose(name, "another node has taken it");
    }
  }

  #prolong(name: string, held: Held, sentAt: number): void {
    const { clock } = this.#options;
    held.stopAt = sentAt + LEASE_MS - SAFETY_MS;
    held.cancelWatch();
    held.cancelWatch = clock.setTimeout(
      () => this.#lose(name, "it could not be renewed in time"),
      held.stopAt - clock.monotonic(),
    );
  }

  /** A free lease that is ours to take: nobody alive who wants it has fewer of its kind. */
  #toTake(view: LeaseView): string | null {
    const { eligible, holder } = this.#options;
    const isTaken = new Map(view.leases.map((lease) => [lease.name, lease.isLive && lease.holder !== holder]));
    for (const name of eligible) {
      if (this.#held.has(name) || this.#stopping.has(name) || isTaken.get(name) === true) continue;
      const others = view.candidates.filter(({ candidate, names }) => candidate !== holder && names.includes(name));
      const mine = this.#count(groupOf(name));
      if (others.every(({ candidate }) => mine <= countOf(view, candidate, groupOf(name)))) return name;
    }
    return null;
  }

  /**
   * One of ours that somebody poorer should have. Only the richest gives, one at a time and only while nothing is free,
   * so that shares settle and stay: a difference of one is fair.
   */
  #toGive(view: LeaseView): string | null {
    const { eligible, holder } = this.#options;
    for (const group of new Set(eligible.map(groupOf))) {
      const leases = view.leases.filter(({ name }) => groupOf(name) === group);
      const mine = [...this.#held].filter(([name]) => groupOf(name) === group);
      if (mine.some(([, { isEnding }]) => isEnding) || leases.some(({ isLive }) => !isLive)) continue;
      const isRicher = (candidate: string) => {
        const count = countOf(view, candidate, group);
        return count > mine.length || (count === mine.length && candidate < holder);
      };
      const others = view.candidates.filter(({ candidate }) => candidate !== holder);
      if (others.some(({ candidate }) => isRicher(candidate))) continue;
      const poor = others.filter(({ candidate }) => countOf(view, candidate, group) <= mine.length - 2);
      // The one taken last has the least to lose.
      const surplus = mine.findLast(([name]) => poor.some(({ names }) => names.includes(name)));
      if (surplus !== undefined) return surplus[0];
    }
    return null;
  }

  #count(group: string): number {
    return [...this.#held.keys()].filter((name) => groupOf(name) === group).length;
  }

  async #take(name: string): Promise<boolean> {
    const { store, holder, handlers, clock, log } = this.#options;
    const sentAt = clock.monotonic();
    const fence = await store.take(name, holder, LEASE_MS);
    // An answer that took too long to come is as good as none; the next round asks again.
    if (fence === null || clock.monotonic() >= sentAt + LEASE_MS - SAFETY_MS) return false;
    const held: Held = { fence, stopAt: 0, cancelWatch: () => {}, isEnding: false };
    this.#held.set(name, held);
    this.#prolong(name, held, sentAt);
    log.info({ lease: name, fence }, "lease taken");
    handlers.taken(name);
    return true;
  }

  #lose(name: string, reason: string): void {
    const { handlers, log } = this.#options;
    const held = this.#held.get(name);
    if (held === undefined) return;
    held.cancelWatch();
    this.#held.delete(name);
    this.#stopping.add(name);
    log.warn({ lease: name, fence: held.fence, reason }, "lease lost");
    this.#track(handlers.ended(name, true).finally(() => this.#stopping.delete(name)));
  }

  /** Gives a lease up in good order: it stays ours, and is renewed, until its work is done and written. */
  #give(name: string): void {
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
      log.warn({ lease: name, err: error }, "a lease could not be released; it will run out");
    } finally {
      held.cancelWatch();
      if (this.#held.get(name) === held) this.#held.delete(name);
    }
  }

  #track(end: Promise<void>): void {
    const { log } = this.#options;
    const tracked = end
      .catch((error: unknown) => log.error({ err: error }, "work under a lease did not stop in good order"))
      .finally(() => this.#ends.delete(tracked));
    this.#ends.add(tracked);
  }
}

function countOf(view: LeaseView, candidate: string, group: string): number {
  return view.leases.filter(({ name, holder, isLive }) => isLive && holder === candidate && groupOf(name) === group)
    .length;
}
