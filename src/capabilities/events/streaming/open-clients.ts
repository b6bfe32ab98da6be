import type { StreamClient } from "./stream-client.ts";

/** The open streams, in groups that get their heartbeat at different ticks, so that one tick does not write to all. */
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

  /** Returns the clients that get a heartbeat at this tick. */
  dueAt(tick: number): Iterable<StreamClient> {
    return this.#groups[tick % this.#groups.length] ?? [];
  }
}
