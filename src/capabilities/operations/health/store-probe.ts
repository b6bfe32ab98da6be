import { AppError } from "../../../domain/errors.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";

const PROBE_PAUSE_MS = 1_000;
const RESPONSE_MS_MAX = 3_000;
/** A write, because a store can answer reads while it rejects writes. */
const WRITE_PROBE = `
insert into meta (key, value) values ('probed_at', now()::text)
on conflict (key) do update set value = excluded.value`;

const READ_PROBE = "select 1";

/** Writes to the store once a second, so that health and readiness requests do not query it. A read-only store is read. */
export class StoreProbe {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #statement: string;
  #fault: string | null = null;
  readonly #job: PeriodicJob;

  constructor(database: Database, clock: Clock, { isReadOnly = false }: { readonly isReadOnly?: boolean } = {}) {
    this.#database = database;
    this.#clock = clock;
    this.#statement = isReadOnly ? READ_PROBE : WRITE_PROBE;
    this.#job = new PeriodicJob({
      clock,
      delayMs: PROBE_PAUSE_MS,
      intervalMs: PROBE_PAUSE_MS,
      run: () => this.#probe(),
    });
  }

  get isUp(): boolean {
    return this.#fault === null;
  }

  /** Why writes fail; null if the store is up. */
  get fault(): string | null {
    return this.#fault;
  }

  start(): void {
    this.#job.start();
  }

  stop(): void {
    void this.#job.stop();
  }

  /** Marks the store as down if a write has no response after `RESPONSE_MS_MAX`, and as up when a write succeeds. */
  async #probe(): Promise<void> {
    const cancelDeadline = this.#clock.setTimeout(() => {
      this.#fault = "The store does not respond.";
    }, RESPONSE_MS_MAX);
    this.#fault = await this.#database.query(this.#statement).then(
      () => null,
      // Other messages may contain private data.
      (error: unknown) => (error instanceof AppError ? error.message : "A write to the store failed."),
    );
    cancelDeadline();
  }
}
