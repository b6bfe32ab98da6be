import { VenueError } from "../../domain/errors.ts";
import { currentCaller } from "../../lib/current-caller.ts";
import { decodeError } from "./error-codec.ts";
import type { IngestCall, IngestCalls } from "./ingest-calls.ts";
import type { CallMessage, CallReply } from "./messages.ts";

/** The parameters of a call, without the signal that some calls have as their last one. */
type CallParameters<Call extends IngestCall> =
  Parameters<IngestCalls[Call]> extends [...infer Rest, AbortSignal] ? Rest : Parameters<IngestCalls[Call]>;

const restarting = () =>
  new VenueError("network", "The thread that reads the venues is restarting", { retryable: true });

/**
 * Calls functions of the ingest thread.
 *
 * @param post  sends a message to the thread; returns false if no thread runs
 */
export function createRemoteCalls(post: (message: CallMessage | { kind: "abort"; id: number }) => boolean) {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let nextId = 0;
  return {
    /** Settles the call that the thread has answered. */
    settle(reply: CallReply): void {
      const call = pending.get(reply.id);
      if (reply.kind === "result") call?.resolve(reply.value);
      else call?.reject(decodeError(reply.error));
    },
    /** Rejects all calls, because the thread has ended. */
    failAll(): void {
      for (const { reject } of pending.values()) reject(restarting());
    },
    /**
     * Calls a function on behalf of the current caller.
     *
     * @param signal  aborts the call; it then rejects with the signal's reason
     * @throws the error of the function; VenueError if the thread has ended
     */
    async call<Call extends IngestCall>(
      method: Call,
      parameters: CallParameters<Call>,
      signal?: AbortSignal,
    ): Promise<Awaited<ReturnType<IngestCalls[Call]>>> {
      signal?.throwIfAborted();
      const id = nextId++;
      const result = Promise.withResolvers<unknown>();
      const abort = () => {
        post({ kind: "abort", id });
        result.reject(signal?.reason);
      };
      pending.set(id, result);
      signal?.addEventListener("abort", abort, { once: true });
      try {
        if (!post({ kind: "call", id, caller: currentCaller(), method, parameters })) throw restarting();
        return (await result.promise) as Awaited<ReturnType<IngestCalls[Call]>>;
      } finally {
        pending.delete(id);
        signal?.removeEventListener("abort", abort);
      }
    },
  };
}
