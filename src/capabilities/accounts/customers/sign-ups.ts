import { AppError, rateLimited } from "../../../domain/errors.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { rateLimitPrefix } from "../../../lib/ip-prefix.ts";
import type { Transaction } from "../../../ports/database.ts";
import { createToken, hashToken, isToken } from "../keys/index.ts";
import { SlidingLog } from "../metering/index.ts";
import { createAccount, createEmailTakenError, newCustomerId } from "./accounts.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { type EmailAddress, requireEmail } from "./email-address.ts";
import { createVerificationEmail } from "./emails.ts";
import { createMailQueue } from "./mail-queue.ts";
import type { CustomerPorts, EmailDelivery, SignUpRequest, SignUpResult } from "./model.ts";
import { hasAccount, hasPendingSignup, renewPendingSignup, takePendingSignup, upsertPendingSignup } from "./queries.ts";
import type { BotCheck } from "./turnstile.ts";

/** Limits sign-ups and sign-in link requests per IP address. */
export const ADDRESS_RULES: readonly AttemptRule[] = [{ limit: 5, windowMs: HOUR_MS }];
/** Maximum number of bot checks per IP address and node, so that one caller cannot exhaust the Turnstile quota. */
const BOT_CHECKS_PER_HOUR = 30;
/** Limits e-mails of one kind to one e-mail address. */
export const EMAIL_RULES: readonly AttemptRule[] = [
  { limit: 1, windowMs: 60_000 },
  { limit: 3, windowMs: 24 * HOUR_MS },
];
const VERIFICATION_LINK_MS = 24 * HOUR_MS;

/** The operator's settings for sign-up. */
export interface SignUpSettings {
  readonly botCheck: BotCheck;
  /** Disposable e-mail domains in canonical form. */
  readonly disposableDomains: ReadonlySet<string>;
  /** For e-mail verification; null returns the key immediately, without verification. */
  readonly emailDelivery: EmailDelivery | null;
}

/**
 * Sign-up with or without e-mail verification.
 *
 * @param dependencies.settings  null rejects every sign-up with `signup_not_configured`
 */
export function createSignUps(dependencies: CustomerPorts & { readonly settings: SignUpSettings | null }) {
  const { database, clock, random, settings } = dependencies;
  const emailDelivery = settings?.emailDelivery ?? null;
  const mailQueue = emailDelivery === null ? null : createMailQueue({ ...dependencies, ...emailDelivery });
  const botChecks = new SlidingLog({ windowMs: HOUR_MS });

  const assertBotCheckAllowed = (network: string) => {
    const { isAllowed, waitMs } = botChecks.take(network, BOT_CHECKS_PER_HOUR, clock.monotonic());
    if (!isAllowed) throw createTooManySignUpsError(waitMs);
  };

  const createVerifiedAccount = async (email: EmailAddress, name: string | null): Promise<SignUpResult> => {
    const customerId = newCustomerId(random);
    const actor = { kind: "signup" as const, id: customerId };
    const key = await database.transaction(
      (transaction) =>
        createAccount(transaction, dependencies, { customerId, email: email.address, name, plan: "free", actor }),
      "request",
    );
    return { customerId, requiresVerification: false, apiKey: key.apiKey };
  };

  /** Stores the sign-up. Returns a new token if an e-mail may be sent; otherwise the previous link stays valid. */
  const storePendingSignUp = async (transaction: Transaction, email: EmailAddress, name: string | null) => {
    if (await hasAccount(transaction, email.address)) throw createEmailTakenError();
    const now = clock.now();
    const isEmailAllowed = (await takeAttempt(transaction, `mail:${email.address}`, EMAIL_RULES, now)) === 0;
    const token = createToken(random);
    const pendingSignUp = {
      email: email.address,
      name,
      customerId: newCustomerId(random),
      tokenHash: hashToken(token),
    };
    const customerId = await upsertPendingSignup(
      transaction,
      { ...pendingSignUp, expiresAt: now + VERIFICATION_LINK_MS },
      isEmailAllowed,
    );
    return { customerId, token: isEmailAllowed ? token : null };
  };

  /** Replaces the token of a pending sign-up. Returns whether an e-mail with the new token may be sent. */
  const renewPendingSignUp = async (transaction: Transaction, email: string, token: string) => {
    const now = clock.now();
    // Without a pending sign-up, requests are counted separately, so that they do not use up the e-mails of the next
    // sign-up.
    const subject = (await hasPendingSignup(transaction, email, now)) ? `mail:${email}` : `resend-mail:${email}`;
    const isAllowed = (await takeAttempt(transaction, subject, EMAIL_RULES, now)) === 0;
    const renewedSignup = { email, tokenHash: hashToken(token), expiresAt: now + VERIFICATION_LINK_MS };
    return isAllowed && renewPendingSignup(transaction, renewedSignup);
  };

  return {
    /**
     * Creates an account, or starts e-mail verification. Checks in this order: the e-mail address and whether it is
     * disposable (`InvalidRequestError`), attempts per network address (`rate_limited`), the bot check
     * (`bot_check_failed`, `bot_check_unavailable`), five sign-ups per hour (`rate_limited`), and then the database
     * (`email_taken`).
     *
     * With e-mail verification, the result does not reveal whether the e-mail was suppressed by the rate limit;
     * `mail_unavailable` if the mail queue is full.
     *
     * @throws AppError also `signup_not_configured`
     */
    async signUp({ email: text, name, turnstileToken, address }: SignUpRequest): Promise<SignUpResult> {
      if (settings === null) throw new AppError("signup_not_configured", "Sign-up is not configured on this server");
      const email = requireEmail(text, settings.disposableDomains);
      // An empty token means that the widget had not finished; it needs no request to Turnstile.
      if (turnstileToken === "") throw createBotCheckFailedError();
      const network = rateLimitPrefix(address);
      assertBotCheckAllowed(network);
      if (!(await settings.botCheck.passes(turnstileToken, address))) throw createBotCheckFailedError();
      const waitMs = await takeAttempt(database, `signup:${network}`, ADDRESS_RULES, clock.now());
      if (waitMs > 0) throw createTooManySignUpsError(waitMs);
      if (mailQueue === null) return createVerifiedAccount(email, name);
      return mailQueue.withSlot(async (send) => {
        const store = (transaction: Transaction) => storePendingSignUp(transaction, email, name);
        const { customerId, token } = await database.transaction(store, "request");
        if (token !== null) send(createVerificationEmail(email.address, mailQueue.publicUrl, token));
        return { customerId, requiresVerification: true };
      });
    },
    /**
     * Consumes a link's token and creates the account with its first key. Returns null if the token is unknown, used,
     * replaced or expired.
     */
    async verify(token: string): Promise<{ readonly customerId: string; readonly apiKey: string } | null> {
      if (!isToken(token)) return null;
      try {
        return await database.transaction(async (transaction) => {
          const pendingSignUp = await takePendingSignup(transaction, hashToken(token), clock.now());
          if (pendingSignUp === null) return null;
          const { customerId } = pendingSignUp;
          const actor = { kind: "signup" as const, id: customerId };
          const key = await createAccount(transaction, dependencies, { ...pendingSignUp, plan: "free", actor });
          return { customerId, apiKey: key.apiKey };
        }, "request");
      } catch (error) {
        // An account with this address was created after the sign-up.
        if (error instanceof AppError && error.code === "email_taken") return null;
        throw error;
      }
    },
    /**
     * Sends the verification e-mail of a pending sign-up again, with a new link that replaces the previous one. The
     * result does not reveal whether there is a pending sign-up, or whether the e-mail was suppressed by the rate limit.
     *
     * @param address  the caller's IP address
     * @throws InvalidRequestError for an invalid e-mail address; AppError `rate_limited`, `mail_unavailable`
     */
    async resend(text: string, address: string): Promise<void> {
      const email = requireEmail(text).address;
      const waitMs = await takeAttempt(database, `resend:${rateLimitPrefix(address)}`, ADDRESS_RULES, clock.now());
      if (waitMs > 0) throw rateLimited("Too many e-mails requested from this address", waitMs);
      await mailQueue?.withSlot(async (send) => {
        const token = createToken(random);
        const renew = (transaction: Transaction) => renewPendingSignUp(transaction, email, token);
        const isRenewed = await database.transaction(renew, "request");
        if (isRenewed) send(createVerificationEmail(email, mailQueue.publicUrl, token));
      });
    },
    stop: async () => mailQueue?.stop(),
  };
}

const createTooManySignUpsError = (waitMs: number) => rateLimited("Too many sign-ups from this address", waitMs);
const createBotCheckFailedError = () =>
  new AppError("bot_check_failed", "The bot check failed: get a new token and try again");
