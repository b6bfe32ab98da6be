import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { type BusMessage, HINT_LENGTH_MAX, TOPIC_PATTERN, TopicHints, TopicSubscribers, toMessage } from "./topics.ts";

/** Reconnects begin this fast and slow down to the second figure, halved at random so that nodes do not come at once. */
const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 1_000;
/** A connection that lasted this long was a good one. */
const STEADY_MS = 2_000;
const PING_EVERY_MS = 5_000;
const ANSWER_MS_MAX = 1_500;
const CLOSE_MS_MAX = 1_000;
const FLUSH_LOOK_MS = 5;
const FLUSH_LOOKS_MAX = 400;
const ORIGIN_BYTES = 9;
/** Names the format, for nodes of different versions side by side. */
const FORMAT = "1";

/** A connection that hears and tells other processes. When it is lost it is thrown away and another one made. */
export interface BusConnection {
  send(texts: readonly string[]): Promise<unknown>;
  ping(): Promise<unknown>;
  /** Resolves with the reason once nothing can be heard or told any more. */
  readonly lost: Promise<string>;
  /** Ends it whatever state it is in; must not wait for the other side. */
  destroy(): void;
}

export interface ReconnectingBusOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Resolves once it hears; whatever arrives goes to `hear`. Once the signal aborts, it ends what it has begun. */
  connect(hear: (text: string) => void, signal: AbortSignal): Promise<BusConnection>;
}

/**
 * A bus over a connection that may go at any moment. This process's own subscribers are told directly. Others are told
 * with one send at a time, so that a burst becomes as many messages as the other side can take; what is published while the
 * connection is away waits, one message a topic. After each reconnect everybody is woken, because messages may have been
 * missed. A connection that hangs is noticed by an unanswered ping.
 */
export function createReconnectingBus(options: ReconnectingBusOptions): Bus {
  const { name, clock, random, log, connect } = options;
  const subscribers = new TopicSubscribers(log);
  const outgoing = new TopicHints();
  const origin = Buffer.from(random.bytes(ORIGIN_BYTES)).toString("base64url");
  const closing = new AbortController();
  let link: BusConnection | null = null;
  let isSending = false;
  let isFailing = false;
  let failures = 0;
  let connectedAt: number | null = null;

  const hear = (text: string) => {
    const message = decode(text, origin);
    if (message !== null) subscribers.tell(message);
  };

  const within = async <Answer>(answer: Promise<Answer>, what: string): Promise<Answer> => {
    const late = Promise.withResolvers<never>();
    const cancel = clock.setTimeout(() => late.reject(new Error(`${what} was not answered in time`)), ANSWER_MS_MAX);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      cancel();
    }
  };

  const send = async () => {
    // What is published in the same turn goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (link !== null && outgoing.size > 0) {
      const messages = outgoing.take();
      const current = link;
      try {
        await within(current.send(messages.map((message) => encode(message, origin))), "a publication");
      } catch {
        outgoing.restore(messages);
        if (link === current) link = null;
        current.destroy();
      }
    }
    isSending = false;
  };
  const startSending = () => {
    if (isSending || link === null || outgoing.size === 0) return;
    isSending = true;
    void send();
  };

  const open = async (): Promise<BusConnection> => {
    const attempt = new AbortController();
    const opening = connect(hear, AbortSignal.any([attempt.signal, closing.signal]));
    // One that comes after all when nobody waits for it any more.
    opening.then(
      (late) => (attempt.signal.aborted || closing.signal.aborted ? late.destroy() : undefined),
      () => {},
    );
    try {
      return await within(opening, "a connection");
    } catch (error) {
      attempt.abort();
      throw error;
    }
  };

  /** Serves one connection from its making to its loss; gives why it went. */
  const serve = async (): Promise<string> => {
    const current = await open();
    if (closing.signal.aborted) return "closed";
    link = current;
    if (isFailing) log.info({ bus: name }, "the bus is connected again");
    isFailing = false;
    connectedAt = clock.monotonic();
    subscribers.tellAll();
    startSending();
    const pinging = new AbortController();
    const ping = async () => {
      for (;;) {
        await clock.sleep(PING_EVERY_MS, pinging.signal);
        await within(current.ping(), "a ping");
      }
    };
    try {
      return await Promise.race([current.lost, ping()]);
    } finally {
      pinging.abort();
      if (link === current) link = null;
      current.destroy();
    }
  };

  const run = async () => {
    while (!closing.signal.aborted) {
      const reason = await serve().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (closing.signal.aborted) return;
      if (!isFailing) log.warn({ bus: name, reason }, "the bus is away; readers look by themselves meanwhile");
      isFailing = true;
      // A server that takes connections only to drop them is not asked faster than one that is away.
      if (connectedAt !== null && clock.monotonic() - connectedAt > STEADY_MS) failures = 0;
      connectedAt = null;
      const delayMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures);
      failures = Math.min(failures + 1, 10);
      await clock.sleep(delayMs * (0.5 + random.uniform() / 2), closing.signal).catch(() => {});
    }
  };
  const running = run();

  return {
    publish(topic, hint) {
      const message = closing.signal.aborted ? null : toMessage(topic, hint, log);
      if (message === null) return;
      subscribers.tell(message);
      outgoing.set(message);
      startSending();
    },
    subscribe: (topic, wake) => subscribers.subscribe(topic, wake),
    get isConnected() {
      return link !== null;
    },
    async flush() {
      for (let look = 0; look < FLUSH_LOOKS_MAX && (isSending || outgoing.size > 0); look++)
        await clock.sleep(FLUSH_LOOK_MS);
    },
    async close() {
      closing.abort();
      link?.destroy();
      link = null;
      // An attempt to connect under way ends by itself within its own bound; nobody waits for it.
      const giveUp = new AbortController();
      await Promise.race([running, clock.sleep(CLOSE_MS_MAX, giveUp.signal)]).catch(() => {});
      giveUp.abort();
    },
  };
}

function encode({ topic, hint }: BusMessage, origin: string): string {
  return JSON.stringify([FORMAT, origin, topic, hint]);
}

/** What another process has told; null for our own echo and for anything else on the channel. */
function decode(text: string, origin: string): BusMessage | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts)) return null;
  const [format, from, topic, hint] = parts as unknown[];
  if (format !== FORMAT || from === origin || typeof topic !== "string" || !TOPIC_PATTERN.test(topic)) return null;
  if (hint !== null && (typeof hint !== "string" || hint.length > HINT_LENGTH_MAX)) return null;
  return { topic, hint };
}
