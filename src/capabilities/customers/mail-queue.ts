import { MailError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { MailOut, OutgoingMail } from "../../ports/mail-out.ts";
import type { Random } from "../../ports/random.ts";

const WAITING_MAX = 1_000;
const AT_ONCE_MAX = 4;
/** After these the letter is given up; whoever waits for it asks for another. */
const RETRY_AFTER_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000];
/** How long the end of the service waits for letters. */
const LAST_CHANCE_MS = 2_000;

/** Room for one letter, held until it is used or given back. */
export interface MailSlot {
  send(mail: OutgoingMail): void;
  release(): void;
}

/** Letters that wait to be sent. They are in memory only, because the links in them are nowhere else. */
export interface MailQueue {
  /** Null when too many letters wait. */
  reserve(): MailSlot | null;
  /** Tries what waits once more; what is left is lost. */
  stop(): Promise<void>;
}

interface Letter {
  readonly mail: OutgoingMail;
  attempts: number;
  /** Ends the wait for the next attempt; null while none is waited for. */
  cancelWait: (() => void) | null;
}

/** Sends letters a few at a time and again when that may help, never more often than six times. */
export function createMailQueue(options: {
  readonly mail: MailOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly waitingMax?: number;
}): MailQueue {
  const { mail, clock, random, log, waitingMax = WAITING_MAX } = options;
  const letters = new Set<Letter>();
  const ready: Letter[] = [];
  const sending = new Set<Promise<void>>();
  let reserved = 0;
  let isStopping = false;

  const giveUp = (letter: Letter, error: unknown) => {
    letters.delete(letter);
    log.error({ reason: reasonOf(error), attempts: letter.attempts }, "a letter could not be sent and is given up");
  };

  const retryLater = (letter: Letter, error: unknown) => {
    const delayMs = RETRY_AFTER_MS[letter.attempts - 1];
    const mayHelp = !(error instanceof MailError) || error.retryable;
    if (!mayHelp || delayMs === undefined || isStopping) return giveUp(letter, error);
    log.warn({ reason: reasonOf(error), attempts: letter.attempts }, "a letter could not be sent; it is tried again");
    letter.cancelWait = clock.setTimeout(
      () => {
        letter.cancelWait = null;
        enqueue(letter);
      },
      delayMs * (0.5 + random.uniform() / 2),
    );
  };

  const attempt = async (letter: Letter) => {
    letter.attempts += 1;
    try {
      await mail.send(letter.mail);
      letters.delete(letter);
    } catch (error) {
      retryLater(letter, error);
    }
  };

  const pump = () => {
    while (sending.size < AT_ONCE_MAX) {
      const letter = ready.shift();
      if (letter === undefined) return;
      const sent = attempt(letter).finally(() => {
        sending.delete(sent);
        pump();
      });
      sending.add(sent);
    }
  };

  const enqueue = (letter: Letter) => {
    ready.push(letter);
    pump();
  };

  return {
    reserve() {
      if (isStopping || letters.size + reserved >= waitingMax) return null;
      reserved += 1;
      let isOpen = true;
      const close = () => {
        if (!isOpen) return false;
        isOpen = false;
        reserved -= 1;
        return true;
      };
      return {
        send(outgoing) {
          if (!close()) return;
          const letter: Letter = { mail: outgoing, attempts: 0, cancelWait: null };
          letters.add(letter);
          enqueue(letter);
        },
        release: () => void close(),
      };
    },
    async stop() {
      isStopping = true;
      for (const letter of letters) {
        if (letter.cancelWait === null) continue;
        letter.cancelWait();
        letter.cancelWait = null;
        enqueue(letter);
      }
      const giveUpWaiting = new AbortController();
      const allSent = async () => {
        while (sending.size > 0) await Promise.race(sending);
      };
      await Promise.race([allSent(), clock.sleep(LAST_CHANCE_MS, giveUpWaiting.signal).catch(() => {})]);
      giveUpWaiting.abort();
      if (letters.size > 0) log.error({ letters: letters.size }, "letters were not sent before the end and are lost");
    },
  };
}

/** Never an address or a link: a mail error holds codes only. */
const reasonOf = (error: unknown) => (error instanceof MailError ? error.message : "an unexpected error");
