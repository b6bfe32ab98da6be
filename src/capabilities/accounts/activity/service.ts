import { DAY_MS } from "../../../lib/durations.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { type ActivityBatch, type DailyUsage, REQUEST_RETENTION_DAYS, type RecentRequest } from "./model.ts";
import { selectRequests, selectUsage, writeActivityBatch } from "./queries.ts";
import { ActivityRecorder, type CustomerRequest } from "./recorder.ts";

const WRITE_INTERVAL_MS = 5_000;

export type Activity = ReturnType<typeof createActivity>;

/**
 * Records requests of customers without delaying them: counts in memory and writes every 5 s. All nodes add to the same
 * rows. A process that is killed loses at most the last 5 s; while the store is unavailable, a bounded amount is kept.
 *
 * @param ports.nodeId  unique among all processes that share the store, and never reused
 */
export function createActivity({
  database,
  clock,
  log,
  nodeId,
}: Pick<AreaPorts, "database" | "clock" | "log"> & { readonly nodeId: string }) {
  const recorder = new ActivityRecorder();
  let serial = 0;
  /** The batch being written. If its response is lost, it is sent again with the same serial, which applies it once. */
  let sentBatch: ActivityBatch | null = null;
  let runningWrite: Promise<void> | null = null;

  const takeBatch = (): ActivityBatch => {
    const { batch, dropped } = recorder.take();
    if (dropped > 0) log.warn({ requests: dropped }, "too many keys in use; requests are missing from usage by day");
    serial += 1;
    return batch;
  };

  const write = async (): Promise<void> => {
    try {
      while (sentBatch !== null || !recorder.isEmpty) {
        const isRepeated = sentBatch !== null;
        sentBatch ??= takeBatch();
        const batch = sentBatch;
        await database.transaction((transaction) =>
          writeActivityBatch(transaction, nodeId, serial, batch, clock.now()),
        );
        sentBatch = null;
        if (!isRepeated) return;
      }
    } catch (error) {
      log.warn({ err: error }, "could not store usage by day; retrying in 5 s");
    }
  };

  /** Writes all requests recorded before the call. Never rejects. */
  const flush = async (): Promise<void> => {
    await runningWrite;
    runningWrite ??= write().finally(() => {
      runningWrite = null;
    });
    await runningWrite;
  };

  const job = new PeriodicJob({ clock, delayMs: WRITE_INTERVAL_MS, intervalMs: WRITE_INTERVAL_MS, run: flush });

  return {
    record: (request: CustomerRequest) => recorder.add(request, clock.now()),
    /**
     * Reads a customer's usage from the day `since` on, oldest first. It includes all requests to this process; other
     * processes store theirs within 5 s.
     */
    async usage(customerId: string, since: string): Promise<readonly DailyUsage[]> {
      await flush();
      return selectUsage(database, customerId, since);
    },
    /** Reads a customer's last requests, newest first, or only the failed ones. */
    async requests(customerId: string, { onlyFailed = false } = {}): Promise<readonly RecentRequest[]> {
      await flush();
      return selectRequests(database, customerId, {
        since: clock.now() - REQUEST_RETENTION_DAYS * DAY_MS,
        onlyFailed,
      });
    },
    start: () => job.start(),
    /** Writes everything recorded. */
    async stop(): Promise<void> {
      await job.stop();
      await flush();
    },
  };
}
