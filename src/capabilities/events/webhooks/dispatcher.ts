import {
  CONCURRENT_READS_MAX,
  DELIVERY_RETENTION_DAYS,
  FAILING_ATTEMPTS_MAX,
  HEALTHY_ATTEMPTS_MAX,
  LATE_ATTEMPTS_MAX,
  RETRY_DELAYS_MS,
  SLOW_ATTEMPTS_MAX,
} from "../../../domain/webhook-limits.ts";
import { type EventLog, followEvents } from "../../../event-log/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { FairSemaphore } from "../../../lib/fair-semaphore.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { Bus } from "../../../ports/bus.ts";
import type { Database } from "../../../ports/database.ts";
import { type DeliveryPorts, DeliveryWorker, type DeliveryWorkerPorts } from "./delivery-worker.ts";
import { type DeliveryTarget, WEBHOOKS_TOPIC } from "./model.ts";
import {
  claimWebhooks,
  countWaiting,
  deleteNode,
  deleteOldDeliveries,
  releaseWebhooks,
  renewNode,
  selectDeliverable,
  selectRetries,
  selectShare,
  writeResults,
} from "./node-queries.ts";
import { createOwnershipChecks } from "./ownership-checks.ts";
import { RecentEvents, toRecentEvent } from "./recent-events.ts";
import { createResultWriter, type ResultWriter } from "./result-writer.ts";

/** Time after which other nodes take over the webhooks of a killed node. */
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;
const WAITING_COUNT_MS = 30_000;
const shareOf = (slots: number) => ({ slots, perKey: Math.ceil(slots / 2) });
const FOLLOW_BATCH = 200;
/** Time after which a failed task runs again. */
const TASK_RETRY_MS = 1_000;
/** Maximum time for running attempts at shutdown. Another node repeats attempts that have not ended. */
const STOP_MS_MAX = 2_000;

export interface DispatcherOptions extends DeliveryPorts {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "readAfter" | "latestId">;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  /** Unique per start of a process. */
  readonly nodeId: string;
  /** Delays before the retries; `RETRY_DELAYS_MS` by default. */
  readonly retryDelaysMs?: readonly number[];
}

export interface WebhookFigures {
  /** Attempts of this process by result. `postponed`: the connector could not send the message. */
  readonly attempts: { readonly delivered: number; readonly failed: number; readonly postponed: number };
  /** Webhooks that this process delivers. */
  readonly webhooks: number;
  /** Number of deliveries that wait for a retry, counted at most a minute ago; null before the first count. */
  readonly waiting: number | null;
}

/** Delivers the events of the log to the webhooks that this node holds. Every live node holds an equal share. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #recent = new RecentEvents();
  readonly #workers = new Map<string, DeliveryWorker>();
  readonly #attempts = { delivered: 0, failed: 0, postponed: 0 };
  readonly #results: ResultWriter;
  readonly #workerPorts: DeliveryWorkerPorts;
  readonly #follower: PeriodicJob;
  readonly #renewal: PeriodicJob;
  readonly #jobs: readonly PeriodicJob[];
  /** Webhooks whose secret cannot be decrypted. Every renewal claims them, but only the first failure is logged. */
  readonly #unreadable = new Set<string>();
  #waiting: number | null = null;
  #unsubscribe: () => void = () => {};

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { database, clock, log, nodeId } = options;
    this.#results = createResultWriter({
      clock,
      log,
      write: (states, deliveries) => writeResults(database, nodeId, states, deliveries),
    });
    this.#workerPorts = {
      ...options,
      recent: this.#recent,
      results: this.#results,
      ownershipChecks: createOwnershipChecks({ clock, read: (ids) => selectDeliverable(database, nodeId, ids) }),
      slots: {
        healthy: new FairSemaphore(shareOf(HEALTHY_ATTEMPTS_MAX)),
        slow: new FairSemaphore(shareOf(SLOW_ATTEMPTS_MAX)),
        late: new FairSemaphore(shareOf(LATE_ATTEMPTS_MAX)),
        failing: new FairSemaphore(shareOf(FAILING_ATTEMPTS_MAX)),
        reads: new FairSemaphore({ slots: CONCURRENT_READS_MAX }),
      },
      retryDelaysMs: options.retryDelaysMs ?? RETRY_DELAYS_MS,
      readRetries: (webhookId, page) => selectRetries(database, webhookId, page),
      count: (result) => {
        this.#attempts[result] += 1;
      },
    };
    this.#follower = this.#createJob("follow", TASK_RETRY_MS, (signal) => this.#follow(signal));
    this.#renewal = this.#createJob("renew", RENEW_MS, () => this.#renew());
    this.#jobs = [
      this.#follower,
      this.#renewal,
      this.#createJob("clean", HOUR_MS, () => this.#clean()),
      this.#createJob("count", WAITING_COUNT_MS, () => this.#countWaiting()),
    ];
  }

  get figures(): WebhookFigures {
    return { attempts: { ...this.#attempts }, webhooks: this.#workers.size, waiting: this.#waiting };
  }

  /** Names of the tasks whose last run failed. */
  get failingJobs(): readonly string[] {
    return this.#jobs.some(({ hasFailed }) => hasFailed) || this.#results.isFailing ? ["webhooks"] : [];
  }

  start(): void {
    this.#unsubscribe = this.#options.bus.subscribe(WEBHOOKS_TOPIC, () => this.#renewal.wake());
    for (const job of this.#jobs) job.start();
  }

  /** Waits for the running attempts, writes their results, and releases the webhooks to the other nodes. */
  async stop(): Promise<void> {
    const { clock } = this.#options;
    this.#unsubscribe();
    const deadline = new AbortController();
    const release = Promise.all(this.#jobs.map((job) => job.stop()))
      .then(() => this.#releaseAll())
      .catch(() => {});
    await Promise.race([
      release.finally(() => deadline.abort()),
      clock.sleep(STOP_MS_MAX, deadline.signal).catch(() => {}),
    ]);
  }

  async #releaseAll(): Promise<void> {
    const { database, bus, nodeId } = this.#options;
    const workers = [...this.#workers.values()];
    for (const worker of workers) worker.end();
    await Promise.all(workers.map(({ ended }) => ended));
    await this.#results.flushed();
    await deleteNode(database, nodeId);
    bus.publish(WEBHOOKS_TOPIC);
  }

  /** Creates a job that logs the first of consecutive failures. */
  #createJob(name: string, pauseMs: number, run: (signal: AbortSignal) => Promise<void>): PeriodicJob {
    const { clock, log } = this.#options;
    return new PeriodicJob({
      clock,
      intervalMs: (failures) => (failures === 0 ? pauseMs : TASK_RETRY_MS),
      run,
      onFailure(err, failures) {
        if (failures === 1) log.warn({ err, task: name }, "webhooks could not be processed");
      },
    });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { bus, clock, eventLog } = this.#options;
    const after = await eventLog.latestId();
    // The workers read earlier events from the log.
    this.#recent.reset(after);
    // This task does not return while it succeeds.
    this.#follower.reportSuccess();
    const options = { log: eventLog, bus, clock, after, batchMax: FOLLOW_BATCH, signal };
    for await (const { events, through, hasGap } of followEvents(options)) {
      if (hasGap) this.#recent.reset(through);
      else this.#recent.add(events.map(toRecentEvent), through);
      for (const worker of this.#workers.values()) worker.wake();
    }
  }

  async #renew(): Promise<void> {
    const { database, nodeId } = this.#options;
    await renewNode(database, nodeId, LEASE_MS);
    await this.#endOutdated();
    const held = [...this.#workers.keys()];
    const claimed = await claimWebhooks(database, nodeId, held, this.#activeWorkers().length);
    for (const target of claimed) this.#open(target);
    const active = this.#activeWorkers();
    const surplus = active.length - (await selectShare(database));
    for (const worker of active.slice(0, Math.max(0, surplus))) worker.end();
  }

  /**
   * Returns the workers that count towards the share of the node. An ending worker does not count, because it may wait
   * seconds for a response.
   */
  #activeWorkers = (): DeliveryWorker[] => [...this.#workers.values()].filter(({ isEnding }) => !isEnding);

  /**
   * Ends outdated workers. Without events of its types, a worker does not detect that its webhook was changed, deleted
   * or disabled.
   */
  async #endOutdated(): Promise<void> {
    const { database, nodeId } = this.#options;
    const revisions = await selectDeliverable(database, nodeId, [...this.#workers.keys()]);
    for (const [webhookId, worker] of this.#workers) if (revisions.get(webhookId) !== worker.revision) worker.end();
  }

  #open(target: DeliveryTarget): void {
    const { log } = this.#options;
    const { webhookId } = target;
    try {
      const worker = new DeliveryWorker(this.#workerPorts, target);
      this.#workers.set(webhookId, worker);
      void worker.ended.then(() => this.#release(webhookId));
    } catch (err) {
      if (!this.#unreadable.has(webhookId))
        log.error(
          { err, webhook_id: webhookId },
          "the secret of a webhook cannot be opened; nothing is delivered to it",
        );
      this.#unreadable.add(webhookId);
    }
  }

  /** Releases a webhook, so that any node can claim it. If the release fails, this node claims the webhook again. */
  async #release(webhookId: string): Promise<void> {
    const { database, nodeId, bus, log } = this.#options;
    try {
      await this.#results.flushed();
      await releaseWebhooks(database, nodeId, [webhookId]);
    } catch (err) {
      log.warn({ err, webhook_id: webhookId }, "a webhook could not be released");
    }
    this.#workers.delete(webhookId);
    bus.publish(WEBHOOKS_TOPIC);
  }

  async #clean(): Promise<void> {
    const { database, clock } = this.#options;
    await deleteOldDeliveries(database, clock.now() - DELIVERY_RETENTION_DAYS * 24 * HOUR_MS);
  }

  async #countWaiting(): Promise<void> {
    this.#waiting = await countWaiting(this.#options.database, this.#options.nodeId);
  }
}
