import type { Log } from "../../ports/log.ts";
import { type AccountTools, createAccounts } from "./accounts.ts";
import { ATTEMPT_WINDOW_MS_MAX } from "./attempts.ts";
import { withKeyEmails } from "./key-emails.ts";
import type { Customers } from "./model.ts";
import { deleteOlder } from "./queries.ts";
import { createSignUps, type EmailDelivery, type SignUpSettings } from "./sign-ups.ts";

/** Soon, so that a service that is often started anew tidies too. */
const TIDY_FIRST_MS = 60_000;
const TIDY_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

export function createCustomers(
  options: AccountTools & {
    readonly log: Log;
    /** Null refuses every sign-up with `signup_not_configured`. */
    readonly signUp: SignUpSettings | null;
    /** How owners are told of changes of their keys; null where no letters go out. */
    readonly letters: EmailDelivery | null;
    /** For how many days the audit log is kept. */
    readonly auditDays: number;
  },
): Customers {
  const { database, clock, log, letters, auditDays } = options;
  const { stop: stopLetters, ...signUps } = createSignUps({ ...options, settings: options.signUp });
  const plain = { ...createAccounts(options), stop: async () => {} };
  const { stop: stopKeyLetters, ...accounts } =
    letters === null ? plain : withKeyEmails(plain, { ...options, letters });
  let cancel: () => void = () => {};
  let tidying: Promise<void> = Promise.resolve();
  let isStopping = false;

  /** Every node may do it; what one has dropped is not there for the next. */
  const tidy = async () => {
    const now = clock.now();
    const traceable = now - auditDays * DAY_MS;
    try {
      await deleteOlder(database, "pending_signups", now, () => isStopping);
      await deleteOlder(database, "attempts", now - ATTEMPT_WINDOW_MS_MAX, () => isStopping);
      await deleteOlder(database, "audit_log", traceable, () => isStopping);
      await deleteOlder(database, "api_keys", traceable, () => isStopping);
    } catch (error) {
      log.warn({ err: error }, "what is out of date of customers could not be dropped; it is tried again in an hour");
    }
  };
  const schedule = (delayMs: number) => {
    if (isStopping) return;
    cancel = clock.setTimeout(() => {
      tidying = tidy().then(() => schedule(TIDY_EVERY_MS));
    }, delayMs);
  };

  return {
    ...accounts,
    ...signUps,
    start: () => schedule(TIDY_FIRST_MS),
    async stop() {
      isStopping = true;
      cancel();
      await Promise.all([tidying, stopLetters(), stopKeyLetters()]);
    },
  };
}
