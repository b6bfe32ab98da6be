import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { FailureStreak } from "./model.ts";
import type { DeliveryState, WebhookState } from "./node-queries.ts";

/** Results are collected for this time, so that one statement writes many. */
const COLLECT_MS = 20;
/** Shortest time between two statements, so that results use little time of the store. */
const WRITE_INTERVAL_MS = 100;
const RETRY_MS = 1_000;

export type WriteResults = (states: readonly WebhookState[], deliveries: readonly DeliveryState[]) => Promise<void>;

interface Batch {
  readonly states: Map<string, WebhookState>;
  readonly deliveries: Map<string, DeliveryState>;
  readonly waiting: (() => void)[];
}

const createBatch = (): Batch => ({ states: new Map(), deliveries: new Map(), waiting: [] });

/** Collects the results of attempts and writes them in batches. Batches that could not be written are written again. */
export class ResultWriter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #write: WriteResults;
  #batch = createBatch();
  #isWriting = false;
  /** Monotonic time. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor({ clock, log, write }: { readonly clock: Clock; readonly log: Log; readonly write: WriteResults }) {
    this.#clock = clock;
    this.#log = log;
    this.#write = write;
  }

  /** Number of results that no statement contains yet. */
  get size(): number {
    return this.#batch.deliveries.size;
  }

  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Adds the result of an attempt. */
  add(delivery: DeliveryState, state: Omit<WebhookState, "webhookId" | "position">): void {
    const { webhookId } = delivery;
    this.#batch.deliveries.set(`${webhookId} ${delivery.eventId}`, delivery);
    this.#setState({ ...state, webhookId, position: 0 });
  }

  /** Stores that the events up to `position` were delivered or skipped. */
  advance(webhookId: string, position: number, revision: number): void {
    this.#setState({ webhookId, revision, position, streak: null, disables: false });
  }

  #setState(state: WebhookState): void {
    const { states } = this.#batch;
    states.set(state.webhookId, merge(states.get(state.webhookId), state));
    this.#run();
  }

  /** Resolves when all results that were added before are written. */
  async flushed(): Promise<void> {
    if (!this.#isWriting) return;
    await new Promise<void>((resolve) => this.#batch.waiting.push(resolve));
  }

  #run(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    let waitMs = Math.max(COLLECT_MS, this.#writtenAt + WRITE_INTERVAL_MS - this.#clock.monotonic());
    do {
      await this.#pause(waitMs);
      const batch = this.#batch;
      this.#batch = createBatch();
      waitMs = (await this.#writeBatch(batch)) ? WRITE_INTERVAL_MS : RETRY_MS;
      this.#writtenAt = this.#clock.monotonic();
    } while (this.#batch.states.size > 0 || this.#batch.waiting.length > 0);
    this.#isWriting = false;
  }

  async #writeBatch(batch: Batch): Promise<boolean> {
    try {
      if (batch.states.size > 0) await this.#write([...batch.states.values()], [...batch.deliveries.values()]);
      for (const resolve of batch.waiting) resolve();
      this.#isFailing = false;
      return true;
    } catch (err) {
      if (!this.#isFailing) this.#log.warn({ err }, "results of webhook deliveries could not be written");
      this.#isFailing = true;
      this.#restore(batch);
      return false;
    }
  }

  /** Newer results of the same delivery and webhook replace those that could not be written. */
  #restore({ states, deliveries, waiting }: Batch): void {
    const newer = this.#batch;
    for (const [id, state] of newer.states) states.set(id, merge(states.get(id), state));
    for (const [id, delivery] of newer.deliveries) deliveries.set(id, delivery);
    this.#batch = { states, deliveries, waiting: [...waiting, ...newer.waiting] };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.setTimeout(resolve, ms));
  }
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
