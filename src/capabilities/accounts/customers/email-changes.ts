import { rateLimited } from "../../../domain/errors.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Transaction } from "../../../ports/database.ts";
import type { OutgoingMail } from "../../../ports/mail-out.ts";
import { createToken, hashToken, isToken } from "../keys/index.ts";
import { endOtherSessions, type Session } from "../sessions/index.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { createInvalidEmailError, requireEmail } from "./email-address.ts";
import { createAddressTakenEmail, createEmailChangedEmail, createEmailChangeEmail } from "./emails.ts";
import { createMailQueue } from "./mail-queue.ts";
import { type CustomerPorts, EMAIL_CHANGE_LINK_MS, type EmailDelivery } from "./model.ts";
import {
  deleteEmailChange,
  hasAccount,
  insertAudit,
  lockCustomer,
  takeEmailChange,
  upsertEmailChange,
} from "./queries.ts";
import { EMAIL_RULES } from "./sign-ups.ts";

/** Limits the changes that one customer requests. */
const REQUEST_RULES: readonly AttemptRule[] = [{ limit: 10, windowMs: HOUR_MS }];
const UNIQUE_VIOLATION = "23505";

/** The session that confirms a change. */
type ChangingSession = Pick<Session, "customerId" | "sessionId">;

/** Changes of a customer's e-mail address. The new address is confirmed by a link, and the old one is notified. */
export function createEmailChanges(
  dependencies: CustomerPorts & {
    readonly emailDelivery: EmailDelivery | null;
    /** Disposable e-mail domains in canonical form. */
    readonly disposableDomains: ReadonlySet<string>;
  },
) {
  const { database, clock, random, emailDelivery, disposableDomains } = dependencies;
  const mailQueue = emailDelivery === null ? null : createMailQueue({ ...dependencies, ...emailDelivery });

  /** Stores the change. Returns the token, or null if the address has already received too many e-mails. */
  const storeChange = async (transaction: Transaction, customerId: string, email: string) => {
    const now = clock.now();
    const waitMs = await takeAttempt(transaction, `email-change:${customerId}`, REQUEST_RULES, now);
    if (waitMs > 0) throw rateLimited("Too many e-mail changes", waitMs);
    const row = await lockCustomer(transaction, customerId);
    if (row === null || row.email === email)
      throw createInvalidEmailError("this is already your e-mail address", email);
    const isSuppressed =
      mailQueue !== null && (await takeAttempt(transaction, `change-mail:${email}`, EMAIL_RULES, now)) > 0;
    if (isSuppressed) return { token: null, isTaken: false };
    const token = createToken(random);
    const expiresAt = now + EMAIL_CHANGE_LINK_MS;
    // Stored even if the address is taken, so that the account page does not reveal it.
    await upsertEmailChange(transaction, { customerId, email, tokenHash: hashToken(token), expiresAt });
    return { token, isTaken: await hasAccount(transaction, email) };
  };

  const applyChange = async (transaction: Transaction, session: ChangingSession, token: string) => {
    const { customerId, sessionId } = session;
    const now = clock.now();
    const row = await lockCustomer(transaction, customerId);
    const email = await takeEmailChange(transaction, { customerId, tokenHash: hashToken(token), now });
    if (row === null || email === null || (await hasAccount(transaction, email))) return null;
    const sessions = await endOtherSessions(transaction, session);
    if (sessions === null) return null;
    await transaction.query("update customers set email = $2 where customer_id = $1", [customerId, email]);
    await transaction.query("delete from pending_signups where email = $1", [email]);
    const actor = { kind: "session" as const, id: sessionId };
    await insertAudit(transaction, { actor, action: "customer.email_set", customerId, details: { sessions }, now });
    return { email, previousEmail: row.email };
  };

  return {
    /**
     * Sends a link to the new address. The result does not reveal whether another account has the address: its owner gets
     * an e-mail without a link.
     *
     * @returns the link's token if the page displays it, because there is no mail server; null for an address that another
     *   account has
     * @throws InvalidRequestError for an invalid, disposable or unchanged address; AppError `rate_limited`,
     *   `mail_unavailable`
     */
    async request(customerId: string, text: string): Promise<{ readonly displayedToken: string | null }> {
      const email = requireEmail(text, disposableDomains).address;
      const store = () => database.transaction((transaction) => storeChange(transaction, customerId, email), "request");
      if (mailQueue === null) {
        const { token, isTaken } = await store();
        return { displayedToken: isTaken ? null : token };
      }
      const { publicUrl } = mailQueue;
      return mailQueue.withSlot(async (send) => {
        const { token, isTaken } = await store();
        if (isTaken) send(createAddressTakenEmail(email, `${publicUrl}/account`));
        else if (token !== null)
          send(createEmailChangeEmail(email, `${publicUrl}/account/email/confirm?token=${token}`));
        return { displayedToken: null };
      });
    },
    /** Returns the change that awaits confirmation; null if there is none or its link has expired. */
    async find(customerId: string) {
      const [row] = await database.query<{ email: string; expiresAt: Date }>(
        `select email, expires_at as "expiresAt" from email_changes
         where customer_id = $1 and expires_at > to_timestamp($2::float8 / 1000)`,
        [customerId, clock.now()],
        "request",
      );
      return row ?? null;
    },
    cancel: (customerId: string) => deleteEmailChange(database, customerId),
    /**
     * Consumes a link, sets the e-mail address, ends the customer's other sessions and invalidates its sign-in link.
     * Notifies the old address. Returns null if the link is unknown, used, replaced, expired or of another customer, or if
     * another account has the address.
     *
     * @throws AppError `mail_unavailable`
     */
    async confirm(session: ChangingSession, token: string): Promise<{ readonly email: string } | null> {
      if (!isToken(token)) return null;
      const apply = async (send: (mail: OutgoingMail) => void) => {
        const change = await database.transaction((transaction) => applyChange(transaction, session, token), "request");
        if (change === null) return null;
        const { email, previousEmail } = change;
        if (previousEmail !== null && mailQueue !== null)
          send(createEmailChangedEmail(previousEmail, email, new Date(clock.now()), mailQueue.publicUrl));
        return { email };
      };
      try {
        return await (mailQueue === null ? apply(() => {}) : mailQueue.withSlot(apply));
      } catch (error) {
        // Another account got the address at the same time.
        if ((error as { readonly code?: unknown }).code === UNIQUE_VIOLATION) return null;
        throw error;
      }
    },
    stop: async () => mailQueue?.stop(),
  };
}
