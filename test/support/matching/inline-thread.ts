import type { StateThread, StateThreadModule } from "../../../src/ports/state-thread.ts";

/** A state thread that runs in this process, so that a test controls when it fails. */
export interface InlineThreads<Request, Response> {
  open(): StateThread<Request, Response>;
  /** All requests of all threads, in order. */
  readonly requests: Request[];
  /** Number of threads opened so far. */
  readonly openedCount: number;
  /** The next request of this and later threads fails while this is set. */
  failure: Error | null;
}

export function createInlineThreads<Request, Response>(
  createHandler: StateThreadModule<Request, Response>["createHandler"],
): InlineThreads<Request, Response> {
  const requests: Request[] = [];
  let openedCount = 0;
  const threads: InlineThreads<Request, Response> = {
    requests,
    failure: null,
    get openedCount() {
      return openedCount;
    },
    open() {
      openedCount += 1;
      const handle = createHandler();
      let isClosed = false;
      return {
        async request(request) {
          if (isClosed) throw new Error("The thread was closed.");
          if (threads.failure !== null) throw threads.failure;
          requests.push(structuredClone(request));
          return structuredClone(handle(structuredClone(request)));
        },
        async close() {
          isClosed = true;
        },
      };
    },
  };
  return threads;
}
