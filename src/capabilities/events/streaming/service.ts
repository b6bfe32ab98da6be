import type { Socket } from "node:net";
import { AppError } from "../../../domain/errors.ts";
import { type EventLog, followEvents } from "../../../event-log/index.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { Bus } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import { createCatchUp, startPositionOf } from "./catch-up.ts";
import { FanOut } from "./fan-out.ts";
import { DURATION_REACHED, encodeRetry, HEARTBEAT, KEY_CHANGED, PREAMBLE } from "./frame.ts";
import { checkKeys, type ReadPlans } from "./key-check.ts";
import { OpenClients, StreamClient, type StreamRequest } from "./stream-client.ts";
import { createStreamSlots, STREAM_LIMITS, type StreamLimits } from "./stream-slots.ts";

/** Maximum number of events in memory, from which most clients resume. */
const EVENTS_IN_MEMORY_MAX = 10_000;
const TICK_MS = 1_000;
/** Number of ticks between two heartbeats to a client. Each tick sends a heartbeat to one group of clients. */
const HEARTBEAT_TICKS = 15;
const KEY_CHECK_INTERVAL_MS = 30_000;
const EVENTS_PER_BATCH = 100;
const EVENTS_PER_FIRST_READ = 1_000;
const RETRY_DELAY_MS = 1_000;
/** Time after which a stopping server closes connections that have not accepted their last bytes. */
const END_MS_MAX = 2_000;
/**
 * Range of the random reconnection time that a stopping server requests, so that clients reconnect at different times.
 */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_RANGE = 4_000;

export interface StreamingOptions {
  readonly log: Pick<EventLog, "readAfter" | "latestId" | "startOfNewest">;
  readonly bus: Pick<Bus, "subscribe">;
  /** Bus topic of key changes. */
  readonly keysTopic: string;
  readonly readPlans: ReadPlans;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Log;
  readonly limits?: Partial<StreamLimits>;
  /** Maximum number of events in memory, from which clients resume without a read of the event log. */
  readonly eventsInMemoryMax?: number;
}

export interface StreamFigures {
  readonly open: number;
  /** Number of clients that were disconnected because they were too slow, by reason. */
  readonly disconnected: { readonly unsent_bytes: number; readonly stalled: number };
  /** Milliseconds from the last read of events until they were written to all clients; null before the first event. */
  readonly fanOutMs: number | null;
}

export type Streaming = ReturnType<typeof createStreaming>;

/** Streams the event log to clients. A single reader of the log serves all clients. */
export function createStreaming(options: StreamingOptions) {
  const { log, bus, clock, random, logger, eventsInMemoryMax = EVENTS_IN_MEMORY_MAX } = options;
  const slots = createStreamSlots({ ...STREAM_LIMITS, ...options.limits });
  const clients = new OpenClients(HEARTBEAT_TICKS);
  /** Whether the first read of the log has ended. Clients that connect earlier wait for its end. */
  let isReady = false;
  /** Newest event id at the start of the first read, from which early clients start; null before. */
  let firstId: number | null = null;
  let isEnding = false;
  let tick = 0;
  let unsubscribe = () => {};
  const disconnectCounts = { unsent_bytes: 0, stalled: 0 };
  let fanOutMs: number | null = null;

  const disconnect = (client: StreamClient, reason: keyof typeof disconnectCounts): void => {
    disconnectCounts[reason] += 1;
    client.destroy();
  };
  const fanOut = new FanOut({
    clock,
    eventsMax: eventsInMemoryMax,
    disconnect: (client) => disconnect(client, "unsent_bytes"),
  });
  const onError = (err: unknown) => logger.error({ err }, "a stream could not be resumed");
  const resume = createCatchUp({ log, clock, fanOut, onError });

  const endClient = (client: StreamClient, bytes: Buffer): void => {
    client.write(bytes, clock.monotonic());
    client.end();
  };

  const keyChecks = new PeriodicJob({
    clock,
    delayMs: KEY_CHECK_INTERVAL_MS,
    intervalMs: KEY_CHECK_INTERVAL_MS,
    run: () => checkKeys(clients.all(), options.readPlans, (client) => endClient(client, KEY_CHANGED)),
    onFailure: (err) => logger.warn({ err }, "the keys of streams could not be checked"),
  });

  const ticks = new PeriodicJob({
    clock,
    delayMs: TICK_MS,
    intervalMs: TICK_MS,
    run() {
      tick += 1;
      const now = clock.monotonic();
      for (const client of clients.all())
        if (client.isStalled(now)) disconnect(client, "stalled");
        else if (client.isOverdue(now)) endClient(client, DURATION_REACHED);
      for (const client of clients.dueAt(tick)) client.write(HEARTBEAT, now);
    },
  });

  /** Reads the newest events into memory, from which clients resume after a restart. */
  const readNewest = async (signal: AbortSignal): Promise<void> => {
    const latestId = await log.latestId();
    firstId = latestId;
    for (const client of clients.all()) client.position ??= latestId;
    fanOut.begin(await log.startOfNewest(eventsInMemoryMax));
    for (let isComplete = false; !isComplete && !signal.aborted; ) {
      const page = await log.readAfter(fanOut.through, { limit: EVENTS_PER_FIRST_READ });
      if (page.hasGap) fanOut.begin(startPositionOf(page));
      fanOut.store(page.events, page.through);
      isComplete = page.through >= page.latestId;
      await clock.yieldToEventLoop();
    }
    if (signal.aborted) return;
    isReady = true;
    for (const client of clients.all()) resume(client);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const batches = followEvents({ log, bus, clock, after: fanOut.through, batchMax: EVENTS_PER_BATCH, signal });
    for await (const batch of batches) {
      const startedAt = clock.monotonic();
      if (batch.hasGap) await fanOut.sendReset(startPositionOf(batch));
      await fanOut.send(batch.events, batch.through);
      fanOutMs = clock.monotonic() - startedAt;
    }
  };

  const following = new PeriodicJob({
    clock,
    intervalMs: RETRY_DELAY_MS,
    async run(signal) {
      if (!isReady) await readNewest(signal);
      await follow(signal);
    },
    onFailure: (err) => logger.error({ err }, "the events of streams could not be read"),
  });

  return {
    get figures(): StreamFigures {
      return { open: slots.total, disconnected: { ...disconnectCounts }, fanOutMs };
    },

    /**
     * Counts a stream and returns its body. `close` must be called when the connection closes, even without a call of
     * `start`.
     *
     * @throws AppError `rate_limited` or `overloaded` above a limit of open streams, `draining` while the server stops
     */
    open(request: StreamRequest): { start(socket: Socket, acknowledgedAt: () => number): void; close(): void } {
      if (isEnding) throw new AppError("draining", "The service is stopping");
      const release = slots.take(request.caller, request.address);
      let client: StreamClient | null = null;
      let remove = () => {};
      return {
        start(socket, acknowledgedAt) {
          client = new StreamClient(socket, request, clock.monotonic(), acknowledgedAt);
          remove = clients.add(client);
          client.write(PREAMBLE, clock.monotonic());
          if (isEnding) endClient(client, Buffer.alloc(0));
          else if (isReady) resume(client);
          else client.position ??= firstId;
        },
        close() {
          release();
          if (client === null) return;
          remove();
          fanOut.remove(client);
        },
      };
    },

    start(): void {
      following.start();
      unsubscribe = bus.subscribe(options.keysTopic, () => keyChecks.wake());
      keyChecks.start();
      tick = 0;
      ticks.start();
    },

    /** Ends all streams and rejects new streams. Closes connections with unsent bytes after 2 seconds. */
    endStreams(): void {
      isEnding = true;
      for (const client of clients.all())
        endClient(client, encodeRetry(RETRY_MS_MIN + RETRY_MS_RANGE * random.uniform()));
      clock.setTimeout(() => {
        for (const client of clients.all()) client.destroy();
      }, END_MS_MAX);
    },

    async stop(): Promise<void> {
      unsubscribe();
      await Promise.all([ticks.stop(), following.stop(), keyChecks.stop()]);
    },
  };
}
