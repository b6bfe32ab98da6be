import type { Log } from "../../ports/log.ts";

export const TOPIC_PATTERN = /^[a-z0-9_.-]{1,64}$/;
const TOPICS_MAX = 256;
export const HINT_LENGTH_MAX = 256;

export interface BusMessage {
  readonly topic: string;
  readonly hint: string | null;
}

/** Queue of publications with the latest hint of each topic. */
export class TopicHints {
  readonly #hints = new Map<string, string | null>();

  get size(): number {
    return this.#hints.size;
  }

  set({ topic, hint }: BusMessage): void {
    if (this.#hints.size < TOPICS_MAX || this.#hints.has(topic)) this.#hints.set(topic, hint);
  }

  /** Requeues messages that could not be sent, except topics for which a newer message is queued. */
  restore(messages: readonly BusMessage[]): void {
    for (const message of messages) if (!this.#hints.has(message.topic)) this.set(message);
  }

  take(): BusMessage[] {
    const messages = [...this.#hints].map(([topic, hint]) => ({ topic, hint }));
    this.#hints.clear();
    return messages;
  }
}

/** The subscribers of this process. Each is woken at most once per topic and event-loop iteration. */
export class TopicSubscribers {
  readonly #wakes = new Map<string, Set<(hint: string | null) => void>>();
  readonly #queued = new TopicHints();
  readonly #log: Log;
  #isScheduled = false;

  constructor(log: Log) {
    this.#log = log;
  }

  subscribe(topic: string, wake: (hint: string | null) => void): () => void {
    const wakes = this.#wakes.get(topic) ?? new Set();
    this.#wakes.set(topic, wakes);
    // If a function subscribes twice, it gets two entries, so that each unsubscribe removes one entry.
    const entry = (hint: string | null) => wake(hint);
    wakes.add(entry);
    return () => {
      wakes.delete(entry);
      if (wakes.size === 0 && this.#wakes.get(topic) === wakes) this.#wakes.delete(topic);
    };
  }

  notify(message: BusMessage): void {
    if (!this.#wakes.has(message.topic)) return;
    this.#queued.set(message);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const queued of this.#queued.take()) this.#wake(queued);
    });
  }

  /** Wakes all subscribers, because messages may have been missed. */
  notifyAll(): void {
    for (const topic of this.#wakes.keys()) this.notify({ topic, hint: null });
  }

  #wake({ topic, hint }: BusMessage): void {
    for (const wake of [...(this.#wakes.get(topic) ?? [])]) {
      try {
        wake(hint);
      } catch (error) {
        this.#log.error({ err: error, topic }, "a subscriber of the bus failed");
      }
    }
  }
}

/** Creates a message. If the publication exceeds the bounds of `Bus.publish`, logs an error and returns null. */
export function toMessage(topic: string, hint: string | undefined, log: Log): BusMessage | null {
  if (TOPIC_PATTERN.test(topic) && (hint === undefined || hint.length <= HINT_LENGTH_MAX)) {
    return { topic, hint: hint ?? null };
  }
  log.error(
    { topic: topic.slice(0, HINT_LENGTH_MAX) },
    "bus message dropped: the topic is invalid or the hint is too long",
  );
  return null;
}
