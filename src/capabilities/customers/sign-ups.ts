import { hash } from "node:crypto";
import { AppError, rateLimited } from "../../domain/errors.ts";
import { addressBlock } from "../../lib/address-block.ts";
import type { Transaction } from "../../ports/database.ts";
import { randomBase32 } from "../keys/index.ts";
import { SlidingLog } from "../metering/index.ts";
import { emailTaken, newCustomerId, openAccount } from "./accounts.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { type EmailAddress, invalidEmail, isDisposable, parseEmail } from "./email-address.ts";
import { verificationEmail } from "./emails.ts";
import { createMailQueue, type MailQueue } from "./mail-queue.ts";
import type { CustomerPorts, EmailDelivery, SignUpRequest, SignUpResult, SignUps } from "./model.ts";
import { hasAccount, takePendingSignup, upsertPendingSignup } from "./queries.ts";
import type { BotCheck } from "./turnstile.ts";

const HOUR_MS = 3_600_000;
/** Limits sign-ups, and requests for sign-in links, per network address. */
export const NETWORK_RULES: readonly AttemptRule[] = [{ limit: 5, windowMs: HOUR_MS }];
/** Bot checks per network address, so that one caller cannot exhaust the bot check service; counted per node. */
const BOT_CHECKS_PER_HOUR = 30;
/** E-mails of one kind to one address. */
export const EMAIL_RULES: readonly AttemptRule[] = [
  { limit: 1, windowMs: 60_000 },
  { limit: 3, windowMs: 24 * HOUR_MS },
];
const VERIFY_MS = 24 * HOUR_MS;
/** 130 random bits. */
const TOKEN_LENGTH = 26;
const TOKEN = /^[a-z2-7]{26}$/;

/** The operator's settings for sign-up. */
export interface SignUpSettings {
  readonly botCheck: BotCheck;
  /** Disposable e-mail domains in canonical form. */
  readonly disposableDomains: ReadonlySet<string>;
  /** For e-mail verification; null returns the key immediately, without verification. */
  readonly emailDelivery: EmailDelivery | null;
}

/** Whether the text has the format of a verification token. */
export const isVerificationToken = (text: string): boolean => TOKEN.test(text);

/** @param dependencies.settings  null rejects every sign-up with `signup_not_configured` */
export function createSignUps(
  dependencies: CustomerPorts & { readonly settings: SignUpSettings | null },
): SignUps & Pick<MailQueue, "stop"> {
  const { database, clock, random, settings } = dependencies;
  const emailDelivery = settings?.emailDelivery ?? null;
  const queue = emailDelivery === null ? null : createMailQueue({ ...dependencies, mail: emailDelivery.mail });
  const botChecks = new SlidingLog({ windowMs: HOUR_MS });

  const assertMayCheck = (network: string) => {
    const { isAllowed, waitMs } = botChecks.take(network, BOT_CHECKS_PER_HOUR, clock.monotonic());
    if (!isAllowed) throw tooManySignUps(waitMs);
  };

  const signUpDirectly = async (email: EmailAddress, name: string | null): Promise<SignUpResult> => {
    const customerId = newCustomerId(random);
    const actor = { kind: "signup" as const, id: customerId };
    const key = await database.transaction((transaction) =>
      openAccount(transaction, dependencies, { customerId, email: email.address, name, plan: "free", actor }),
    );
    return { customerId, requiresVerification: false, apiKey: key.apiKey };
  };

  /** Stores the sign-up. Sets a new token only if an e-mail may be sent; otherwise the earlier link remains valid. */
  const storePending = async (transaction: Transaction, email: EmailAddress, name: string | null) => {
    if (await hasAccount(transaction, email.address)) throw emailTaken();
    const now = clock.now();
    const mayEmail = (await takeAttempt(transaction, `mail:${email.address}`, EMAIL_RULES, now)) === 0;
    const token = randomBase32(random, TOKEN_LENGTH);
    const pending = { email: email.address, name, customerId: newCustomerId(random), tokenHash: hashOf(token) };
    const customerId = await upsertPendingSignup(transaction, { ...pending, expiresAt: now + VERIFY_MS }, mayEmail);
    return { customerId, token: mayEmail ? token : null };
  };

  const signUpWithVerification = async (email: EmailAddress, name: string | null, publicUrl: string) => {
    const slot = queue?.reserve() ?? null;
    if (slot === null) throw tooManyEmails();
    try {
      const { customerId, token } = await database.transaction((transaction) => storePending(transaction, email, name));
      if (token !== null)
        slot.send(verificationEmail(email.address, `${publicUrl}/v1/customers/verify?token=${token}`));
      return { customerId, requiresVerification: true as const };
    } finally {
      slot.release();
    }
  };

  return {
    async signUp({ email: text, name, turnstileToken, address }: SignUpRequest): Promise<SignUpResult> {
      if (settings === null) throw new AppError("signup_not_configured", "Sign-up is not configured on this server");
      const email = parseAcceptedEmail(text, settings.disposableDomains);
      // The form was submitted before the widget finished, so no check is needed.
      if (turnstileToken === "") throw botCheckFailed();
      const network = addressBlock(address);
      assertMayCheck(network);
      if (!(await settings.botCheck.passes(turnstileToken, address))) throw botCheckFailed();
      const waitMs = await takeAttempt(database, `signup:${network}`, NETWORK_RULES, clock.now());
      if (waitMs > 0) throw tooManySignUps(waitMs);
      return emailDelivery === null
        ? signUpDirectly(email, name)
        : signUpWithVerification(email, name, emailDelivery.publicUrl);
    },
    async verify(token) {
      if (!isVerificationToken(token)) return null;
      try {
        return await database.transaction(async (transaction) => {
          const pending = await takePendingSignup(transaction, hashOf(token), clock.now());
          if (pending === null) return null;
          const { customerId } = pending;
          const actor = { kind: "signup" as const, id: customerId };
          const key = await openAccount(transaction, dependencies, { ...pending, plan: "free", actor });
          return { customerId, apiKey: key.apiKey };
        });
      } catch (error) {
        // An account with this address was created after the sign-up.
        if (error instanceof AppError && error.code === "email_taken") return null;
        throw error;
      }
    },
    stop: async () => queue?.stop(),
  };
}

function parseAcceptedEmail(text: string, disposable: ReadonlySet<string>): EmailAddress {
  const email = parseEmail(text);
  if (email === null) throw invalidEmail("this is not a valid e-mail address", text);
  if (isDisposable(email.domain, disposable)) throw invalidEmail("disposable e-mail addresses are not accepted", text);
  return email;
}

/** The mail queue is full or stopping. */
export const tooManyEmails = () =>
  new AppError("mail_unavailable", "E-mail is temporarily unavailable; try again later");

const tooManySignUps = (waitMs: number) => rateLimited("Too many sign-ups from this address", waitMs);
const botCheckFailed = () => new AppError("bot_check_failed", "The bot check failed: get a new token and try again");

/** A fast hash is sufficient for 130 random bits. */
const hashOf = (token: string): Uint8Array => new Uint8Array(hash("sha256", token, "buffer"));
