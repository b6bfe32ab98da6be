import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { FailureStreak } from "./model.ts";
import type { DeliveryState, WebhookState } from "./node-queries.ts";

/** Time for which results are collected, so that one statement writes many results. */
const COLLECT_MS = 20;
/** Minimum time between two statements, to limit the load on the store. */
const WRITE_INTERVAL_MS = 100;
const RETRY_MS = 1_000;

export type WriteResults = (states: readonly WebhookState[], deliveries: readonly DeliveryState[]) => Promise<void>;

interface Batch {
  readonly states: Map<string, WebhookState>;
  readonly deliveries: Map<string, DeliveryState>;
  readonly waiting: (() => void)[];
}

const createBatch = (): Batch => ({ states: new Map(), deliveries: new Map(), waiting: [] });

export type ResultWriter = ReturnType<typeof createResultWriter>;

/** Collects the results of attempts and writes them in batches. Failed batches are written again. */
export function createResultWriter({
  clock,
  log,
  write,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly write: WriteResults;
}) {
  let batch = createBatch();
  let isWriting = false;
  /** Monotonic time. */
  let writtenAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;

  const setState = (state: WebhookState): void => {
    const { states } = batch;
    states.set(state.webhookId, merge(states.get(state.webhookId), state));
    startWriting();
  };

  const startWriting = (): void => {
    if (isWriting) return;
    isWriting = true;
    void writeAll();
  };

  const writeAll = async (): Promise<void> => {
    let waitMs = Math.max(COLLECT_MS, writtenAt + WRITE_INTERVAL_MS - clock.monotonic());
    do {
      await pause(waitMs);
      const collected = batch;
      batch = createBatch();
      waitMs = (await writeBatch(collected)) ? WRITE_INTERVAL_MS : RETRY_MS;
      writtenAt = clock.monotonic();
    } while (batch.states.size > 0 || batch.waiting.length > 0);
    isWriting = false;
  };

  const writeBatch = async (collected: Batch): Promise<boolean> => {
    const { states, deliveries, waiting } = collected;
    try {
      if (states.size > 0) await write([...states.values()], [...deliveries.values()]);
      for (const resolve of waiting) resolve();
      isFailing = false;
      return true;
    } catch (err) {
      if (!isFailing) log.warn({ err }, "results of webhook deliveries could not be written");
      isFailing = true;
      restore(collected);
      return false;
    }
  };

  /** Puts a failed batch back. Newer results of the same delivery or webhook take precedence. */
  const restore = ({ states, deliveries, waiting }: Batch): void => {
    const newer = batch;
    for (const [id, state] of newer.states) states.set(id, merge(states.get(id), state));
    for (const [id, delivery] of newer.deliveries) deliveries.set(id, delivery);
    batch = { states, deliveries, waiting: [...waiting, ...newer.waiting] };
  };

  const pause = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(resolve, ms));

  return {
    /** Number of results that are not yet in a statement. */
    get size(): number {
      return batch.deliveries.size;
    },
    get isFailing(): boolean {
      return isFailing;
    },
    /** Queues the result of a delivery attempt and the resulting state of its webhook for the next batch. */
    add(delivery: DeliveryState, state: Omit<WebhookState, "webhookId" | "position">): void {
      const { webhookId } = delivery;
      batch.deliveries.set(`${webhookId} ${delivery.eventId}`, delivery);
      setState({ ...state, webhookId, position: 0 });
    },
    /** Stores that the events up to `position` were delivered or skipped. */
    advance(webhookId: string, position: number, revision: number): void {
      setState({ webhookId, revision, position, streak: null, disables: false });
    },
    /** Resolves when all results added so far are written. */
    async flushed(): Promise<void> {
      if (!isWriting) return;
      await new Promise<void>((resolve) => batch.waiting.push(resolve));
    },
  };
}

function merge(older: WebhookState | undefined, newer: WebhookState): WebhookState {
  const streak: FailureStreak | null = newer.streak ?? older?.streak ?? null;
  return {
    ...newer,
    streak,
    position: Math.max(newer.position, older?.position ?? 0),
    disables: newer.disables || older?.disables === true,
  };
}
