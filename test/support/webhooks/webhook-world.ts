import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { createWebhookService, Dispatcher } from "../../../src/capabilities/events/webhooks/index.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { appendEvents, createEventLog, type EventType } from "../../../src/event-log/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { Log } from "../../../src/ports/log.ts";
import type { Random } from "../../../src/ports/random.ts";
import type { WebhookAnswer, WebhookRequest } from "../../../src/ports/webhook-out.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietLog } from "../quiet-log.ts";
import { fakeSeal, toAttempt } from "./fake-webhook-ports.ts";

const CUSTOMER_ID = "cus-world";

const never = <Value>() => new Promise<Value>(() => {});

/** A node with a dispatcher. */
export interface WorldNode {
  readonly nodeId: string;
  readonly dispatcher: Dispatcher;
  /** `killed`: its statements and requests never resolve. `cut off`: its statements fail. */
  state: "running" | "cut off" | "killed";
  /** Statements that contain this text fail; null for none. */
  failingStatement: string | null;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** A store whose statements can be awaited. */
function trackStatements(database: Database, clock: FakeClock) {
  const pending = new Set<Promise<unknown>>();
  const track = <Value>(promise: Promise<Value>): Promise<Value> => {
    pending.add(promise);
    const remove = () => pending.delete(promise);
    promise.then(remove, remove);
    return promise;
  };
  const tracked: Database = {
    query: (...parameters) => track(database.query(...parameters)),
    transaction: (run) => track(database.transaction(run)),
    close: async () => {},
  };
  const waitForStore = async () => {
    do {
      await clock.settle();
      await Promise.allSettled([...pending]);
      await clock.settle();
    } while (pending.size > 0);
  };
  return { tracked, waitForStore };
}

/**
 * Dispatchers, the service and the event log on a real store and a fake clock. Statements take no time of the clock: it
 * advances only when all of them have ended. Leases expire when the test says so.
 */
export async function openWorld(database: Database, retryDelaysMs: readonly number[], log: Log = quietLog) {
  const state = { answer: (_request: WebhookRequest, _node: WorldNode): Promise<WebhookAnswer> => never() };
  const clock = new FakeClock();
  const { tracked, waitForStore } = trackStatements(database, clock);
  const bus = createInProcessBus(quietLog);
  const eventLog = createEventLog({ database: tracked, bus });
  let ids = 0;
  const random: Random = {
    uniform: () => 0,
    bytes(length) {
      ids += 1;
      return new Uint8Array(length).map((_, index) => Math.floor(ids / 32 ** index) % 32);
    },
  };
  const service = createWebhookService({
    database: tracked,
    bus,
    clock,
    random,
    seal: fakeSeal,
    out: { post: never },
    checkUrl: (url) => ({ kind: "valid", url }),
  });
  await database.query(
    `insert into customers (customer_id, plan, status, created_at) values ($1, 'pro', 'active', now())
     on conflict do nothing`,
    [CUSTOMER_ID],
  );
  const nodes: WorldNode[] = [];

  const world = {
    state,
    clock,
    service,
    eventLog,
    nodes,
    customerId: CUSTOMER_ID,
    /** Advances the clock from timer to timer. */
    async advance(byMs: number): Promise<void> {
      const until = clock.monotonic() + byMs;
      for (;;) {
        await waitForStore();
        const nextInMs = clock.nextInMs;
        if (nextInMs === null || clock.monotonic() + nextInMs > until) break;
        await clock.advance(nextInMs);
      }
      await clock.advance(until - clock.monotonic());
    },
    /** Advances the clock until the promise resolves. */
    async until<Value>(promise: Promise<Value>): Promise<Value> {
      let isSettled = false;
      promise.then(
        () => (isSettled = true),
        () => (isSettled = true),
      );
      for (;;) {
        await waitForStore();
        if (isSettled) return promise;
        await clock.advance(clock.nextInMs ?? 1);
      }
    },
    register: (url: string, events: readonly EventType[]) =>
      world.until(service.register(CUSTOMER_ID, { url, events: [...events], secret: "a secret" })),
    /** Appends events, and returns the id of the last one. */
    async append(types: readonly EventType[]): Promise<number> {
      const before = await eventLog.latestId();
      const events = types.map((type, index) => ({
        type,
        key: `w${before + index}`,
        occurredAt: clock.now(),
        venue: "alpha",
        marketId: "m",
        payload: {},
      }));
      await tracked.transaction((transaction) => appendEvents(transaction, events));
      eventLog.announce();
      return before + types.length;
    },
    startNode(initialState: WorldNode["state"] = "running"): WorldNode {
      const nodeId = `node-${nodes.length}`;
      const query: Database["query"] = (...parameters) => {
        if (node.state === "killed") return never();
        const isFailing = node.failingStatement !== null && parameters[0].includes(node.failingStatement);
        if (node.state === "cut off" || isFailing) return Promise.reject(new AppError("store_unavailable", "down"));
        // A statement that was sent before the node was killed is executed, but its result is discarded.
        return tracked.query<never>(...parameters).then((rows) => (node.state === "killed" ? never() : rows));
      };
      const nodeDatabase: Database = { ...tracked, query };
      const dispatcher = new Dispatcher({
        clock,
        random,
        bus,
        nodeId,
        retryDelaysMs,
        database: nodeDatabase,
        log,
        seal: fakeSeal,
        eventLog: createEventLog({ database: nodeDatabase, bus }),
        out: {
          async post(request) {
            if (node.state === "killed") return never();
            request.onStart?.();
            const startedAt = clock.now();
            const startedMonotonic = clock.monotonic();
            const answered = await state.answer(request, node);
            if ((node.state as WorldNode["state"]) === "killed") return never();
            return toAttempt(answered, { startedAt, durationMs: clock.monotonic() - startedMonotonic });
          },
        },
      });
      const node: WorldNode = { nodeId, dispatcher, state: initialState, failingStatement: null };
      nodes.push(node);
      dispatcher.start();
      return node;
    },
    /** Lets the lease of a node expire. */
    async expire({ nodeId }: WorldNode): Promise<void> {
      await database.query("update webhook_nodes set expires_at = now() - interval '1 s' where node_id = $1", [nodeId]);
    },
    /** Stops all nodes and deletes what they have stored. */
    async close(): Promise<void> {
      for (const node of nodes) if (node.state === "cut off") node.state = "running";
      await world.until(Promise.all(nodes.map(({ dispatcher }) => dispatcher.stop())));
      await waitForStore();
      await database.query("truncate webhooks, webhook_deliveries, webhook_nodes");
    },
  };
  return world;
}
