import type { MarketBoard } from "../../board/index.ts";
import { PeriodicJob } from "../../lib/periodic-job.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { createBoardReplica } from "./board-replica.ts";
import { decodeError } from "./error-codec.ts";
import type { FromIngestThread, IngestStatus, ThreadPort, ToIngestThread } from "./messages.ts";
import { createRemoteCalls } from "./remote-calls.ts";

/** Pause before a thread that has ended is replaced. It doubles with each failure, up to the maximum. */
const RESTART_PAUSE_MS_MIN = 250;
const RESTART_PAUSE_MS_MAX = 30_000;
/** Running time after which the pause is at its minimum again. */
const STABLE_MS_MIN = 60_000;
/** Time limit for the last writes of a thread that stops. */
const STOP_MS_MAX = 4_000;
/** A thread that sends no status for this time is terminated. It normally sends one at least every 0.5 s. */
const STUCK_MS_MAX = 30_000;
/** Maximum age of the last status of a healthy thread. */
const STATUS_AGE_MS_MAX = 5_000;

/** A running thread that serves an ingest (`serveIngest`). */
export interface IngestThread {
  readonly port: ThreadPort;
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<unknown>;
  terminate(): Promise<void>;
}

/**
 * Runs an ingest in a separate thread, and applies its changes to `board`. A thread that ends is replaced. Until the new
 * one reads the venues, the board keeps its markets with the times of their last confirmation.
 *
 * @param spawn  starts a thread
 */
export function connectIngest<Figures>(options: {
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly log: Log;
  readonly spawn: () => IngestThread;
}) {
  const { board, clock, log, spawn } = options;
  let thread: IngestThread | null = null;
  let status: { readonly value: IngestStatus<Figures>; readonly at: number } | null = null;
  /** Whether the current thread has sent a status. */
  let isReporting = false;
  let isRestored = false;
  let isStarted = false;
  let isStopping = false;
  let restarts = 0;
  const restored = Promise.withResolvers<number>();
  /** Resolves when the current thread has written its last data, or has ended. */
  let stopped = Promise.withResolvers<void>();

  const post = (message: ToIngestThread, ...transfer: ArrayBuffer[]): boolean => {
    thread?.port.postMessage(message, transfer);
    return thread !== null;
  };
  const calls = createRemoteCalls(post);

  /** Runs a thread until it ends, and throws the reason. */
  const runThread = async (): Promise<never> => {
    const launched = spawn();
    const launchedAt = clock.monotonic();
    const replica = createBoardReplica(board, restarts === 0 ? null : clock.now());
    let mustRemoveOthers = restarts > 0;
    let cancelStuckTimer = () => {};
    const expectStatus = () => {
      cancelStuckTimer();
      cancelStuckTimer = clock.setTimeout(() => {
        log.error({}, "the ingest thread does not respond and is terminated");
        void launched.terminate();
      }, STUCK_MS_MAX);
    };
    const receive = (message: FromIngestThread<Figures>): void => {
      if (message.kind === "board") {
        const { batch } = message;
        replica.apply(batch);
        if (batch.mustAcknowledge) post({ kind: "applied", quotes: batch.quotes }, batch.quotes.buffer);
      } else if (message.kind === "status") {
        status = { value: message.status, at: clock.monotonic() };
        isReporting = true;
        if (mustRemoveOthers && message.status.isSettled) {
          mustRemoveOthers = false;
          replica.removeOthers();
        }
        expectStatus();
      } else if (message.kind === "restored") {
        isRestored = true;
        if (isStarted && !isStopping) post({ kind: "start" });
        restored.resolve(message.markets);
      } else if (message.kind === "restore_failed") {
        const error = decodeError(message.error);
        log.warn({ err: error }, "the ingest thread could not load the stored markets");
        restored.reject(error);
      } else if (message.kind === "stopped") stopped.resolve();
      else calls.settle(message);
    };
    thread = launched;
    stopped = Promise.withResolvers();
    isRestored = false;
    expectStatus();
    launched.port.on("message", (message) => {
      // Only `serveIngest` sends messages. Those of a thread that has ended are ignored.
      if (thread === launched) receive(message as FromIngestThread<Figures>);
    });
    const reason = await launched.ended;
    thread = null;
    isReporting = false;
    cancelStuckTimer();
    calls.failAll();
    stopped.resolve();
    restored.reject(reason);
    if (clock.monotonic() - launchedAt >= STABLE_MS_MIN) running.reportSuccess();
    throw reason;
  };

  const running = new PeriodicJob({
    clock,
    intervalMs: (failures) => Math.min(RESTART_PAUSE_MS_MAX, RESTART_PAUSE_MS_MIN * 2 ** (failures - 1)),
    run: runThread,
    onFailure(error) {
      restarts += 1;
      log.error({ err: error, restarts }, "the ingest thread ended and will be replaced");
    },
  });

  return {
    call: calls.call,
    /** Starts the thread. Resolves with the number of stored markets when the board has them. */
    restore(): Promise<number> {
      running.start();
      return restored.promise;
    },
    /** Starts to read the venues. */
    start(): void {
      isStarted = true;
      if (isRestored) post({ kind: "start" });
    },
    /** The last status; null before the first. */
    get status(): IngestStatus<Figures> | null {
      return status?.value ?? null;
    },
    /** Time since the last status, in milliseconds. */
    get statusAgeMs(): number {
      return status === null ? 0 : clock.monotonic() - status.at;
    },
    /** Whether the thread runs and has sent a status within the last seconds. */
    get isReporting(): boolean {
      return isReporting && status !== null && clock.monotonic() - status.at <= STATUS_AGE_MS_MAX;
    },
    /** How often the thread was replaced since the start. */
    get restarts(): number {
      return restarts;
    },
    /** Stops reading the venues, writes queued data to the store and ends the thread. */
    async stop(): Promise<void> {
      isStopping = true;
      post({ kind: "stop" });
      const cancelDeadline = clock.setTimeout(() => {
        log.warn({}, "the ingest thread did not stop in time");
        stopped.resolve();
      }, STOP_MS_MAX);
      if (thread !== null) await stopped.promise;
      cancelDeadline();
      await Promise.all([running.stop(), thread?.terminate()]);
    },
  };
}
