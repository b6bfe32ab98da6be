import { type LoggedEvent, NewestEvents } from "../../../event-log/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import { encodeFrame, encodeReset, type Frame, matchesFilter, type StreamFilter } from "./frame.ts";
import type { StreamClient } from "./stream-client.ts";

/** Maximum total bytes of the newest events in memory. */
const FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Maximum bytes of a write of older events. The next write waits until the kernel has accepted the bytes. */
const CHUNK_BYTES_MAX = 32 * 1024;
/** Number of clients that get events between two yields to the event loop. */
const CLIENTS_PER_SLICE = 256;

/** Sends each event to the clients that selected it, and older events from memory. */
export class FanOut {
  readonly #clock: Clock;
  readonly #disconnect: (client: StreamClient) => void;
  readonly #live = new SubscriptionIndex();
  readonly #newest: NewestEvents<Frame>;

  /**
   * @param options.eventsMax  maximum number of events in memory
   * @param options.disconnect  disconnects a client that is too slow
   */
  constructor(options: {
    readonly clock: Clock;
    readonly eventsMax: number;
    readonly disconnect: (client: StreamClient) => void;
  }) {
    this.#clock = options.clock;
    this.#disconnect = options.disconnect;
    this.#newest = new NewestEvents({
      countMax: options.eventsMax,
      sizeMax: FRAME_BYTES_MAX,
      sizeOf: ({ bytes }) => bytes.length,
    });
  }

  /** Id of the last event read from the log. */
  get through(): number {
    return this.#newest.through;
  }

  /** Events after this id are in memory. */
  get floor(): number {
    return this.#newest.floor;
  }

  /** Sets the start position in the event log. Must be called before the first batch. */
  begin(position: number): void {
    this.#newest.reset(position);
  }

  /** Stores a batch for resuming clients, without sending it. */
  store(events: readonly LoggedEvent[], through: number): readonly Frame[] {
    const frames = events.map(encodeFrame);
    this.#newest.add(frames, through);
    return frames;
  }

  /** Stores a batch and sends it to the live clients. Calls must not overlap, or the order of events would change. */
  async send(events: readonly LoggedEvent[], through: number): Promise<void> {
    const batch = this.store(events, through);
    const pause = this.#createPause();
    for (const [clients, frames] of this.#live.groups(batch)) {
      const bytes = joinFrames(frames);
      const { id: firstId } = frames[0] as Frame;
      const { id: lastId } = frames.at(-1) as Frame;
      for (const client of clients) {
        if ((client.position ?? 0) < firstId) this.write(client, bytes, lastId);
        else for (const frame of frames) this.#sendFrame(client, frame);
        if (pause.isDue()) await pause.take();
      }
    }
    for (const frame of batch)
      for (const client of this.#live.followersOf(frame)) {
        this.#sendFrame(client, frame);
        if (pause.isDue()) await pause.take();
      }
  }

  /** Reports a gap that ends at `position` to the live clients. Other clients detect the gap when they read the log. */
  async sendReset(position: number): Promise<void> {
    this.#newest.reset(position);
    const bytes = encodeReset(position);
    const pause = this.#createPause();
    for (const client of this.#live.clients()) {
      if ((client.position ?? 0) < position) this.write(client, bytes, position);
      if (pause.isDue()) await pause.take();
    }
  }

  /**
   * Sends stored events after the client's position, at most `CHUNK_BYTES_MAX`. Adds the client to the live clients if
   * there are no further stored events. The position must be at least `floor`. The function is synchronous, so no event
   * can arrive meanwhile.
   *
   * @param onSent  called when the kernel has accepted the events, unless the client is live
   */
  resume(client: StreamClient, onSent: () => void): void {
    const { through } = this.#newest;
    client.position ??= through;
    if (client.position < through) {
      const chunk = collectChunk(client.request.filter, this.#newest.after(client.position));
      if (!chunk.isComplete) {
        this.write(client, chunk.bytes, chunk.through, onSent);
        return;
      }
      this.write(client, chunk.bytes, through);
    }
    this.#live.add(client);
  }

  /** Writes bytes and advances the client to `position`. Disconnects the client if too many bytes are unsent. */
  write(client: StreamClient, bytes: Buffer, position: number, onSent?: () => void): void {
    client.position = position;
    if (bytes.length > 0 && !client.write(bytes, this.#clock.monotonic(), onSent)) this.#disconnect(client);
  }

  remove(client: StreamClient): void {
    this.#live.remove(client);
  }

  /** A live client may be ahead of this process, because another process has already sent it the event. */
  #sendFrame(client: StreamClient, frame: Frame): void {
    if ((client.position ?? 0) < frame.id) this.write(client, frame.bytes, frame.id);
  }

  #createPause() {
    let count = 0;
    return {
      isDue: () => ++count % CLIENTS_PER_SLICE === 0,
      take: () => this.#clock.yieldToEventLoop(),
    };
  }
}

const joinFrames = (frames: readonly Frame[]): Buffer =>
  frames.length === 1 ? (frames[0] as Frame).bytes : Buffer.concat(frames.map(({ bytes }) => bytes));

/** The first frames that match a filter, as one write. */
interface Chunk {
  readonly bytes: Buffer;
  /** Id of the last frame that is either in the chunk or does not match. */
  readonly through: number;
  /** Whether the chunk contains all matching frames. */
  readonly isComplete: boolean;
}

/** Collects matching frames of at most `CHUNK_BYTES_MAX` in total. The first frame may be larger. */
export function collectChunk(filter: StreamFilter, frames: Iterable<Frame>): Chunk {
  const chunk: Buffer[] = [];
  let size = 0;
  let through = 0;
  for (const frame of frames) {
    if (matchesFilter(filter, frame)) {
      if (size > 0 && size + frame.bytes.length > CHUNK_BYTES_MAX)
        return { bytes: Buffer.concat(chunk), through, isComplete: false };
      chunk.push(frame.bytes);
      size += frame.bytes.length;
    }
    through = frame.id;
  }
  return { bytes: Buffer.concat(chunk), through, isComplete: true };
}

/** The live clients, indexed by their filters. A live client has received all events so far. */
class SubscriptionIndex {
  /** Clients without a market filter, by their set of event types; the number of distinct sets is small. */
  readonly #byTypes = new Map<number, Set<StreamClient>>();
  /** Clients with a market filter, by the name of each of their markets. */
  readonly #byMarket = new Map<string, Set<StreamClient>>();

  add(client: StreamClient): void {
    const { types, markets } = client.request.filter;
    if (markets === null) addTo(this.#byTypes, types, client);
    else for (const market of markets) addTo(this.#byMarket, market, client);
  }

  remove(client: StreamClient): void {
    const { types, markets } = client.request.filter;
    if (markets === null) removeFrom(this.#byTypes, types, client);
    else for (const market of markets) removeFrom(this.#byMarket, market, client);
  }

  /** Yields groups of clients without a market filter, each with the frames of a batch that match its event types. */
  *groups(batch: readonly Frame[]): Generator<readonly [Iterable<StreamClient>, readonly Frame[]], void, void> {
    for (const [types, clients] of this.#byTypes) {
      const frames = batch.filter(({ typeBit }) => (types & typeBit) !== 0);
      if (frames.length > 0) yield [clients, frames];
    }
  }

  /** Yields all clients. A client that selected several markets is yielded once per market. */
  *clients(): Generator<StreamClient, void, void> {
    for (const clients of this.#byTypes.values()) yield* clients;
    for (const clients of this.#byMarket.values()) yield* clients;
  }

  /** Yields the clients that selected both the market and the type of a frame. */
  *followersOf({ market, typeBit }: Frame): Generator<StreamClient, void, void> {
    if (market === null) return;
    for (const client of this.#byMarket.get(market) ?? [])
      if ((client.request.filter.types & typeBit) !== 0) yield client;
  }
}

function addTo<Key>(index: Map<Key, Set<StreamClient>>, key: Key, client: StreamClient): void {
  const clients = index.get(key);
  if (clients === undefined) index.set(key, new Set([client]));
  else clients.add(client);
}

function removeFrom<Key>(index: Map<Key, Set<StreamClient>>, key: Key, client: StreamClient): void {
  const clients = index.get(key);
  clients?.delete(client);
  if (clients?.size === 0) index.delete(key);
}
