import { DeliveryWorker, type DeliveryWorkerPorts } from "../../../src/capabilities/events/webhooks/delivery-worker.ts";
import type { DeliveryTarget } from "../../../src/capabilities/events/webhooks/model.ts";
import type { DeliveryState, WebhookState } from "../../../src/capabilities/events/webhooks/node-queries.ts";
import { RecentEvents, toRecentEvent } from "../../../src/capabilities/events/webhooks/recent-events.ts";
import { createResultWriter } from "../../../src/capabilities/events/webhooks/result-writer.ts";
import { OWNERSHIP_CHECK_MS } from "../../../src/domain/webhook-limits.ts";
import type { EventType, LoggedEvent } from "../../../src/event-log/index.ts";
import { FairSemaphore } from "../../../src/lib/fair-semaphore.ts";
import type { WebhookAnswer, WebhookRequest } from "../../../src/ports/webhook-out.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietLog } from "../quiet-log.ts";
import { fakeSeal, ok, toAttempt } from "./fake-webhook-ports.ts";

const WEBHOOK_ID = "wh-1";

/** A request that a worker has sent, with the function that answers it. */
interface Sent {
  readonly id: string;
  readonly request: WebhookRequest;
  /** Monotonic time of the fake clock. */
  readonly at: number;
  /** @param durationMs  by default the time since the request was sent */
  answer(answer?: WebhookAnswer, durationMs?: number): void;
}

export interface DeliveryWorkerHarnessOptions {
  readonly target?: Partial<DeliveryTarget>;
  readonly slots?: Partial<DeliveryWorkerPorts["slots"]>;
  readonly retryDelaysMs?: readonly number[];
}

/** One delivery worker on a fake clock, with a log and a store in memory. The test answers its requests. */
export function openWorker(options: DeliveryWorkerHarnessOptions = {}) {
  const clock = new FakeClock();
  const logged: LoggedEvent[] = [];
  const recent = new RecentEvents();
  const sent: Sent[] = [];
  const state = {
    /** Answers requests at once if set. */
    respond: null as ((request: WebhookRequest) => WebhookAnswer) | null,
    /** Whether the connector keeps requests waiting, so that `onStart` is not called. */
    holdsStarts: false,
    ownership: { revision: 0 } as { revision: number } | null,
    /** Statements of the kinds in it fail. */
    failing: new Set<"ownership" | "events" | "retries" | "results">(),
    beforeOwnershipCheck: async () => {},
    beforeResults: async () => {},
    counts: { delivered: 0, failed: 0, postponed: 0 },
    /** Reads of each kind, and the most retries that one of them returned. */
    reads: { events: 0, retries: 0, ownershipChecks: 0, retriesMax: 0 },
  };
  const failIf = (kind: "ownership" | "events" | "retries" | "results") => {
    if (state.failing.has(kind)) throw new Error("down");
  };
  const stored = { position: 0, state: null as WebhookState | null, deliveries: new Map<number, DeliveryState>() };
  const results = createResultWriter({
    clock,
    log: quietLog,
    async write(states, deliveries) {
      await state.beforeResults();
      failIf("results");
      for (const each of states) {
        stored.position = Math.max(stored.position, each.position);
        stored.state = each;
      }
      for (const delivery of deliveries) stored.deliveries.set(delivery.eventId, delivery);
    },
  });
  const ports: DeliveryWorkerPorts = {
    clock,
    recent,
    results,
    log: quietLog,
    seal: fakeSeal,
    random: { uniform: () => 0, bytes: (length) => new Uint8Array(length) },
    retryDelaysMs: options.retryDelaysMs ?? [5_000],
    slots: {
      healthy: new FairSemaphore({ slots: 256 }),
      slow: new FairSemaphore({ slots: 256 }),
      late: new FairSemaphore({ slots: 256 }),
      failing: new FairSemaphore({ slots: 256 }),
      reads: new FairSemaphore({ slots: 4 }),
      ...options.slots,
    },
    count: (result) => {
      state.counts[result] += 1;
    },
    out: {
      post(request) {
        if (!state.holdsStarts) request.onStart?.();
        if (state.respond !== null) {
          sent.push({ id: String(request.headers["webhook-id"]), request, at: clock.monotonic(), answer() {} });
          return Promise.resolve(toAttempt(state.respond(request), { startedAt: clock.now(), durationMs: 0 }));
        }
        const at = clock.monotonic();
        return new Promise((resolve) => {
          const answer: Sent["answer"] = (answered = ok(), durationMs = clock.monotonic() - at) =>
            resolve(toAttempt(answered, { startedAt: clock.now() - durationMs, durationMs }));
          sent.push({ id: String(request.headers["webhook-id"]), request, at: clock.monotonic(), answer });
        });
      },
    },
    ownershipChecks: {
      async request() {
        state.reads.ownershipChecks += 1;
        const until = clock.monotonic() + OWNERSHIP_CHECK_MS;
        await state.beforeOwnershipCheck();
        failIf("ownership");
        return state.ownership === null ? null : { ...state.ownership, until };
      },
    },
    eventLog: {
      async readAfter(after, { limit, filter }) {
        state.reads.events += 1;
        failIf("events");
        const events = logged.filter(({ id, type }) => id > after && filter?.types?.includes(type)).slice(0, limit);
        const latestId = logged.length;
        return {
          events,
          through: events.length === limit ? (events.at(-1)?.id ?? 0) : latestId,
          hasGap: false,
          latestId,
        };
      },
    },
    async readRetries(_webhookId, { now, limit }) {
      state.reads.retries += 1;
      failIf("retries");
      const waiting = [...stored.deliveries.values()]
        .filter(({ nextAttemptAt }) => nextAttemptAt !== null)
        .sort((a, b) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0))
        .slice(0, limit);
      const due = waiting.filter(({ nextAttemptAt }) => (nextAttemptAt ?? 0) <= now);
      state.reads.retriesMax = Math.max(state.reads.retriesMax, due.length);
      return { due, nextAt: waiting[due.length]?.nextAttemptAt ?? null };
    },
  };
  const target: DeliveryTarget = {
    webhookId: WEBHOOK_ID,
    customerId: "cus-1",
    url: "https://example.org/",
    events: ["price_shift"],
    sealedSecret: fakeSeal.seal("a secret", WEBHOOK_ID),
    sealedPreviousSecret: null,
    previousSecretUntil: null,
    revision: 0,
    streak: { count: 0, since: null, lastAt: null },
    position: 0,
    ...options.target,
  };
  return {
    clock,
    state,
    stored,
    sent,
    recent,
    /** Ids of the requests in the order in which they were sent. */
    ids: () => sent.map(({ id }) => id),
    open: () => new DeliveryWorker(ports, target),
    /** Adds events to the log, and to memory unless `isOld`. */
    append(count: number, { type = "price_shift" as EventType, isOld = false } = {}): void {
      const events = Array.from({ length: count }, (_, index) => ({
        id: logged.length + index + 1,
        type,
        occurredAt: 0,
        venue: "alpha",
        marketId: "m",
        payload: {},
      }));
      logged.push(...events);
      if (isOld) recent.reset(logged.length);
      else recent.add(events.map(toRecentEvent), logged.length);
    },
  };
}

/** Opens a worker with `count` events in memory. */
export async function openWith(count: number, options: DeliveryWorkerHarnessOptions = {}) {
  const harness = openWorker(options);
  harness.append(count);
  const worker = harness.open();
  await harness.clock.settle();
  return { ...harness, worker };
}
