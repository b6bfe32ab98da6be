import { MailError } from "../../domain/errors.ts";
import type { MailOut, OutgoingMail } from "../../ports/mail-out.ts";
import type { CustomerPorts } from "./model.ts";

const QUEUED_MAX = 1_000;
const CONCURRENT_MAX = 4;
/** Delays between attempts. After the last one the e-mail is discarded; the user has to request another. */
const RETRY_AFTER_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000];
/** How long `stop` waits for e-mails to be sent. */
const STOP_TIMEOUT_MS = 2_000;

/** Reserved capacity for one e-mail, until it is sent or released. */
export interface MailSlot {
  send(mail: OutgoingMail): void;
  release(): void;
}

/** Outgoing e-mails, in memory only, because the links in them are stored only as hashes. */
export interface MailQueue {
  /** Null if the queue is full or stopping. */
  reserve(): MailSlot | null;
  /** Tries to send the queued e-mails once more; the rest is lost. */
  stop(): Promise<void>;
}

interface QueuedMail {
  readonly mail: OutgoingMail;
  attempts: number;
  /** Cancels the pending retry; null if none is scheduled. */
  cancelWait: (() => void) | null;
}

/** Sends e-mails with limited concurrency and at most six attempts each. */
export function createMailQueue(
  options: Omit<CustomerPorts, "database"> & { readonly mail: MailOut; readonly queuedMax?: number },
): MailQueue {
  const { mail, clock, random, log, queuedMax = QUEUED_MAX } = options;
  const queued = new Set<QueuedMail>();
  const ready: QueuedMail[] = [];
  const sending = new Set<Promise<void>>();
  let reserved = 0;
  let isStopping = false;

  const discard = (entry: QueuedMail, error: unknown) => {
    queued.delete(entry);
    log.error({ reason: reasonOf(error), attempts: entry.attempts }, "could not send an e-mail; giving up");
  };

  const retryLater = (entry: QueuedMail, error: unknown) => {
    const delayMs = RETRY_AFTER_MS[entry.attempts - 1];
    const isRetryable = !(error instanceof MailError) || error.retryable;
    if (!isRetryable || delayMs === undefined || isStopping) return discard(entry, error);
    log.warn({ reason: reasonOf(error), attempts: entry.attempts }, "could not send an e-mail; retrying later");
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
      queued.delete(entry);
    } catch (error) {
      retryLater(entry, error);
    }
  };

  const sendReady = () => {
    while (sending.size < CONCURRENT_MAX) {
      const entry = ready.shift();
      if (entry === undefined) return;
      const sent = attempt(entry).finally(() => {
        sending.delete(sent);
        sendReady();
      });
      sending.add(sent);
    }
  };

  const enqueue = (entry: QueuedMail) => {
    ready.push(entry);
    sendReady();
  };

  return {
    reserve() {
      if (isStopping || queued.size + reserved >= queuedMax) return null;
      reserved += 1;
      let isReserved = true;
      const take = () => {
        if (!isReserved) return false;
        isReserved = false;
        reserved -= 1;
        return true;
      };
      return {
        send(outgoing) {
          if (!take()) return;
          const entry: QueuedMail = { mail: outgoing, attempts: 0, cancelWait: null };
          queued.add(entry);
          enqueue(entry);
        },
        release: () => void take(),
      };
    },
    async stop() {
      isStopping = true;
      for (const entry of queued) {
        if (entry.cancelWait === null) continue;
        entry.cancelWait();
        entry.cancelWait = null;
        enqueue(entry);
      }
      const timeout = new AbortController();
      const allSent = async () => {
        while (sending.size > 0) await Promise.race(sending);
      };
      await Promise.race([allSent(), clock.sleep(STOP_TIMEOUT_MS, timeout.signal).catch(() => {})]);
      timeout.abort();
      if (queued.size > 0) log.error({ emails: queued.size }, "shut down with unsent e-mails; they are lost");
    },
  };
}

/** Contains no address and no link: the message of a `MailError` consists of codes only. */
const reasonOf = (error: unknown) => (error instanceof MailError ? error.message : "an unexpected error");
