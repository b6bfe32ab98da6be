import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import { REQUEST_RETENTION_DAYS, USAGE_RETENTION_DAYS } from "../activity/index.ts";
import { type AccountDependencies, createAccounts } from "./accounts.ts";
import { ATTEMPT_WINDOW_MS_MAX } from "./attempts.ts";
import { createEmailChanges } from "./email-changes.ts";
import { withKeyEmails } from "./key-emails.ts";
import type { CustomerPorts, EmailDelivery } from "./model.ts";
import { deleteOlderRows } from "./queries.ts";
import { createSignUps, type SignUpSettings } from "./sign-ups.ts";

/** Short, so that the cleanup also runs if the service restarts often. */
const FIRST_CLEANUP_DELAY_MS = 60_000;
const CLEANUP_INTERVAL_MS = HOUR_MS;
/** A node never repeats a batch of usage after this time. */
const BATCH_SERIAL_DAYS = 31;

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(
  options: CustomerPorts &
    AccountDependencies & {
      /** Null rejects every sign-up with `signup_not_configured`. */
      readonly signUp: SignUpSettings | null;
      /** For e-mails about key changes; null without a mail server. */
      readonly emailDelivery: EmailDelivery | null;
      /** Days after which audit log entries and revoked keys are deleted. */
      readonly auditDays: number;
    },
) {
  const { database, clock, log, emailDelivery, auditDays, customerData } = options;
  const { stop: stopSignUps, ...signUps } = createSignUps({ ...options, settings: options.signUp });
  const disposableDomains = options.signUp?.disposableDomains ?? new Set<string>();
  const { stop: stopEmailChanges, ...emailChanges } = createEmailChanges({ ...options, disposableDomains });
  const accountsWithoutEmails = { ...createAccounts(options), stop: async () => {} };
  const { stop: stopKeyEmails, ...accounts } =
    emailDelivery === null
      ? accountsWithoutEmails
      : withKeyEmails(accountsWithoutEmails, { ...options, emailDelivery });
  /** Safe to run on several nodes at the same time. */
  const deleteExpired = async (signal: AbortSignal) => {
    const isStopping = () => signal.aborted;
    const now = clock.now();
    const auditStart = now - auditDays * DAY_MS;
    const deleteBefore = (table: Parameters<typeof deleteOlderRows>[1], before: number) =>
      deleteOlderRows(database, table, before, isStopping);
    await deleteBefore("pending_signups", now);
    await deleteBefore("email_changes", now);
    await deleteBefore("attempts", now - ATTEMPT_WINDOW_MS_MAX);
    await deleteBefore("audit_log", auditStart);
    await deleteBefore("api_keys", auditStart);
    await deleteBefore("usage_days", now - USAGE_RETENTION_DAYS * DAY_MS);
    await deleteBefore("recent_requests", now - REQUEST_RETENTION_DAYS * DAY_MS);
    await deleteBefore("activity_batches", now - BATCH_SERIAL_DAYS * DAY_MS);
    for (const data of customerData) await data.deleteExpired?.(database, now, isStopping);
  };
  const cleanup = new PeriodicJob({
    clock,
    delayMs: FIRST_CLEANUP_DELAY_MS,
    intervalMs: CLEANUP_INTERVAL_MS,
    run: deleteExpired,
    onFailure: (error) => log.warn({ err: error }, "could not delete expired customer records; retrying in an hour"),
  });

  return {
    ...accounts,
    ...signUps,
    emailChanges,
    /** Starts the periodic deletion of expired records. */
    start: () => cleanup.start(),
    /** Tries once more to send the queued e-mails, and stops the deletion. */
    async stop(): Promise<void> {
      await Promise.all([cleanup.stop(), stopSignUps(), stopEmailChanges(), stopKeyEmails()]);
    },
  };
}
