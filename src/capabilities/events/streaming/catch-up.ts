import { AppError } from "../../../domain/errors.ts";
import { EVENT_TYPES, type EventLog, type EventPage } from "../../../event-log/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import { collectChunk, type FanOut } from "./fan-out.ts";
import { encodeFrame, encodeReset, eventTypeBit, type StreamFilter } from "./frame.ts";
import type { StreamClient } from "./stream-client.ts";

/** Maximum number of concurrent reads of the event log for resuming clients. */
const READS_MAX = 4;
const EVENTS_PER_READ = 64;
const RETRY_DELAY_MS = 1_000;

/**
 * Returns a function that sends a client all events after its position. Events that are no longer in memory are read
 * from the log. Each step starts when the kernel has accepted the bytes of the previous step, so that a slow client
 * causes neither buffering nor reads.
 */
export function createCatchUp({
  log,
  clock,
  fanOut,
  onError,
}: {
  readonly log: Pick<EventLog, "readAfter" | "latestId">;
  readonly clock: Clock;
  readonly fanOut: FanOut;
  readonly onError: (error: unknown) => void;
}): (client: StreamClient) => void {
  const waiting: StreamClient[] = [];
  let reads = 0;

  const resume = (client: StreamClient): void => {
    if (!client.isOpen) return;
    const { position, isPositionKnown } = client;
    const { floor, through } = fanOut;
    if (position !== null && (position < floor || (position > through && !isPositionKnown))) {
      waiting.push(client);
      readNext();
    } else fanOut.resume(client, () => resume(client));
  };

  const readNext = (): void => {
    while (reads < READS_MAX) {
      const client = waiting.shift();
      if (client === undefined) return;
      if (!client.isOpen) continue;
      reads += 1;
      void read(client)
        .catch((error: unknown) => {
          onError(error);
          client.destroy();
        })
        .finally(() => {
          reads -= 1;
          readNext();
        });
    }
  };

  const read = async (client: StreamClient): Promise<void> => {
    try {
      if ((client.position ?? 0) > fanOut.through) await checkPosition(client);
      else await sendPage(client);
    } catch (error) {
      if (!(error instanceof AppError && error.code === "store_unavailable")) throw error;
      clock.setTimeout(() => resume(client), RETRY_DELAY_MS);
    }
  };

  /** The client may have received its last event from a process that is ahead of this process. */
  const checkPosition = async (client: StreamClient): Promise<void> => {
    const latestId = await log.latestId();
    if ((client.position ?? 0) > latestId) sendReset(client, fanOut.through);
    client.isPositionKnown = true;
    resume(client);
  };

  const sendPage = async (client: StreamClient): Promise<void> => {
    const filter = toEventFilter(client.request.filter);
    const page = await log.readAfter(client.position ?? 0, { limit: EVENTS_PER_READ, filter });
    if (page.hasGap) sendReset(client, startPositionOf(page));
    const chunk = collectChunk(client.request.filter, page.events.map(encodeFrame));
    const through = chunk.isComplete ? page.through : chunk.through;
    fanOut.write(client, chunk.bytes, through, () => resume(client));
    if (chunk.bytes.length === 0) resume(client);
  };

  const sendReset = (client: StreamClient, position: number): void =>
    fanOut.write(client, encodeReset(position), position);

  return resume;
}

/** Returns the position before the first event after a gap. */
export const startPositionOf = ({ events, through }: Pick<EventPage, "events" | "through">): number =>
  events[0] === undefined ? through : events[0].id - 1;

function toEventFilter({ types, markets }: StreamFilter): Parameters<EventLog["readAfter"]>[1]["filter"] {
  return {
    types: EVENT_TYPES.filter((type) => (types & eventTypeBit(type)) !== 0),
    markets: markets?.map((name) => {
      const slash = name.indexOf("/");
      return { venue: name.slice(0, slash), marketId: name.slice(slash + 1) };
    }),
  };
}
