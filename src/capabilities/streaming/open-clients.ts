import type { StreamClient } from "./stream-client.ts";

/** The open streams, in groups of about equal size that receive their comments at different ticks. */
export class OpenClients {
  readonly #groups: readonly Set<StreamClient>[];
  #nextGroup = 0;

  constructor(groupCount: number) {
    this.#groups = Array.from({ length: groupCount }, () => new Set());
  }

  /** Adds a client. Returns a function that removes it. */
  add(client: StreamClient): () => void {
    const group = this.#groups[this.#nextGroup++ % this.#groups.length];
    group?.add(client);
    return () => group?.delete(client);
  }

  all(): IteratorObject<StreamClient> {
    return this.#groups.values().flatMap((group) => group.values());
  }

  /** The clients that receive a comment at this tick. */
  dueAt(tick: number): Iterable<StreamClient> {
    return this.#groups[tick % this.#groups.length] ?? [];
  }
}
