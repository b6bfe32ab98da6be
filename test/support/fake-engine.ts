import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import type { PgliteFailure, PgliteReply, PgliteRequest } from "../../src/adapters/database/pglite-protocol.ts";

export const FILE_FAILURE: PgliteFailure = {
  message: 'could not create file "base/5/16384": File exists',
  code: "58P02",
  detail: null,
  constraint: null,
  damage: "files",
};
export const MEMORY_FAILURE: PgliteFailure = {
  message: "memory access out of bounds",
  code: null,
  detail: null,
  constraint: null,
  damage: "memory",
};

/** A worker thread of the embedded store whose replies a test scripts. */
export class FakeEngineThread extends EventEmitter {
  /** Statements that the thread received, in order. */
  readonly statements: string[] = [];
  /** Failures by statement; a null failure means no reply. Other statements return no rows. */
  readonly failures = new Map<string, PgliteFailure | null>();
  isTerminated = false;
  readonly #opens: boolean;
  readonly #isSlowToExit: boolean;

  constructor(options: { readonly opens?: boolean; readonly isSlowToExit?: boolean } = {}) {
    super();
    this.#opens = options.opens ?? true;
    this.#isSlowToExit = options.isSlowToExit ?? false;
  }

  start(): Worker {
    if (this.#opens) this.reply({ kind: "ready" });
    // Only the members that the store uses exist.
    return this as unknown as Worker;
  }

  reply(message: PgliteReply): void {
    queueMicrotask(() => this.emit("message", message));
  }

  exit(): void {
    this.emit("exit", 1);
  }

  postMessage(request: PgliteRequest): void {
    if (request.kind === "close") return void queueMicrotask(() => this.exit());
    this.statements.push(request.text);
    const failure = this.failures.get(request.text);
    if (failure === undefined) this.reply({ kind: "rows", id: request.id, rows: [] });
    else if (failure !== null) this.reply({ kind: "failed", id: request.id, failure });
  }

  async terminate(): Promise<number> {
    this.isTerminated = true;
    if (!this.#isSlowToExit) queueMicrotask(() => this.exit());
    return 1;
  }
}
