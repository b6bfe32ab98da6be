import type { AppPorts } from "./app-ports.ts";
import type { MarketBoard } from "./board/index.ts";
import { createShadowBook, createShadowPerformance } from "./capabilities/track-record/index.ts";
import type { EventLog } from "./event-log/index.ts";

export type TrackRecord = ReturnType<typeof createTrackRecord>;

/** The shadow book, which nodes that maintain keep up to date, and its performance, which nodes with the API serve. */
export function createTrackRecord(
  ports: AppPorts,
  pipeline: { readonly board: MarketBoard; readonly eventLog: EventLog },
) {
  const book = createShadowBook({ ...ports, ...pipeline });
  const performance = createShadowPerformance(ports);
  return {
    book,
    performance,
    /** Names of the jobs whose last run failed, for health and metrics. */
    get failingJobs(): readonly string[] {
      return [...book.failingJobs, ...performance.failingJobs];
    },
    start(): void {
      if (ports.node?.maintains !== false) book.start();
      if (ports.node?.serves !== false) performance.start();
    },
    async stop(): Promise<void> {
      await Promise.all([book.stop(), performance.stop()]);
    },
  };
}
