import { AppError, invalidValue, rateLimited } from "../../../domain/errors.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { createIdempotencyCache } from "../../../lib/idempotency-cache.ts";
import { rateLimitPrefix } from "../../../lib/ip-prefix.ts";
import { isLoopbackAddress } from "../../../lib/loopback.ts";
import type { OutgoingMail } from "../../../ports/mail-out.ts";
import {
  type Accounts,
  type Actor,
  ADDRESS_RULES,
  type AttemptRule,
  type CustomerPorts,
  type Customers,
  createLinkEmail,
  createMailQueue,
  EMAIL_RULES,
  type IssuedKey,
  insertAudit,
  isPlainName,
  KEY_NAME_LENGTH_MAX,
  parseEmail,
  requireEmail,
  takeAttempt,
} from "../customers/index.ts";
import type { KeyDirectory } from "../keys/index.ts";
import { type Session, type Sessions, SIGN_IN_LINK_MS } from "../sessions/index.ts";
import type { AccountSettings } from "./model.ts";
import { SIGN_IN_LINK_MINUTES } from "./pages.ts";

/**
 * Applies when the daily limit is reached: allows one e-mail after the previous link has expired. The owner therefore
 * always has an active link or can request one, even if a third party exhausts the daily limit.
 */
const AFTER_LINK_EXPIRY_RULES: readonly AttemptRule[] = [{ limit: 1, windowMs: SIGN_IN_LINK_MS }];
/** Limits failed reauthentications by all sessions of one customer. */
const PROOF_RULES: readonly AttemptRule[] = [{ limit: 10, windowMs: HOUR_MS }];

export type AccountPage = ReturnType<typeof createAccountPage>;

/** The operations of the account page. */
export function createAccountPage(
  dependencies: CustomerPorts & {
    readonly data: "sandbox" | "live";
    readonly settings: AccountSettings;
    readonly sessions: Sessions;
    readonly accounts: Accounts & Pick<Customers, "emailChanges">;
    readonly keys: Pick<KeyDirectory, "find">;
  },
) {
  const { database, clock, data, sessions, accounts } = dependencies;
  const { emailDelivery, displaysLinks = false } = dependencies.settings;
  // Separate from the sign-up queue, so that many sign-ups cannot block sign-ins.
  const mailQueue = emailDelivery === null ? null : createMailQueue({ ...dependencies, ...emailDelivery });
  const once = createIdempotencyCache<IssuedKey>(clock);

  /** Returns the token of a new link; null if no e-mail may be sent or no account has the address. */
  const issueMailedLink = (email: string): Promise<string | null> =>
    // Runs the same statements for addresses without an account, so that timing does not reveal which accounts exist.
    database.transaction(async (transaction) => {
      const takeEmailAttempt = async (rules: readonly AttemptRule[]) =>
        (await takeAttempt(transaction, `signin-mail:${email}`, rules, clock.now())) === 0;
      const isAllowed = (await takeEmailAttempt(EMAIL_RULES)) || (await takeEmailAttempt(AFTER_LINK_EXPIRY_RULES));
      return isAllowed ? sessions.issueLink(transaction, email) : null;
    }, "request");

  const recordFailedProof = async ({ customerId, sessionId }: Session): Promise<never> => {
    const now = clock.now();
    const waitMs = await database.transaction(async (transaction) => {
      const wait = await takeAttempt(transaction, `proof:${customerId}`, PROOF_RULES, now);
      const entry = { actor: { kind: "session" as const, id: sessionId }, action: "session.proof_failed", customerId };
      if (wait === 0) await insertAudit(transaction, { ...entry, now });
      return wait;
    }, "request");
    if (waitMs > 0) throw rateLimited("Too many invalid keys", waitMs);
    throw new AppError("proof_required", "This is not an active key of your account");
  };

  const assertLinksAvailable = (subject: string) => {
    if (emailDelivery === null && !displaysLinks)
      throw new AppError("mail_unavailable", `${subject} not available because this server sends no e-mail`);
  };

  const requireReauthentication = (session: Session): Actor => {
    if (!session.isProven) throw new AppError("proof_required", "Confirm that it is you, then try again");
    return { kind: "session", id: session.sessionId };
  };

  return {
    /**
     * Sends a sign-in link if an account has this address. The result does not reveal whether an account exists or
     * whether the e-mail was suppressed by the rate limit.
     *
     * @param address  the caller's IP address
     * @returns the link's token if the page displays it: only if the settings say so, and only for an existing account
     * @throws InvalidRequestError for an invalid e-mail address; AppError `rate_limited`, `mail_unavailable`
     */
    async requestLink(text: string, address: string): Promise<{ readonly displayedToken: string | null }> {
      const email = requireEmail(text).address;
      assertLinksAvailable("Sign-in is");
      // A sandbox does not limit requests from the same machine.
      if (data === "live" || !isLoopbackAddress(address)) {
        const waitMs = await takeAttempt(database, `signin:${rateLimitPrefix(address)}`, ADDRESS_RULES, clock.now());
        if (waitMs > 0) throw rateLimited("Too many sign-in links requested from this address", waitMs);
      }
      if (mailQueue === null) return { displayedToken: await sessions.issueLink(database, email) };
      return mailQueue.withSlot(async (send) => {
        const token = await issueMailedLink(email);
        if (token !== null) send(createSignInEmail(email, `${mailQueue.publicUrl}/account/enter?token=${token}`));
        return { displayedToken: null };
      });
    },
    /** Reauthenticates the session with an API key of the account. @throws AppError `proof_required`, `rate_limited` */
    async prove(session: Session, apiKey: string) {
      // The caller has signed in, and failed attempts are limited.
      const owner = await dependencies.keys.find(apiKey.trim(), null);
      if (owner?.customerId !== session.customerId) return recordFailedProof(session);
      await sessions.prove(session);
    },
    /**
     * Creates a key. Repeated submissions of one form create one key and return it each time.
     *
     * @throws AppError `proof_required`, `key_name_taken`, `key_limit_reached`
     */
    async createKey(session: Session, text: string, formId: string) {
      const actor = requireReauthentication(session);
      const name = text.trim();
      if (!isPlainName(name, KEY_NAME_LENGTH_MAX)) throw invalidValue(["body", "name"], INVALID_KEY_NAME, name);
      return once.run(`${session.sessionId} ${formId} create ${name}`, () =>
        accounts.createKey(session.customerId, name, actor),
      );
    },
    /** Idempotent like `createKey`. @throws AppError `proof_required`, `key_not_found` */
    async rotateKey(session: Session, keyId: string, formId: string) {
      const actor = requireReauthentication(session);
      return once.run(`${session.sessionId} ${formId} rotate ${keyId}`, () =>
        accounts.rotateKey(session.customerId, keyId, actor),
      );
    },
    /** Succeeds if the key is already revoked. @throws AppError `proof_required`, `key_not_found` */
    async revokeKey(session: Session, keyId: string) {
      const actor = requireReauthentication(session);
      try {
        await accounts.revokeKey(session.customerId, keyId, actor);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "key_not_found") throw error;
        const { keys } = await accounts.account(session.customerId);
        if (!keys.some((key) => key.keyId === keyId)) throw error;
      }
    },
    /**
     * Sends a confirmation link to the new e-mail address.
     *
     * @returns the link's token if the page displays it
     * @throws AppError `proof_required`, `mail_unavailable`, and as `EmailChanges.request`
     */
    async requestEmailChange(session: Session, email: string) {
      requireReauthentication(session);
      assertLinksAvailable("E-mail changes are");
      return accounts.emailChanges.request(session.customerId, email);
    },
    /**
     * @param confirmation  the account's e-mail address, or its id if it has none
     * @throws InvalidRequestError if the confirmation is another text; AppError `proof_required`
     */
    async deleteAccount(session: Session, confirmation: string) {
      const actor = requireReauthentication(session);
      const { email, customerId } = await accounts.account(session.customerId);
      const isConfirmed =
        email === null ? confirmation.trim() === customerId : parseEmail(confirmation)?.address === email;
      if (!isConfirmed)
        throw invalidValue(["body", "confirmation"], `enter ${email ?? customerId} to confirm`, confirmation);
      await accounts.delete(customerId, actor);
    },
    /** Tries once more to send the queued e-mails. */
    async stop() {
      once.clear();
      await mailQueue?.stop();
    },
  };
}

const INVALID_KEY_NAME = `must have 1 to ${KEY_NAME_LENGTH_MAX} characters, none of them control or invisible characters`;

const createSignInEmail = (to: string, link: string): OutgoingMail =>
  createLinkEmail({
    to,
    subject: "Sign in to Parallax",
    before: ["Open this link and select “Sign in” to sign in to your Parallax account:"],
    link,
    after: `The link works once and expires after ${SIGN_IN_LINK_MINUTES} minutes. If this wasn’t you, ignore this e-mail.`,
  });
