import { AppError } from "../../../domain/errors.ts";
import { EVENT_TYPES, type EventLog, type EventPage } from "../../../event-log/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import { collectChunk, type FanOut } from "./fan-out.ts";
import { bitOf, encodeFrame, encodeReset, type StreamFilter } from "./frame.ts";
import type { StreamClient } from "./stream-client.ts";

/** Maximum number of concurrent reads of the log for clients that resume. */
const READS_MAX = 4;
const EVENTS_PER_READ = 64;
const RETRY_DELAY_MS = 1_000;

/**
 * Sends a client all events after its position. Events that are older than those in memory are read from the log, the
 * others come from memory. Each step starts when the kernel has accepted the bytes of the previous step, so no events are
 * buffered and no log is read for a client that does not read.
 */
export class CatchUp {
  readonly #log: Pick<EventLog, "readAfter" | "latestId">;
  readonly #clock: Clock;
  readonly #fanOut: FanOut;
  readonly #onError: (error: unknown) => void;
  readonly #waiting: StreamClient[] = [];
  #reads = 0;

  constructor(options: {
    readonly log: Pick<EventLog, "readAfter" | "latestId">;
    readonly clock: Clock;
    readonly fanOut: FanOut;
    readonly onError: (error: unknown) => void;
  }) {
    this.#log = options.log;
    this.#clock = options.clock;
    this.#fanOut = options.fanOut;
    this.#onError = options.onError;
  }

  resume(client: StreamClient): void {
    if (!client.isOpen) return;
    const { position, isPositionKnown } = client;
    const { floor, through } = this.#fanOut;
    if (position !== null && (position < floor || (position > through && !isPositionKnown))) {
      this.#waiting.push(client);
      this.#readNext();
    } else this.#fanOut.resume(client, () => this.resume(client));
  }

  #readNext(): void {
    while (this.#reads < READS_MAX) {
      const client = this.#waiting.shift();
      if (client === undefined) return;
      if (!client.isOpen) continue;
      this.#reads += 1;
      void this.#read(client)
        .catch((error: unknown) => {
          this.#onError(error);
          client.destroy();
        })
        .finally(() => {
          this.#reads -= 1;
          this.#readNext();
        });
    }
  }

  async #read(client: StreamClient): Promise<void> {
    try {
      if ((client.position ?? 0) > this.#fanOut.through) await this.#checkPosition(client);
      else await this.#sendPage(client);
    } catch (error) {
      if (!(error instanceof AppError && error.code === "store_unavailable")) throw error;
      this.#clock.setTimeout(() => this.resume(client), RETRY_DELAY_MS);
    }
  }

  /** The client may have received its last event from a process that is ahead of this one. */
  async #checkPosition(client: StreamClient): Promise<void> {
    const latestId = await this.#log.latestId();
    if ((client.position ?? 0) > latestId) this.#sendReset(client, this.#fanOut.through);
    client.isPositionKnown = true;
    this.resume(client);
  }

  async #sendPage(client: StreamClient): Promise<void> {
    const filter = toEventFilter(client.request.filter);
    const page = await this.#log.readAfter(client.position ?? 0, { limit: EVENTS_PER_READ, filter });
    if (page.hasGap) this.#sendReset(client, startOf(page));
    const chunk = collectChunk(client.request.filter, page.events.map(encodeFrame));
    const through = chunk.isComplete ? page.through : chunk.through;
    this.#fanOut.write(client, chunk.bytes, through, () => this.resume(client));
    if (chunk.bytes.length === 0) this.resume(client);
  }

  #sendReset(client: StreamClient, position: number): void {
    this.#fanOut.write(client, encodeReset(position), position);
  }
}

/** Returns the position before the first event after a gap. */
export const startOf = ({ events, through }: Pick<EventPage, "events" | "through">): number =>
  events[0] === undefined ? through : events[0].id - 1;

function toEventFilter({ types, markets }: StreamFilter): Parameters<EventLog["readAfter"]>[1]["filter"] {
  return {
    types: EVENT_TYPES.filter((type) => (types & bitOf(type)) !== 0),
    markets: markets?.map((name) => {
      const slash = name.indexOf("/");
      return { venue: name.slice(0, slash), marketId: name.slice(slash + 1) };
    }),
  };
}
