import { AppError, MailError } from "../../../domain/errors.ts";
import type { OutgoingMail } from "../../../ports/mail-out.ts";
import type { CustomerPorts, EmailDelivery } from "./model.ts";

const QUEUED_EMAILS_MAX = 1_000;
const CONCURRENT_SENDS_MAX = 4;
/** Delays between attempts. If the attempt after the last delay fails, the e-mail is discarded. */
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000];
/** Maximum time that `stop` waits for e-mails to be sent. */
const STOP_TIMEOUT_MS = 2_000;

interface QueuedMail {
  readonly mail: OutgoingMail;
  attempts: number;
  /** Cancels the pending retry; null if none is scheduled. */
  cancelWait: (() => void) | null;
}

/**
 * Sends e-mails with limited concurrency and at most six attempts each. They are stored only in memory, because the
 * tokens in their links must not be stored.
 */
export function createMailQueue(
  options: Omit<CustomerPorts, "database"> & EmailDelivery & { readonly queuedMax?: number },
) {
  const { mail, publicUrl, clock, random, log, queuedMax = QUEUED_EMAILS_MAX } = options;
  const queuedEmails = new Set<QueuedMail>();
  const readyEmails: QueuedMail[] = [];
  const activeSends = new Set<Promise<void>>();
  let reservedSlotCount = 0;
  let isStopping = false;

  const discard = (entry: QueuedMail, error: unknown) => {
    queuedEmails.delete(entry);
    log.error({ reason: describeFailure(error), attempts: entry.attempts }, "could not send an e-mail; giving up");
  };

  const scheduleRetry = (entry: QueuedMail, error: unknown) => {
    const delayMs = RETRY_DELAYS_MS[entry.attempts - 1];
    const isRetryable = !(error instanceof MailError) || error.retryable;
    if (!isRetryable || delayMs === undefined || isStopping) return discard(entry, error);
    log.warn({ reason: describeFailure(error), attempts: entry.attempts }, "could not send an e-mail; retrying later");
    entry.cancelWait = clock.setTimeout(
      () => {
        entry.cancelWait = null;
        enqueue(entry);
      },
      delayMs * (0.5 + random.uniform() / 2),
    );
  };

  const attempt = async (entry: QueuedMail) => {
    entry.attempts += 1;
    try {
      await mail.send(entry.mail);
      queuedEmails.delete(entry);
    } catch (error) {
      scheduleRetry(entry, error);
    }
  };

  const sendReadyEmails = () => {
    while (activeSends.size < CONCURRENT_SENDS_MAX) {
      const entry = readyEmails.shift();
      if (entry === undefined) return;
      const send = attempt(entry).finally(() => {
        activeSends.delete(send);
        sendReadyEmails();
      });
      activeSends.add(send);
    }
  };

  const enqueue = (entry: QueuedMail) => {
    readyEmails.push(entry);
    sendReadyEmails();
  };

  /** Reserves capacity for one e-mail, until it is sent or released; returns null if the queue is full or stopping. */
  const reserve = () => {
    if (isStopping || queuedEmails.size + reservedSlotCount >= queuedMax) return null;
    reservedSlotCount += 1;
    let isReserved = true;
    const consumeSlot = () => {
      if (!isReserved) return false;
      isReserved = false;
      reservedSlotCount -= 1;
      return true;
    };
    return {
      send(outgoing: OutgoingMail): void {
        if (!consumeSlot()) return;
        const entry: QueuedMail = { mail: outgoing, attempts: 0, cancelWait: null };
        queuedEmails.add(entry);
        enqueue(entry);
      },
      release: () => void consumeSlot(),
    };
  };

  return {
    publicUrl,
    reserve,
    /** Reserves capacity for the e-mail that `work` may send. @throws AppError `mail_unavailable` if there is none */
    async withSlot<Result>(work: (send: (outgoing: OutgoingMail) => void) => Promise<Result>): Promise<Result> {
      const slot = reserve();
      if (slot === null) throw new AppError("mail_unavailable", "E-mail is temporarily unavailable; try again later");
      try {
        return await work(slot.send);
      } finally {
        slot.release();
      }
    },
    /** Tries once more to send the queued e-mails, and discards those that fail. */
    async stop() {
      isStopping = true;
      for (const entry of queuedEmails) {
        if (entry.cancelWait === null) continue;
        entry.cancelWait();
        entry.cancelWait = null;
        enqueue(entry);
      }
      const timeout = new AbortController();
      const waitUntilSent = async () => {
        while (activeSends.size > 0) await Promise.race(activeSends);
      };
      await Promise.race([waitUntilSent(), clock.sleep(STOP_TIMEOUT_MS, timeout.signal).catch(() => {})]);
      timeout.abort();
      if (queuedEmails.size > 0)
        log.error({ emails: queuedEmails.size }, "shut down with unsent e-mails; they are lost");
    },
  };
}

/** Returns text without e-mail address or link: the message of a `MailError` contains only codes. */
const describeFailure = (error: unknown) => (error instanceof MailError ? error.message : "an unexpected error");
