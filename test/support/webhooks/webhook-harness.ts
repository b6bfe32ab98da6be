import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { createWebhookService, Dispatcher } from "../../../src/capabilities/events/webhooks/index.ts";
import { appendEvents, createEventLog, type EventType, type NewEvent } from "../../../src/event-log/index.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { WebhookOut } from "../../../src/ports/webhook-out.ts";
import { atFileEnd } from "../file-end.ts";
import { quietLog } from "../quiet-log.ts";
import { fakeSeal } from "./fake-webhook-ports.ts";

import { createLoopbackWebhookOut } from "./loopback-webhook-out.ts";

const CUSTOMER_ID = "cus-webhooks";
const WAIT_MS_MAX = 30_000;
const POLL_MS = 5;

/** Waits for a condition that depends on real sockets or the store. */
export async function waitFor(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${check}`);
    await systemClock.sleep(POLL_MS);
  }
}

export interface HarnessOptions {
  readonly clock?: Clock;
  readonly out?: WebhookOut;
  readonly retryDelaysMs?: readonly number[];
  readonly random?: typeof systemRandom;
}

/** Stops the dispatchers of the previous test, which would share the webhooks of this one. */
let endPrevious: () => Promise<void> = async () => {};

/** The webhooks of one customer on a store, with dispatchers that the test starts. */
export async function openWebhooks(database: Database, options: HarnessOptions = {}) {
  const { clock = systemClock, random = systemRandom, out = createLoopbackWebhookOut() } = options;
  await endPrevious();
  endPrevious = async () => {};
  const bus = createInProcessBus(quietLog);
  const eventLog = createEventLog({ database, bus });
  await database.query(
    `insert into customers (customer_id, email, plan, status, created_at)
     values ($1, 'w@example.org', 'pro', 'active', now()) on conflict do nothing`,
    [CUSTOMER_ID],
  );
  const service = createWebhookService({
    database,
    bus,
    clock,
    random,
    out,
    seal: fakeSeal,
    checkUrl: (url) => ({ kind: "valid", url }),
  });
  let eventCount = 0;
  let nodeCount = 0;
  const dispatchers = new Set<Dispatcher>();
  let isEnded = false;
  endPrevious = async () => {
    if (isEnded) return;
    isEnded = true;
    await out.close();
    await Promise.all([...dispatchers].map((dispatcher) => dispatcher.stop()));
    await database.query("delete from webhook_nodes");
  };
  atFileEnd(endPrevious);
  return {
    service,
    bus,
    eventLog,
    out,
    customerId: CUSTOMER_ID,
    register: (url: string, fields: { events?: EventType[]; secret?: string } = {}) =>
      service.register(CUSTOMER_ID, { url, events: ["price_shift"], ...fields }),
    /** Appends events of one transaction. */
    async append(count = 1, fields: Partial<NewEvent> = {}): Promise<void> {
      const events = Array.from({ length: count }, () => ({
        type: "price_shift" as const,
        key: `k${eventCount++}`,
        occurredAt: clock.now(),
        venue: "alpha",
        marketId: "m",
        payload: { title: "Rain?" },
        ...fields,
      }));
      await database.transaction((transaction) => appendEvents(transaction, events));
      eventLog.announce();
    },
    start(parts: Partial<ConstructorParameters<typeof Dispatcher>[0]> = {}): Dispatcher {
      const { retryDelaysMs } = options;
      const dispatcher = new Dispatcher({
        database,
        eventLog,
        bus,
        clock,
        random,
        log: quietLog,
        out,
        seal: fakeSeal,
        retryDelaysMs,
        nodeId: `node-${nodeCount++}`,
        ...parts,
      });
      dispatcher.start();
      dispatchers.add(dispatcher);
      return dispatcher;
    },
    async stop(dispatcher: Dispatcher): Promise<void> {
      await dispatcher.stop();
      dispatchers.delete(dispatcher);
    },
  };
}
