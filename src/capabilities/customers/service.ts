import { type AccountDependencies, createAccounts } from "./accounts.ts";
import { ATTEMPT_WINDOW_MS_MAX } from "./attempts.ts";
import { withKeyEmails } from "./key-emails.ts";
import type { CustomerPorts, Customers, EmailDelivery } from "./model.ts";
import { deleteOlder } from "./queries.ts";
import { createSignUps, type SignUpSettings } from "./sign-ups.ts";

/** Short, so that a service that is restarted often also runs the cleanup. */
const CLEANUP_FIRST_MS = 60_000;
const CLEANUP_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;

export function createCustomers(
  options: CustomerPorts &
    AccountDependencies & {
      /** Null rejects every sign-up with `signup_not_configured`. */
      readonly signUp: SignUpSettings | null;
      /** For e-mails about key changes; null without a mail server. */
      readonly emailDelivery: EmailDelivery | null;
      /** Retention of the audit log and of revoked keys. */
      readonly auditDays: number;
    },
): Customers {
  const { database, clock, log, emailDelivery, auditDays } = options;
  const { stop: stopSignUps, ...signUps } = createSignUps({ ...options, settings: options.signUp });
  const plainAccounts = { ...createAccounts(options), stop: async () => {} };
  const { stop: stopKeyEmails, ...accounts } =
    emailDelivery === null ? plainAccounts : withKeyEmails(plainAccounts, { ...options, emailDelivery });
  let cancel = () => {};
  let cleanup: Promise<void> = Promise.resolve();
  let isStopping = false;

  /** Safe to run on several nodes at the same time. */
  const deleteExpired = async () => {
    const now = clock.now();
    const auditStart = now - auditDays * DAY_MS;
    try {
      await deleteOlder(database, "pending_signups", now, () => isStopping);
      await deleteOlder(database, "attempts", now - ATTEMPT_WINDOW_MS_MAX, () => isStopping);
      await deleteOlder(database, "audit_log", auditStart, () => isStopping);
      await deleteOlder(database, "api_keys", auditStart, () => isStopping);
    } catch (error) {
      log.warn({ err: error }, "could not delete expired customer records; retrying in an hour");
    }
  };
  const schedule = (delayMs: number) => {
    if (isStopping) return;
    cancel = clock.setTimeout(() => {
      cleanup = deleteExpired().then(() => schedule(CLEANUP_INTERVAL_MS));
    }, delayMs);
  };

  return {
    ...accounts,
    ...signUps,
    start: () => schedule(CLEANUP_FIRST_MS),
    async stop() {
      isStopping = true;
      cancel();
      await Promise.all([cleanup, stopSignUps(), stopKeyEmails()]);
    },
  };
}
