import {
  ATTEMPT_MS_MAX,
  CONCURRENT_ATTEMPTS_MAX,
  CONCURRENT_RETRIES_MAX,
  EVENTS_IN_FLIGHT_MAX,
  NEXT_EVENT_AFTER_MS,
  SLOW_ATTEMPT_MS,
  UNWRITTEN_RESULTS_MAX,
} from "../../../domain/webhook-limits.ts";
import type { EventLog } from "../../../event-log/index.ts";
import { AsyncEvent } from "../../../lib/async-event.ts";
import { FairSemaphore, type Release } from "../../../lib/fair-semaphore.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { SecretBox } from "../../../ports/secret-box.ts";
import type {
  ReceiverHealth,
  WebhookAnswer,
  WebhookAttempt,
  WebhookOut,
  WebhookRequest,
} from "../../../ports/webhook-out.ts";
import { LogPosition } from "./log-position.ts";
import type { DeliveryMessage, DeliveryTarget, FailureStreak } from "./model.ts";
import { classifyAttempt, isDelivered } from "./outcome.ts";
import type { OwnershipCheck, OwnershipChecks } from "./ownership-checks.ts";
import { ReceiverLatency } from "./receiver-latency.ts";
import { type RecentEvent, type RecentEvents, toRecentEvent } from "./recent-events.ts";
import type { ResultWriter } from "./result-writer.ts";
import { openSecrets, type SigningSecrets, signDelivery } from "./signature.ts";

const RETRIES_PER_READ = 50;
/** Minimum time between sending all due retries and the next read. Retries due meanwhile are read together. */
const RETRIES_PAUSE_MS = 200;
const EVENTS_PER_READ = 64;
const STORE_RETRY_MS = 1_000;
/**
 * Mean delay before a message that this node could not send is tried again. Each delay is 0.5 to 1.5 times as long, at
 * random, so that the workers do not always retry in the same order.
 */
const UNAVAILABLE_RETRY_MS = 500;

/** Result of an attempt to send a message. Only `attempted` messages were sent. */
type AttemptResult = "attempted" | "not_owned" | "paused" | "unavailable";

/** Dependencies that the dispatcher passes to its workers. */
export interface DeliveryPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly out: Pick<WebhookOut, "post">;
  readonly seal: Pick<SecretBox, "open">;
  readonly eventLog: Pick<EventLog, "readAfter">;
}

export interface DeliveryWorkerPorts extends DeliveryPorts {
  readonly recent: RecentEvents;
  readonly ownershipChecks: Pick<OwnershipChecks, "request">;
  readonly results: Pick<ResultWriter, "add" | "advance" | "flushed" | "size">;
  /**
   * Attempts to failing and to slow receivers have their own slots, so that they do not delay healthy receivers. After
   * a second, an attempt to a healthy receiver moves to a `late` slot if one is free. Slots are shared fairly between
   * customers.
   */
  readonly slots: {
    readonly healthy: FairSemaphore;
    readonly slow: FairSemaphore;
    readonly late: FairSemaphore;
    readonly failing: FairSemaphore;
    readonly reads: FairSemaphore;
  };
  readonly retryDelaysMs: readonly number[];
  readonly readRetries: (
    webhookId: string,
    page: { readonly now: number; readonly limit: number },
  ) => Promise<{ readonly due: readonly DeliveryMessage[]; readonly nextAt: number | null }>;
  readonly count: (result: "delivered" | "failed" | "postponed") => void;
}

/**
 * Delivers events to one webhook. Each event is attempted once, in the order of the log. Failed deliveries are stored
 * and retried concurrently. The worker ends when it is stopped, when the webhook is changed, deleted or disabled, or
 * when another node has taken over the webhook. After a change, the dispatcher opens a new worker.
 */
export class DeliveryWorker {
  readonly #ports: DeliveryWorkerPorts;
  readonly #target: DeliveryTarget;
  readonly #secrets: SigningSecrets;
  readonly #position: LogPosition;
  readonly #latency = new ReceiverLatency();
  #streak: FailureStreak;
  #ownership: OwnershipCheck | null = null;
  #pausedUntil = 0;
  #nextRetryAt: number | null = 0;
  /** Monotonic time. */
  #retriesReadableAt = 0;
  #isEnding = false;
  readonly #running = new Set<Promise<void>>();
  readonly #slots = new FairSemaphore({ slots: CONCURRENT_ATTEMPTS_MAX });
  #firstAttempts = 0;
  #isPreviousSent = false;
  /** Monotonic time at which the last first attempt was sent. */
  #sentAt = 0;
  readonly #turn = new AsyncEvent();
  readonly #events = new AsyncEvent();
  readonly #retries = new AsyncEvent();
  /** Resolves when no attempt is running and no further attempt will begin. */
  readonly ended: Promise<void>;

  constructor(ports: DeliveryWorkerPorts, target: DeliveryTarget) {
    this.#ports = ports;
    this.#target = target;
    this.#secrets = openSecrets(this.#ports.seal, target.webhookId, target);
    this.#position = new LogPosition(target.position);
    this.#streak = target.streak;
    this.ended = Promise.all([
      this.#repeat(this.#events, () => this.#sendNext()),
      this.#repeat(this.#retries, () => this.#sendRetries()),
    ]).then(async () => {
      await Promise.all(this.#running);
    });
  }

  /** Revision of the webhook to which this worker delivers. */
  get revision(): number {
    return this.#target.revision;
  }

  /** Whether no further attempt will begin. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Must be called when new events are in memory. */
  wake(): void {
    this.#events.set();
  }

  /** Ends without beginning another attempt. */
  end(): void {
    this.#isEnding = true;
    this.#turn.set();
    this.#events.set();
    this.#retries.set();
  }

  /** Runs steps until the end. A step returns the milliseconds to wait, or null to wait for a wake-up. */
  async #repeat(wakeUp: AsyncEvent, step: () => Promise<number | null>): Promise<void> {
    const { clock, log } = this.#ports;
    while (!this.#isEnding) {
      let waitMs: number | null = STORE_RETRY_MS;
      try {
        waitMs = await step();
      } catch (err) {
        log.warn({ err, webhook_id: this.#target.webhookId }, "events could not be read for a webhook");
      }
      if (this.#isEnding) break;
      if (waitMs !== 0) await wakeUp.wait(clock, waitMs);
    }
  }

  async #sendNext(): Promise<number | null> {
    const { clock, results } = this.#ports;
    const pauseMs = this.#pausedUntil - clock.now();
    if (pauseMs > 0) return pauseMs;
    if (results.size > UNWRITTEN_RESULTS_MAX) await results.flushed();
    const { events, through, isComplete } = await this.#readEvents();
    for (const event of events) {
      await this.#waitForTurn();
      if (this.#isEnding || this.#pausedUntil > clock.now()) return 0;
      this.#start(event);
    }
    // All other events up to `through` have types that the webhook does not receive, unless it was changed meanwhile.
    if (through > this.#position.read && !(await this.#isOwned())) return 0;
    this.#position.skipTo(through);
    this.#settle();
    return isComplete ? null : 0;
  }

  /** Waits until the next event may be sent. After a failure, the order is not preserved. */
  async #waitForTurn(): Promise<void> {
    const { clock } = this.#ports;
    while (!this.#isEnding) {
      let waitMs: number | null = null;
      if (this.#firstAttempts < CONCURRENT_ATTEMPTS_MAX && this.#position.unsettled < EVENTS_IN_FLIGHT_MAX) {
        if (this.#firstAttempts === 0 || this.#streak.count > 0) return;
        // The previous event may still wait for a slot or its ownership check.
        const overlapAfterMs = this.#latency.isUnknown ? SLOW_ATTEMPT_MS : NEXT_EVENT_AFTER_MS;
        if (this.#isPreviousSent) waitMs = this.#sentAt + overlapAfterMs - clock.monotonic();
        if (waitMs !== null && waitMs <= 0) return;
      }
      await this.#turn.wait(clock, waitMs);
    }
  }

  #start(event: RecentEvent): void {
    const entry = this.#position.start(event.id);
    this.#firstAttempts += 1;
    this.#isPreviousSent = false;
    const setSent = (isSent: boolean) => {
      // Ignored if a later event has been started.
      if (!this.#position.isLast(entry)) return;
      this.#isPreviousSent = isSent;
      this.#sentAt = this.#ports.clock.monotonic();
      this.#turn.set();
    };
    const running = this.#attempt(toMessage(event), setSent).then((isDone) => {
      entry.isDone = isDone;
      this.#running.delete(running);
      this.#firstAttempts -= 1;
      this.#settle();
      this.#turn.set();
    });
    this.#running.add(running);
  }

  /** Stores the position before the first unfinished event. */
  #settle(): void {
    const through = this.#position.takeUnsaved();
    if (through !== null) this.#ports.results.advance(this.#target.webhookId, through, this.#target.revision);
  }

  /** Reads the next events from memory, or from the log if the webhook's position is before the events in memory. */
  async #readEvents(): Promise<{
    readonly events: readonly RecentEvent[];
    readonly through: number;
    readonly isComplete: boolean;
  }> {
    const { recent, eventLog, slots } = this.#ports;
    const { events: types } = this.#target;
    if (this.#position.read >= recent.floor) {
      const found = recent.find(this.#position.read, types, EVENTS_PER_READ);
      return { ...found, isComplete: found.through >= recent.through };
    }
    const page = await slots.reads.run(this.#target.customerId, () =>
      eventLog.readAfter(this.#position.read, { limit: EVENTS_PER_READ, filter: { types } }),
    );
    return { events: page.events.map(toRecentEvent), through: page.through, isComplete: false };
  }

  async #sendRetries(): Promise<number | null> {
    const { clock, results, slots, readRetries } = this.#ports;
    const pauseMs = this.#retriesReadableAt - clock.monotonic();
    const dueInMs = Math.max(this.#nextRetryAt ?? 0, this.#pausedUntil) - clock.now();
    const waitMs = this.#nextRetryAt === null ? null : Math.max(pauseMs, dueInMs);
    if (waitMs === null || waitMs > 0) return waitMs;
    // Reset before the read, because the page may not contain a retry that is scheduled from here on.
    this.#nextRetryAt = null;
    // Otherwise a retry whose result is not written would be read again.
    await results.flushed();
    const { webhookId } = this.#target;
    const page = await slots.reads
      .run(this.#target.customerId, () => readRetries(webhookId, { now: clock.now(), limit: RETRIES_PER_READ }))
      .catch((error: unknown) => {
        this.#nextRetryAt = clock.now();
        throw error;
      });
    const queue = [...page.due];
    const sendQueue = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await this.#attempt(next);
    };
    await Promise.all(Array.from({ length: CONCURRENT_RETRIES_MAX }, sendQueue));
    if (page.due.length < RETRIES_PER_READ) this.#retriesReadableAt = clock.monotonic() + RETRIES_PAUSE_MS;
    this.#planRetry(page.due.length > 0 ? clock.now() : page.nextAt);
    return 0;
  }

  #planRetry(at: number | null): void {
    if (at === null || (this.#nextRetryAt !== null && this.#nextRetryAt <= at)) return;
    this.#nextRetryAt = at;
    this.#retries.set();
  }

  /** Returns false if the message was not sent, because this worker ends or the receiver requested a delay. */
  #attempt(message: DeliveryMessage, setSent: (isSent: boolean) => void = () => {}): Promise<boolean> {
    return this.#slots.run("", () => this.#sendWhenAvailable(message, setSent));
  }

  async #sendWhenAvailable(message: DeliveryMessage, setSent: (isSent: boolean) => void): Promise<boolean> {
    const { clock, random, count } = this.#ports;
    for (;;) {
      const result = await this.#sendInSlot(message, setSent);
      if (result === "paused") {
        // Sleeps in steps, so that an ending worker does not wait for the whole delay.
        await clock.sleep(Math.min(UNAVAILABLE_RETRY_MS, Math.max(0, this.#pausedUntil - clock.now())));
        continue;
      }
      if (result !== "unavailable") return result === "attempted";
      // The receiver did not cause this failure, so it does not count as an attempt. Other workers can use the slot
      // meanwhile.
      setSent(false);
      count("postponed");
      await clock.sleep(UNAVAILABLE_RETRY_MS * (0.5 + random.uniform()));
    }
  }

  get #health(): ReceiverHealth {
    if (this.#streak.count > 0) return "failing";
    return this.#latency.isSlow ? "slow" : "healthy";
  }

  /** Sends a message in a slot. After a second, an attempt to a healthy receiver moves to a free late slot. */
  async #sendInSlot(message: DeliveryMessage, setSent: (isSent: boolean) => void): Promise<AttemptResult> {
    const { clock, slots } = this.#ports;
    const { customerId } = this.#target;
    const health = this.#health;
    let release: Release = await slots[health].acquire(customerId);
    let endLate = () => {};
    const moveToLateSlot = () => {
      endLate = this.#latency.countLate();
      const late = slots.late.tryAcquire(customerId);
      if (late === null) return;
      release();
      release = late;
    };
    let cancelMove = () => {};
    const onStart = () => {
      setSent(true);
      if (health === "healthy") cancelMove = clock.setTimeout(moveToLateSlot, SLOW_ATTEMPT_MS);
    };
    try {
      return await this.#send(message, { health, onStart });
    } finally {
      cancelMove();
      endLate();
      release();
    }
  }

  async #send(message: DeliveryMessage, options: Pick<WebhookRequest, "health" | "onStart">): Promise<AttemptResult> {
    const { clock } = this.#ports;
    // A Retry-After may have arrived during the read or the wait for a slot. The retry is read again after the delay.
    if (!this.#isEnding && clock.now() < this.#pausedUntil) return message.attempts > 0 ? "not_owned" : "paused";
    if (!(await this.#isOwned())) return "not_owned";
    const { answer, timing } = await this.#post(message, clock.now(), options);
    if (timing === null) return "unavailable";
    const { startedAt, durationMs } = timing;
    this.#latency.record(durationMs);
    this.#record(message, answer, { startedAt, endedAt: clock.now(), latencyMs: durationMs });
    return "attempted";
  }

  /** Returns whether the webhook is unchanged, so that an attempt may begin. Otherwise the worker ends. */
  async #isOwned(): Promise<boolean> {
    const { clock, ownershipChecks } = this.#ports;
    const { webhookId, revision } = this.#target;
    while (!this.#isEnding) {
      if (this.#ownership !== null && clock.monotonic() < this.#ownership.until) return true;
      try {
        this.#ownership = await ownershipChecks.request(webhookId);
        if (this.#ownership?.revision !== revision) this.end();
      } catch (err) {
        this.#ports.log.warn({ err, webhook_id: webhookId }, "a webhook could not be read");
        await clock.sleep(STORE_RETRY_MS);
      }
    }
    return false;
  }

  #post(
    { eventId, body }: DeliveryMessage,
    sentAt: number,
    options: Pick<WebhookRequest, "health" | "onStart">,
  ): Promise<WebhookAttempt> {
    const headers = signDelivery({ id: `evt_${eventId}`, sentAt, body }, this.#secrets);
    const { url, customerId } = this.#target;
    return this.#ports.out.post({ url, headers, body, deadlineMs: ATTEMPT_MS_MAX, customerId, ...options });
  }

  #record(message: DeliveryMessage, answer: WebhookAnswer, times: Parameters<typeof classifyAttempt>[2]): void {
    const { log, results, count } = this.#ports;
    const { webhookId, revision } = this.#target;
    const { delivery, streak, disables, pausedUntil } = classifyAttempt(
      message,
      answer,
      times,
      this.#streak,
      this.#ports,
    );
    this.#streak = streak;
    results.add({ ...delivery, webhookId, body: message.body }, { revision, streak, disables });
    count(isDelivered(answer) ? "delivered" : "failed");
    if (answer.kind === "failed") log.debug({ webhook_id: webhookId, failure: answer.failure }, "a delivery failed");
    if (pausedUntil !== null) this.#pausedUntil = Math.max(this.#pausedUntil, pausedUntil);
    this.#planRetry(delivery.nextAttemptAt);
    if (disables) {
      log.info({ webhook_id: webhookId }, "a webhook was disabled after failures");
      this.end();
    }
  }
}

const toMessage = ({ id, type, body }: RecentEvent): DeliveryMessage => ({
  eventId: id,
  eventType: type,
  body,
  attempts: 0,
  firstAttemptAt: null,
});
