import type { MessagePort } from "node:worker_threads";
import { AppError } from "../../domain/errors.ts";
import { currentCaller, runForCaller } from "../../lib/current-caller.ts";
import type { Database } from "../../ports/database.ts";
import type { DiskSpaceGuard } from "./disk-space-guard.ts";
import { type EngineSlot, openEmbeddedSession } from "./embedded-session.ts";
import { type EngineDamage, storeUnavailable } from "./errors.ts";
import type { PgliteEngine } from "./pglite-engine.ts";
import type { PgliteReply } from "./pglite-protocol.ts";
import { runTransaction } from "./session.ts";
import { createStatementClient, type StatementClient } from "./statement-client.ts";

// Another thread sends its statements directly to the engine, but acquires the engine's slot from the main thread, so
// that callers of all threads wait in one queue.

type SlotRequest =
  /** `caller` is null for the service itself. */
  | { readonly kind: "acquire"; readonly id: number; readonly caller: string | null }
  | { readonly kind: "release"; readonly id: number }
  | { readonly kind: "damaged"; readonly id: number; readonly damage: EngineDamage; readonly message: string }
  | { readonly kind: "stuck"; readonly id: number; readonly message: string };

type SlotReply =
  | {
      readonly kind: "granted";
      readonly id: number;
      readonly hasDamagedFiles: boolean;
      /** Port of the engine, if it is not the engine of the previous grant. */
      readonly enginePort: MessagePort | null;
    }
  | { readonly kind: "refused"; readonly id: number; readonly message: string };

/** The engine that a slot was acquired for, and the function that releases the slot. */
interface HeldSlot {
  readonly engine: PgliteEngine;
  readonly release: () => void;
}

/**
 * Serves the slots of the engine to another thread. If the thread ends, its transaction is rolled back.
 *
 * @param acquire  throws AppError `store_unavailable`
 */
export function serveEngineSlots(port: MessagePort, acquire: () => Promise<HeldSlot>): void {
  const held = new Map<number, HeldSlot>();
  let connection: { readonly engine: PgliteEngine; readonly disconnected: Promise<void> } | null = null;
  let isClosed = false;
  const reply = (message: SlotReply, ...transfer: MessagePort[]) => port.postMessage(message, transfer);

  const grant = async ({ id, caller }: Extract<SlotRequest, { kind: "acquire" }>) => {
    try {
      const slot = await (caller === null ? acquire() : runForCaller(caller, acquire));
      if (isClosed) return slot.release();
      held.set(id, slot);
      const { engine } = slot;
      const opened = engine === connection?.engine ? null : engine.connect();
      if (opened !== null) connection = { engine, disconnected: opened.disconnected };
      const enginePort = opened?.port ?? null;
      const { hasDamagedFiles } = engine;
      reply({ kind: "granted", id, hasDamagedFiles, enginePort }, ...(enginePort === null ? [] : [enginePort]));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      reply({ kind: "refused", id, message: error.message });
    }
  };
  port.on("message", (request: SlotRequest) => {
    if (request.kind === "acquire") return void grant(request);
    const slot = held.get(request.id);
    if (request.kind === "release") {
      held.delete(request.id);
      slot?.release();
    } else if (request.kind === "damaged") slot?.engine.recordDamage(request.damage, new Error(request.message));
    else slot?.engine.terminateBecause(new Error(request.message));
  });
  port.on("close", () => {
    isClosed = true;
    // The engine may still run the last statement of the thread.
    for (const { release } of held.values()) void connection?.disconnected.then(release);
    held.clear();
  });
}

/** Opens the embedded store in a thread to which another thread serves the slots (`serveEngineSlots`). */
export function connectToEngine(
  port: MessagePort,
  options: { readonly assertDiskSpace: DiskSpaceGuard; readonly onCheckpointFailure: (error: Error) => void },
): Database {
  const waiting = new Map<number, PromiseWithResolvers<Extract<SlotReply, { kind: "granted" }>>>();
  let nextId = 0;
  let connection: { readonly port: MessagePort; readonly statements: StatementClient; slotId: number } | null = null;
  const send = (request: SlotRequest) => port.postMessage(request);

  const connect = (enginePort: MessagePort, slotId: number) => {
    const statements = createStatementClient(enginePort, {
      onFailure({ damage, message }) {
        if (damage !== null) send({ kind: "damaged", id: created.slotId, damage, message });
      },
      onCheckpointFailure: options.onCheckpointFailure,
      onStuck: ({ message }) => send({ kind: "stuck", id: created.slotId, message }),
    });
    enginePort.on("message", (reply: PgliteReply) => statements.receive(reply));
    enginePort.on("close", () => statements.failPending(null));
    const created = { port: enginePort, statements, slotId };
    connection = created;
  };
  port.on("message", (message: SlotReply) => {
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "granted") {
      if (message.enginePort !== null) connect(message.enginePort, message.id);
      waiter?.resolve(message);
    } else waiter?.reject(storeUnavailable(message.message));
  });

  const acquire = async (): Promise<EngineSlot> => {
    const id = nextId++;
    const granted = Promise.withResolvers<Extract<SlotReply, { kind: "granted" }>>();
    waiting.set(id, granted);
    send({ kind: "acquire", id, caller: currentCaller() });
    const { hasDamagedFiles } = await granted.promise;
    if (connection === null) throw new Error("The first slot was granted without a port of the engine.");
    const { statements } = connection;
    connection.slotId = id;
    return {
      engine: {
        run: statements.run,
        get hasEnded() {
          return statements.hasEnded;
        },
        hasDamagedFiles,
      },
      release: () => send({ kind: "release", id }),
    };
  };
  const openSession = () => openEmbeddedSession(acquire, options.assertDiskSpace);
  const autocommitSession = openSession();
  return {
    async query<Row extends object>(text: string, parameters: readonly unknown[] = []) {
      return (await autocommitSession.run(text, parameters)) as Row[];
    },
    transaction: (work) => runTransaction(async () => openSession(), work),
    async close() {
      connection?.port.close();
      port.close();
    },
  };
}
