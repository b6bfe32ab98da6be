import type { Socket } from "node:net";
import type { Plan } from "../../../domain/plan.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { StreamFilter } from "./frame.ts";

/** Maximum number of unsent bytes; a client with more is disconnected. */
const UNSENT_BYTES_MAX = 64 * 1024;
/** A client is disconnected if its oldest unsent byte is older than this and nothing was acknowledged for this time. */
const UNSENT_MS_MAX = 20_000;

/** Maximum duration of a stream without an API key. The caller pays once per connection, so the connection must end. */
const KEYLESS_MS_MAX = HOUR_MS;

export interface StreamRequest {
  /** Id for the limit per key: the id of the API key, or of a caller without a key. */
  readonly caller: string;
  /** The key to check again while the stream is open; null for callers without an API key. */
  readonly key: { readonly keyId: string; readonly plan: Plan } | null;
  readonly address: string;
  readonly filter: StreamFilter;
  /** Id of the last received event; Infinity if above 2^53. If null, the stream begins with the next event. */
  readonly lastEventId: number | null;
}

/** One open stream. Writes to its connection, and detects a client that is too slow. */
export class StreamClient {
  readonly request: StreamRequest;
  /** Monotonic milliseconds. */
  readonly #startedAt: number;
  readonly #socket: Socket;
  readonly #acknowledgedAt: () => number;
  /** Id of the last event that was written or skipped by the filter; null until the stream has a position. */
  position: number | null;
  /** Whether the event log has reached `position`. */
  isPositionKnown = false;
  #queuedBytes = 0;
  /**
   * Bound on the oldest unsent byte: it is before `offset` and was queued at `at` or earlier (monotonic ms). Null if
   * all bytes are sent.
   */
  #unsent: { readonly offset: number; readonly at: number } | null = null;

  /**
   * @param startedAt   monotonic milliseconds
   * @param acknowledgedAt  returns when the client was last seen to acknowledge bytes, in monotonic milliseconds
   */
  constructor(socket: Socket, request: StreamRequest, startedAt: number, acknowledgedAt: () => number) {
    this.#socket = socket;
    this.#acknowledgedAt = acknowledgedAt;
    this.request = request;
    this.#startedAt = startedAt;
    this.position = request.lastEventId;
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /**
   * Writes bytes.
   *
   * @param now  monotonic milliseconds
   * @param onSent  called when the kernel has accepted the bytes; not called if the connection closes first
   * @returns whether the client is fast enough; if not, the caller must disconnect it
   */
  write(bytes: Buffer, now: number, onSent?: () => void): boolean {
    if (!this.#socket.writable) return true;
    if (this.#socket.writableLength === 0) this.#unsent = null;
    this.#socket.write(bytes, onSent && ((error) => (error == null ? onSent() : undefined)));
    this.#queuedBytes += bytes.length;
    const { writableLength } = this.#socket;
    if (writableLength > 0) this.#unsent ??= { offset: this.#queuedBytes, at: now };
    return writableLength <= UNSENT_BYTES_MAX;
  }

  /** Whether the oldest unsent byte is too old and nothing was acknowledged. @param now  monotonic milliseconds */
  isStalled(now: number): boolean {
    const { writableLength } = this.#socket;
    if (writableLength === 0 || this.#unsent === null) this.#unsent = null;
    else if (this.#queuedBytes - writableLength >= this.#unsent.offset)
      this.#unsent = { offset: this.#queuedBytes, at: now };
    return this.#unsent !== null && now - Math.max(this.#unsent.at, this.#acknowledgedAt()) > UNSENT_MS_MAX;
  }

  /** Whether a stream without an API key has reached its maximum duration. @param now  monotonic milliseconds */
  isOverdue(now: number): boolean {
    return this.request.key === null && now - this.#startedAt >= KEYLESS_MS_MAX;
  }

  /** Closes the connection after sending the unsent bytes. */
  end(): void {
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** The open streams, in groups with heartbeats at different ticks, so that no tick writes to all streams. */
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
