import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { type BusMessage, HINT_LENGTH_MAX, TOPIC_PATTERN, TopicHints, TopicSubscribers, toMessage } from "./topics.ts";

const BACKOFF_MS_MIN = 50;
/** Longest pause before a reconnect. Up to half of a pause is random, so that nodes do not reconnect simultaneously. */
const BACKOFF_MS_MAX = 1_000;
/** A connection that lasts longer than this resets the back-off. */
const STABLE_CONNECTION_MS = 2_000;
const PING_EVERY_MS = 5_000;
const RESPONSE_MS_MAX = 1_500;
const CLOSE_MS_MAX = 1_000;
const FLUSH_POLL_MS = 5;
const FLUSH_POLLS_MAX = 400;
const ORIGIN_ID_BYTES = 9;
/** Version of the message format, for clusters with nodes of different versions. */
const FORMAT_VERSION = "1";

/** A connection to the other processes. A lost connection is discarded and replaced by a new one. */
export interface BusConnection {
  /** Resolves when the connection can receive messages of the other processes. */
  readonly ready: Promise<unknown>;
  send(texts: readonly string[]): Promise<unknown>;
  ping(): Promise<unknown>;
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<string>;
  /** Closes the connection in any state, without waiting for the other side. */
  destroy(): void;
}

export interface BusPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * A bus over a connection that may be lost at any time. Subscribers in this process are notified directly. Messages to
 * other processes are sent one batch at a time. Publications during a batch or a disconnection are queued, at most one
 * message per topic. After a reconnect all subscribers are woken, because messages may have been missed. Pings detect
 * connections that no longer respond.
 *
 * @param connect  opens a connection that calls `receive` for each message
 */
export function createReconnectingBus(
  name: string,
  { clock, random, log }: BusPorts,
  connect: (receive: (text: string) => void) => BusConnection,
): Bus {
  const subscribers = new TopicSubscribers(log);
  const outgoing = new TopicHints();
  const origin = Buffer.from(random.bytes(ORIGIN_ID_BYTES)).toString("base64url");
  const closing = new AbortController();
  let connection: BusConnection | null = null;
  let isSending = false;
  let isFailing = false;
  let failures = 0;
  let connectedAt: number | null = null;

  const receive = (text: string) => {
    const message = decode(text, origin);
    if (message !== null) subscribers.notify(message);
  };

  const withTimeout = async <Result>(response: Promise<Result>, operation: string): Promise<Result> => {
    const timeout = Promise.withResolvers<never>();
    const cancel = clock.setTimeout(() => timeout.reject(new Error(`${operation} timed out`)), RESPONSE_MS_MAX);
    try {
      return await Promise.race([response, timeout.promise]);
    } finally {
      cancel();
    }
  };

  const send = async () => {
    // Publications of the same event-loop iteration are sent together.
    await new Promise((resolve) => setImmediate(resolve));
    while (connection !== null && outgoing.size > 0) {
      const messages = outgoing.take();
      const current = connection;
      try {
        await withTimeout(current.send(messages.map((message) => encode(message, origin))), "publishing");
      } catch {
        outgoing.restore(messages);
        if (connection === current) connection = null;
        current.destroy();
      }
    }
    isSending = false;
  };
  const startSending = () => {
    if (isSending || connection === null || outgoing.size === 0) return;
    isSending = true;
    void send();
  };

  /** Opens a connection and uses it until it is lost. Returns the reason of the loss. */
  const useConnection = async (): Promise<string> => {
    const current = connect(receive);
    const pinging = new AbortController();
    const ping = async () => {
      for (;;) {
        await clock.sleep(PING_EVERY_MS, pinging.signal);
        await withTimeout(current.ping(), "a ping");
      }
    };
    closing.signal.addEventListener("abort", current.destroy);
    try {
      await withTimeout(current.ready, "connecting");
      if (closing.signal.aborted) return "closed";
      connection = current;
      if (isFailing) log.info({ bus: name }, "the bus has reconnected");
      isFailing = false;
      connectedAt = clock.monotonic();
      subscribers.notifyAll();
      startSending();
      return await Promise.race([current.lost, ping()]);
    } finally {
      closing.signal.removeEventListener("abort", current.destroy);
      pinging.abort();
      if (connection === current) connection = null;
      current.destroy();
    }
  };

  const run = async () => {
    while (!closing.signal.aborted) {
      const reason = await useConnection().catch((error: unknown) =>
        error instanceof Error ? error.message : String(error),
      );
      if (closing.signal.aborted) return;
      if (!isFailing)
        log.warn({ bus: name, reason }, "the bus is disconnected; changes are polled until it reconnects");
      isFailing = true;
      // If the server closes each new connection, the back-off grows as for an unreachable server.
      if (connectedAt !== null && clock.monotonic() - connectedAt > STABLE_CONNECTION_MS) failures = 0;
      connectedAt = null;
      const delayMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures);
      failures = Math.min(failures + 1, 10);
      await clock.sleep(delayMs * (0.5 + random.uniform() / 2), closing.signal).catch(() => {});
    }
  };
  const runLoop = run();

  return {
    publish(topic, hint) {
      const message = closing.signal.aborted ? null : toMessage(topic, hint, log);
      if (message === null) return;
      subscribers.notify(message);
      outgoing.set(message);
      startSending();
    },
    subscribe: (topic, wake) => subscribers.subscribe(topic, wake),
    get isConnected() {
      return connection !== null;
    },
    async flush() {
      for (let polls = 0; polls < FLUSH_POLLS_MAX && (isSending || outgoing.size > 0); polls++)
        await clock.sleep(FLUSH_POLL_MS);
    },
    async close() {
      closing.abort();
      connection = null;
      // A running connection attempt can end after this timeout, when it times out itself.
      const closeTimeout = new AbortController();
      await Promise.race([runLoop, clock.sleep(CLOSE_MS_MAX, closeTimeout.signal)]).catch(() => {});
      closeTimeout.abort();
    },
  };
}

function encode({ topic, hint }: BusMessage, origin: string): string {
  return JSON.stringify([FORMAT_VERSION, origin, topic, hint]);
}

/** Parses a message of another process. Returns null for a malformed message and for a message of this process. */
function decode(text: string, origin: string): BusMessage | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts)) return null;
  const [format, from, topic, hint] = parts as unknown[];
  if (format !== FORMAT_VERSION || from === origin || typeof topic !== "string" || !TOPIC_PATTERN.test(topic))
    return null;
  if (hint !== null && (typeof hint !== "string" || hint.length > HINT_LENGTH_MAX)) return null;
  return { topic, hint };
}
