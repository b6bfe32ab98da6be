import type { Worker } from "node:worker_threads";
import { encodeArrayParameters } from "./array-parameters.ts";
import { storeUnavailable, toStoreError } from "./errors.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest } from "./pglite-protocol.ts";

/** Timeout of a statement. A longer one means that the engine is stuck. */
const STATEMENT_MS_MAX = 120_000;

type Rows = Record<string, unknown>[];

export type StatementClient = ReturnType<typeof createStatementClient>;

function toError({ message, code, detail, constraint }: PgliteFailure): Error {
  return Object.assign(new Error(message), { code, detail, constraint });
}

const toStatementError = ({ damage }: PgliteFailure, error: Error) =>
  damage === null ? toStoreError(error) : storeUnavailable("The store failed during this statement.", error);

/** Sends statements to the engine's thread and receives its replies. */
export function createStatementClient(
  port: Pick<Worker, "postMessage">,
  handlers: {
    /** Called when a statement or a checkpoint has failed, which may have damaged the engine. */
    readonly onFailure: (failure: PgliteFailure, error: Error) => void;
    readonly onCheckpointFailure: (error: Error) => void;
    /** Called when a statement takes too long. The receiver must end the engine. */
    readonly onStuck: (reason: Error) => void;
  },
) {
  const pending = new Map<number, PromiseWithResolvers<Rows>>();
  let nextId = 0;
  let hasEnded = false;

  return {
    receive(reply: PgliteReply): void {
      if (reply.kind === "ready" || reply.kind === "disconnected") return;
      if (reply.kind === "rows") {
        pending.get(reply.id)?.resolve(reply.rows);
        return;
      }
      const { failure } = reply;
      const error = toError(failure);
      if (reply.kind === "checkpoint_failed") handlers.onCheckpointFailure(error);
      else pending.get(reply.id)?.reject(toStatementError(failure, error));
      handlers.onFailure(failure, error);
    },
    /** True as soon as the engine accepts no more statements. */
    get hasEnded(): boolean {
      return hasEnded;
    },
    /** Accepts no more statements. Those without a reply fail when `failPending` is called. */
    end(): void {
      hasEnded = true;
    },
    failPending(reason: unknown): void {
      hasEnded = true;
      const error = storeUnavailable("The store stopped during this statement.", reason);
      for (const { reject } of pending.values()) reject(error);
    },
    /** Runs a statement. Statements that have no reply when the engine ends fail with `store_unavailable`. */
    async run(text: string, parameters: readonly unknown[]): Promise<Rows> {
      if (hasEnded) throw storeUnavailable("The store stopped before this statement.");
      const id = nextId++;
      const statement = Promise.withResolvers<Rows>();
      pending.set(id, statement);
      const timeout = setTimeout(
        () => handlers.onStuck(new Error(`A statement took longer than ${STATEMENT_MS_MAX} ms.`)),
        STATEMENT_MS_MAX,
      );
      try {
        const request: PgliteRequest = { kind: "query", id, text, parameters: encodeArrayParameters(parameters) };
        port.postMessage(request);
        return await statement.promise;
      } finally {
        clearTimeout(timeout);
        pending.delete(id);
      }
    },
  };
}
