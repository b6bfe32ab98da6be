import type { MessagePort } from "node:worker_threads";
import { AppError } from "../../domain/errors.ts";
import { currentCaller, runForCaller } from "../../lib/current-caller.ts";
import type { Database, StatementPriority, Transaction } from "../../ports/database.ts";
import { storeUnavailable } from "./errors.ts";

interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** The steps of a transaction have the same `transactionId`. A thread sends the next step after the reply to the last. */
type Step = { readonly transactionId: number } & (
  | ({ readonly kind: "statement" } & Statement)
  | { readonly kind: "commit" | "rollback" }
);
type Request = {
  readonly id: number;
  /** Customer or client address for which the request runs; null for the service itself. */
  readonly caller: string | null;
  readonly priority: StatementPriority | undefined;
} & (({ readonly kind: "query" } & Statement) | { readonly kind: "begin"; readonly transactionId: number } | Step);
type RequestBody = Request extends infer Each ? (Each extends Request ? Omit<Each, "id" | "caller"> : never) : never;
type StepRequest = Extract<Request, Step>;
type Rows = Record<string, unknown>[];

/** The fields of an error, because a structured clone of an `Error` loses them. */
interface Failure {
  readonly isUnavailable: boolean;
  readonly message: string;
  readonly code: unknown;
  readonly detail: unknown;
  readonly constraint: unknown;
  readonly cause: Failure | null;
}

type Reply = { readonly id: number } & ({ readonly rows: Rows } | { readonly failure: Failure });

function encodeFailure(error: unknown): Failure {
  const { message, code, detail, constraint, cause } = (error ?? {}) as Partial<Record<keyof Failure, unknown>>;
  return {
    isUnavailable: error instanceof AppError && error.code === "store_unavailable",
    message: typeof message === "string" ? message : String(error),
    code,
    detail,
    constraint,
    cause: cause === undefined || cause === null ? null : encodeFailure(cause),
  };
}

function decodeFailure({ isUnavailable, message, code, detail, constraint, cause }: Failure): Error {
  const reason = cause === null ? undefined : decodeFailure(cause);
  if (isUnavailable) return storeUnavailable(message, reason);
  return Object.assign(new Error(message, { cause: reason }), { code, detail, constraint });
}

const createEndedError = () => new Error("The thread of the transaction has ended.");

/** Serves the database of this thread to another thread (`openPortDatabase`). If that ends, its transactions roll back. */
export function serveDatabase(port: MessagePort, database: Database): void {
  /** The next step of each open transaction. */
  const nextSteps = new Map<number, PromiseWithResolvers<StepRequest>>();
  let hasEnded = false;
  const reply = (id: number, rows: Rows) => port.postMessage({ id, rows } satisfies Reply);
  const fail = (id: number, error: unknown) => port.postMessage({ id, failure: encodeFailure(error) } satisfies Reply);

  const runTransaction = async ({ id, priority, transactionId }: Extract<Request, { kind: "begin" }>) => {
    /** Id of the request that is answered when the transaction ends. */
    let openId = id;
    const receiveStep = () => {
      if (hasEnded) throw createEndedError();
      const next = Promise.withResolvers<StepRequest>();
      nextSteps.set(transactionId, next);
      return next.promise;
    };
    const performSteps = async (transaction: Transaction) => {
      reply(id, []);
      for (;;) {
        const step = await receiveStep();
        openId = step.id;
        if (step.kind === "commit") return;
        if (!("text" in step)) throw new Error("The transaction is rolled back.");
        await transaction.query(step.text, step.parameters).then(
          (rows) => reply(step.id, rows),
          (error: unknown) => fail(step.id, error),
        );
      }
    };
    try {
      await database.transaction(performSteps, priority);
      reply(openId, []);
    } catch (error) {
      fail(openId, error);
    } finally {
      nextSteps.delete(transactionId);
    }
  };
  const perform = async (request: Request) => {
    if (request.kind === "begin") return runTransaction(request);
    if (request.kind !== "query") return nextSteps.get(request.transactionId)?.resolve(request);
    const { id, text, parameters, priority } = request;
    await database.query(text, parameters, priority).then(
      (rows) => reply(id, rows),
      (error: unknown) => fail(id, error),
    );
  };
  port.on("message", (request: Request) => {
    const { caller } = request;
    void (caller === null ? perform(request) : runForCaller(caller, () => perform(request)));
  });
  port.on("close", () => {
    hasEnded = true;
    for (const { reject } of nextSteps.values()) reject(createEndedError());
  });
}

/** Opens the database in a worker thread. The other end of `port` must run `serveDatabase`. */
export function openPortDatabase(port: MessagePort): Database {
  const pending = new Map<number, PromiseWithResolvers<Rows>>();
  let nextId = 0;
  let nextTransactionId = 0;
  port.on("message", (message: Reply) => {
    const request = pending.get(message.id);
    pending.delete(message.id);
    if ("rows" in message) request?.resolve(message.rows);
    else request?.reject(decodeFailure(message.failure));
  });
  const send = <Row extends object>(request: RequestBody): Promise<Row[]> => {
    const id = nextId++;
    const result = Promise.withResolvers<Rows>();
    pending.set(id, result);
    port.postMessage({ ...request, id, caller: currentCaller() });
    // The caller knows the columns of its statement.
    return result.promise as Promise<Row[]>;
  };
  return {
    query: (text, parameters = [], priority) => send({ kind: "query", text, parameters, priority }),
    async transaction(run, priority) {
      const transactionId = nextTransactionId++;
      await send({ kind: "begin", transactionId, priority });
      let lastStatement: Promise<unknown> = Promise.resolve();
      const query: Transaction["query"] = <Row extends object>(text: string, parameters: readonly unknown[] = []) => {
        const sent = lastStatement.then(() =>
          send<Row>({ kind: "statement", transactionId, text, parameters, priority }),
        );
        lastStatement = sent.catch(() => {});
        return sent;
      };
      let result: Awaited<ReturnType<typeof run>>;
      try {
        result = await run({ query });
      } catch (error) {
        await lastStatement;
        await send({ kind: "rollback", transactionId, priority }).catch(() => {});
        throw error;
      }
      await lastStatement;
      await send({ kind: "commit", transactionId, priority });
      return result;
    },
    async close() {
      port.close();
    },
  };
}
