import type { Clock } from "../../ports/clock.ts";

/** Default of the processing time after which the queue yields to the event loop. */
const SLICE_MS_MAX = 1;
/** Maximum number of queued messages. */
const QUEUED_MESSAGES_MAX = 10_000;
/** Maximum size of all queued messages, in bytes. */
const QUEUED_BYTES_MAX = 16 * 2 ** 20;
/** Number of processed messages after which their places in the list are released. */
const COMPACT_AFTER = 1_000;

interface QueuedMessage {
  /** Size in bytes; 0 if it is unknown. */
  readonly bytes: number;
  /** Processes the message. */
  readonly work: () => void;
  /** Called if `work` throws; an uncaught error would end the process. */
  readonly onError: (error: unknown) => void;
}

/** Queues the processing of a message. */
export type MessageQueue = (message: QueuedMessage) => void;

/**
 * Creates a queue for the messages of all sockets of a thread. Messages are processed in order, in slices with a yield
 * to the event loop between them. Otherwise a burst of thousands of messages would delay every HTTP request. While the
 * queue is full, each new message causes the immediate processing of the oldest ones, which bounds the memory.
 */
export function createMessageQueue(clock: Clock, options: { readonly sliceMsMax?: number } = {}): MessageQueue {
  const { sliceMsMax = SLICE_MS_MAX } = options;
  /** Messages in order. Messages before the index `start` have been processed. */
  let messages: (QueuedMessage | undefined)[] = [];
  let start = 0;
  let queuedBytes = 0;
  let isDraining = false;

  const processOldest = () => {
    const message = messages[start];
    if (message === undefined) return;
    messages[start] = undefined;
    start += 1;
    queuedBytes -= message.bytes;
    if (start === messages.length || (start >= COMPACT_AFTER && start * 2 >= messages.length)) {
      messages = messages.slice(start);
      start = 0;
    }
    try {
      message.work();
    } catch (error) {
      message.onError(error);
    }
  };
  const isEmpty = () => start === messages.length;
  const isFull = () => messages.length - start >= QUEUED_MESSAGES_MAX || queuedBytes >= QUEUED_BYTES_MAX;

  const drain = async () => {
    while (!isEmpty()) {
      await clock.yieldToEventLoop();
      const sliceEndsAt = clock.monotonic() + sliceMsMax;
      do processOldest();
      while (!isEmpty() && clock.monotonic() < sliceEndsAt);
    }
  };

  return (message) => {
    messages.push(message);
    queuedBytes += message.bytes;
    while (isFull()) processOldest();
    if (isDraining || isEmpty()) return;
    isDraining = true;
    void drain().finally(() => {
      isDraining = false;
    });
  };
}

/** Formats an error in the processing of a message as the reason for closing the connection. */
export const describeFailure = (error: unknown): string =>
  `a message could not be processed: ${error instanceof Error ? error.message : String(error)}`;
