import { AppError } from "../../src/domain/errors.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Database } from "../../src/ports/database.ts";
import { FakeClock } from "./fake-clock.ts";

const STEP_MS = 100;

/** One of several nodes. Its timers stop while it is paused, and its connection to the store can be interrupted. */
export class ClusterNode {
  readonly clock: Clock;
  readonly database: Database;
  /** Whether the connection to the store is interrupted. */
  isDisconnected = false;
  #isPaused = false;
  #isDead = false;
  readonly #callbacksDueWhilePaused: (() => void)[] = [];

  constructor(clock: FakeClock, createDatabase: (node: ClusterNode) => Database) {
    const setTimeout = (callback: () => void, delayMs: number) => {
      let isCancelled = false;
      const run = () => {
        if (isCancelled || this.#isDead) return;
        if (this.#isPaused) this.#callbacksDueWhilePaused.push(run);
        else callback();
      };
      const cancel = clock.setTimeout(run, delayMs);
      return () => {
        isCancelled = true;
        cancel();
      };
    };
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      yieldToEventLoop: () => clock.yieldToEventLoop(),
      setTimeout,
      sleep: (delayMs, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted === true) return reject(signal.reason);
          const cancel = setTimeout(resolve, delayMs);
          signal?.addEventListener("abort", () => {
            cancel();
            reject(signal.reason);
          });
        }),
    };
    this.database = createDatabase(this);
  }

  /** Like SIGSTOP: timers that become due fire together when the node resumes. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const run of this.#callbacksDueWhilePaused.splice(0)) run();
  }

  /** Like SIGKILL: the node stops without closing anything. */
  kill(): void {
    this.#isDead = true;
    this.isDisconnected = true;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get isDead(): boolean {
    return this.#isDead;
  }
}

/** Several nodes that share one database. In statements, `clock_timestamp()` returns the time of the fake clock. */
export class Cluster {
  readonly clock: FakeClock;
  readonly #database: Database;
  readonly #pendingStatements = new Set<Promise<unknown>>();

  constructor(database: Database, startAt?: number) {
    this.#database = database;
    this.clock = new FakeClock(startAt);
  }

  addNode(): ClusterNode {
    return new ClusterNode(this.clock, (node) => this.#createDatabase(node));
  }

  /** Advances time in short steps, so that responses of the store arrive in order, and calls `check` after each step. */
  async advance(byMs: number, check: () => void = () => {}): Promise<void> {
    for (let remainingMs = byMs; remainingMs > 0; remainingMs -= STEP_MS) {
      await this.clock.advance(Math.min(STEP_MS, remainingMs));
      await this.settle();
      check();
    }
  }

  async settle(): Promise<void> {
    for (let idleRounds = 0; idleRounds < 3; ) {
      await this.clock.settle();
      if (this.#pendingStatements.size === 0) idleRounds += 1;
      else {
        idleRounds = 0;
        await Promise.allSettled(this.#pendingStatements);
      }
    }
  }

  #createDatabase(node: ClusterNode): Database {
    /** A disconnected node gets an error; a killed node gets no response. */
    const execute = async <Result>(statement: () => Promise<Result>): Promise<Result> => {
      if (node.isDisconnected) throw new AppError("store_unavailable", "The store cannot be reached at the moment.");
      const pending = statement();
      this.#pendingStatements.add(pending);
      const result = await pending.finally(() => this.#pendingStatements.delete(pending));
      return node.isDead ? new Promise<never>(() => {}) : result;
    };
    const withClusterTime = (text: string) =>
      text.replaceAll("clock_timestamp()", `timestamptz '${new Date(this.clock.now()).toISOString()}'`);
    return {
      query: <Row extends object>(text: string, parameters?: readonly unknown[]) =>
        execute(() => this.#database.query<Row>(withClusterTime(text), parameters)),
      transaction: (run) =>
        execute(() =>
          this.#database.transaction((transaction) =>
            run({
              query: <Row extends object>(text: string, parameters?: readonly unknown[]) =>
                transaction.query<Row>(withClusterTime(text), parameters),
            }),
          ),
        ),
      close: async () => {},
    };
  }
}
