import type { Log } from "../../ports/log.ts";

export const TOPIC_PATTERN = /^[a-z0-9_.-]{1,64}$/;
const TOPICS_MAX = 256;
export const HINT_LENGTH_MAX = 256;

export interface BusMessage {
  readonly topic: string;
  readonly hint: string | null;
}

/** The latest hint of each topic that waits to be told: however many publications, one message a topic. */
export class TopicHints {
  readonly #hints = new Map<string, string | null>();

  get size(): number {
    return this.#hints.size;
  }

  set({ topic, hint }: BusMessage): void {
    if (this.#hints.size < TOPICS_MAX || this.#hints.has(topic)) this.#hints.set(topic, hint);
  }

  /** Puts back what could not be told, where nothing newer waits. */
  restore(messages: readonly BusMessage[]): void {
    for (const message of messages) if (!this.#hints.has(message.topic)) this.set(message);
  }

  take(): BusMessage[] {
    const messages = [...this.#hints].map(([topic, hint]) => ({ topic, hint }));
    this.#hints.clear();
    return messages;
  }
}

/** Who in this process waits for which topic. Wakes come once a turn of the event loop, however much was told in it. */
export class TopicSubscribers {
  readonly #wakes = new Map<string, Set<(hint: string | null) => void>>();
  readonly #waiting = new TopicHints();
  readonly #log: Log;
  #isScheduled = false;

  constructor(log: Log) {
    this.#log = log;
  }

  subscribe(topic: string, wake: (hint: string | null) => void): () => void {
    const wakes = this.#wakes.get(topic) ?? new Set();
    this.#wakes.set(topic, wakes);
    // An entry of its own, so that the same function subscribed twice is ended once at a time.
    const entry = (hint: string | null) => wake(hint);
    wakes.add(entry);
    return () => {
      wakes.delete(entry);
      if (wakes.size === 0 && this.#wakes.get(topic) === wakes) this.#wakes.delete(topic);
    };
  }

  tell(message: BusMessage): void {
    if (!this.#wakes.has(message.topic)) return;
    this.#waiting.set(message);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const waiting of this.#waiting.take()) this.#wake(waiting);
    });
  }

  /** Something may have been missed, nobody knows what. */
  tellAll(): void {
    for (const topic of this.#wakes.keys()) this.tell({ topic, hint: null });
  }

  #wake({ topic, hint }: BusMessage): void {
    for (const wake of [...(this.#wakes.get(topic) ?? [])]) {
      try {
        wake(hint);
      } catch (error) {
        this.#log.error({ err: error, topic }, "a subscriber of the bus failed; the others are woken all the same");
      }
    }
  }
}

/** A publication within the port's bounds; anything else is a mistake of the caller's and is only logged. */
export function toMessage(topic: string, hint: string | undefined, log: Log): BusMessage | null {
  if (TOPIC_PATTERN.test(topic) && (hint === undefined || hint.length <= HINT_LENGTH_MAX)) {
    return { topic, hint: hint ?? null };
  }
  log.error({ topic: topic.slice(0, HINT_LENGTH_MAX) }, "a publication on the bus was out of bounds and is left out");
  return null;
}
