import type { MarketBoard } from "../../board/index.ts";
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
/** Time without a status after which a thread counts as stuck and is ended. It sends one twice a second. */
const STUCK_MS_MAX = 30_000;
/** Age of the last status up to which the thread counts as running. */
const STATUS_AGE_MS_MAX = 5_000;

/** A running thread that serves an ingest (`serveIngest`). */
export interface IngestThread {
  readonly port: ThreadPort;
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<unknown>;
  terminate(): Promise<void>;
}

/**
 * Runs an ingest in a thread of its own, and applies its changes to `board`. A thread that ends is replaced. Until the
 * new one reads the venues, the board keeps its markets with the times of their last confirmation.
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
  let cancelStuckTimer = () => {};
  let isStarted = false;
  let isStopping = false;
  let restarts = 0;
  let pauseMs = 0;
  let cancelRestart = () => {};
  const restored = Promise.withResolvers<number>();
  const stopped = Promise.withResolvers<void>();

  const post = (message: ToIngestThread, ...transfer: ArrayBuffer[]): boolean => {
    thread?.port.postMessage(message, transfer);
    return thread !== null;
  };
  const calls = createRemoteCalls(post);

  const launch = () => {
    const launched = spawn();
    const replica = createBoardReplica(board, restarts === 0 ? null : clock.now());
    const launchedAt = clock.monotonic();
    let isSettled = restarts === 0;
    isRestored = false;
    thread = launched;
    const receive = (message: FromIngestThread<Figures>): void => {
      if (message.kind === "board") {
        const { batch } = message;
        replica.apply(batch);
        if (batch.mustAcknowledge) post({ kind: "applied", quotes: batch.quotes }, batch.quotes.buffer);
      } else if (message.kind === "status") {
        status = { value: message.status, at: clock.monotonic() };
        isReporting = true;
        if (message.status.isSettled && !isSettled) replica.removeOthers();
        isSettled ||= message.status.isSettled;
        cancelStuckTimer();
        cancelStuckTimer = clock.setTimeout(() => {
          log.error({}, "the ingest thread does not respond and is ended");
          void launched.terminate();
        }, STUCK_MS_MAX);
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
    launched.port.on("message", (message) => {
      // Only `serveIngest` sends messages. Those of a thread that has ended are ignored.
      if (thread === launched) receive(message as FromIngestThread<Figures>);
    });
    void launched.ended.then((reason) => replace(reason, clock.monotonic() - launchedAt));
  };

  const replace = (reason: unknown, ranMs: number) => {
    thread = null;
    isReporting = false;
    cancelStuckTimer();
    calls.failAll();
    stopped.resolve();
    restored.reject(reason);
    if (isStopping) return;
    restarts += 1;
    pauseMs =
      ranMs >= STABLE_MS_MIN
        ? RESTART_PAUSE_MS_MIN
        : Math.min(RESTART_PAUSE_MS_MAX, Math.max(RESTART_PAUSE_MS_MIN, 2 * pauseMs));
    log.error({ err: reason, restarts, pause_ms: pauseMs }, "the ingest thread ended and will be replaced");
    cancelRestart = clock.setTimeout(launch, pauseMs);
  };

  return {
    call: calls.call,
    /** Starts the thread. Resolves with the number of stored markets when the board has them. */
    restore(): Promise<number> {
      launch();
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
      cancelRestart();
      const current = thread;
      if (current === null) return;
      post({ kind: "stop" });
      const cancelDeadline = clock.setTimeout(() => {
        log.warn({}, "the ingest thread did not stop in time");
        stopped.resolve();
      }, STOP_MS_MAX);
      await stopped.promise;
      cancelDeadline();
      await current.terminate();
    },
  };
}
