import { AppError } from "../../../domain/errors.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { AreaPorts } from "../../area-ports.ts";

const PROBE_PAUSE_MS = 1_000;
const RESPONSE_MS_MAX = 3_000;
/** A write, because a store can answer reads while it rejects writes. */
const WRITE_PROBE = `
insert into meta (key, value) values ('probed_at', now()::text)
on conflict (key) do update set value = excluded.value`;

const READ_PROBE = "select 1";

export type StoreProbe = ReturnType<typeof createStoreProbe>;

/**
 * Writes to the store once a second (a read-only store: reads it), so that health and readiness requests need no query.
 */
export function createStoreProbe({
  database,
  clock,
  isReadOnly = false,
}: Pick<AreaPorts, "database" | "clock" | "isReadOnly">) {
  const statement = isReadOnly ? READ_PROBE : WRITE_PROBE;
  let fault: string | null = null;

  /** Marks the store as down if a write has no response after `RESPONSE_MS_MAX`, and as up when a write succeeds. */
  const probe = async (): Promise<void> => {
    const cancelDeadline = clock.setTimeout(() => {
      fault = "The store does not respond.";
    }, RESPONSE_MS_MAX);
    fault = await database.query(statement).then(
      () => null,
      // Other messages may contain private data.
      (error: unknown) => (error instanceof AppError ? error.message : "A write to the store failed."),
    );
    cancelDeadline();
  };

  const job = new PeriodicJob({ clock, delayMs: PROBE_PAUSE_MS, intervalMs: PROBE_PAUSE_MS, run: probe });
  return {
    get isUp(): boolean {
      return fault === null;
    },
    /** Why writes fail; null if the store is up. */
    get fault(): string | null {
      return fault;
    },
    start: () => job.start(),
    stop: () => void job.stop(),
  };
}
