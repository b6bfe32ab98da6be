import type { MarketBoard } from "../../board/index.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import { PeriodicJob } from "../../lib/periodic-job.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LocalIngest } from "../model.ts";
import { createBoardFeed } from "./board-feed.ts";
import { encodeError } from "./error-codec.ts";
import { createIngestCalls } from "./ingest-calls.ts";
import type { CallMessage, FromIngestThread, ThreadPort, ToIngestThread } from "./messages.ts";

/** Pause between two status messages until every venue's first sweep has ended, and afterwards. */
const STARTING_STATUS_PAUSE_MS = 50;
const STATUS_PAUSE_MS = 500;

export interface ServedIngest<Figures> {
  readonly port: ThreadPort;
  readonly board: MarketBoard;
  readonly ingest: LocalIngest;
  readonly clock: Clock;
  /** Observes live data. Starts before ingest, and stops after it. */
  readonly observer: { readonly figures: Figures; start(): void; stop(): Promise<void> };
}

/**
 * Serves an ingest to another thread (`connectIngest`). Restores the board and sends it. When asked to start, reads the
 * venues, and sends each change of the board. Runs the calls of the other thread. Resolves when the ingest has stopped,
 * or when the board could not be restored.
 */
export async function serveIngest<Figures>(options: ServedIngest<Figures>): Promise<void> {
  const { port, board, ingest, clock, observer } = options;
  const post = (message: FromIngestThread<Figures>, ...transfer: ArrayBuffer[]) => port.postMessage(message, transfer);
  const feed = createBoardFeed(board, clock, (batch) => post({ kind: "board", batch }, batch.quotes.buffer));
  const calls = createIngestCalls(ingest, board, feed.sendNow);
  /** Abort controllers of the running calls, by call id. */
  const running = new Map<number, AbortController>();
  const restoring = ingest.restore();
  let isSettled = false;

  const run = async ({ id, caller, method, parameters }: CallMessage) => {
    const abort = new AbortController();
    running.set(id, abort);
    // The types of the parameters are those of `method`, because `connectIngest` sends both.
    const call = calls[method] as (...parameters: readonly unknown[]) => Promise<unknown>;
    const start = async () => {
      // Until the restore ends, the board has no markets.
      await restoring;
      return call(...parameters, abort.signal);
    };
    try {
      post({ kind: "result", id, value: await (caller === null ? start() : runForCaller(caller, start)) });
    } catch (error) {
      post({ kind: "failed", id, error: encodeError(error) });
    } finally {
      running.delete(id);
    }
  };
  const sendStatus = () => {
    isSettled = ingest.isSettled && (isSettled || feed.hasSentListings);
    const { counters, failingJobs } = ingest;
    post({
      kind: "status",
      status: { venues: ingest.health(), isSettled, counters, failingJobs, figures: observer.figures },
    });
  };
  const statusJob = new PeriodicJob({
    clock,
    intervalMs: () => (isSettled ? STATUS_PAUSE_MS : STARTING_STATUS_PAUSE_MS),
    run: sendStatus,
  });
  const stopped = Promise.withResolvers<void>();
  const stop = async () => {
    await statusJob.stop();
    await ingest.stop();
    await observer.stop();
    feed.stop();
    post({ kind: "stopped" });
    stopped.resolve();
  };

  port.on("message", (data) => {
    // The type is certain: only `connectIngest` sends messages to this port.
    const message = data as ToIngestThread;
    if (message.kind === "call") void run(message);
    else if (message.kind === "abort") running.get(message.id)?.abort();
    else if (message.kind === "applied") feed.acknowledge(message.quotes);
    else if (message.kind === "start") {
      observer.start();
      ingest.start();
    } else void stop();
  });
  // The other thread terminates a thread that sends no status, so it is sent during the restore, too.
  statusJob.start();
  try {
    const markets = await restoring;
    await feed.drain();
    post({ kind: "restored", markets });
  } catch (error) {
    await statusJob.stop();
    post({ kind: "restore_failed", error: encodeError(error) });
    return;
  }
  await stopped.promise;
}
