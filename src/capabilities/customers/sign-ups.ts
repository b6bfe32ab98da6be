import { hash } from "node:crypto";
import { AppError, rateLimited } from "../../domain/errors.ts";
import { addressBlock } from "../../lib/address-block.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { MailOut } from "../../ports/mail-out.ts";
import type { Random } from "../../ports/random.ts";
import { randomBase32 } from "../keys/index.ts";
import { SlidingLog } from "../metering/index.ts";
import { newCustomerId, openAccount } from "./accounts.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { isDisposable } from "./disposable-domains.ts";
import { type EmailAddress, invalidEmail, parseEmail } from "./email-address.ts";
import { verificationEmail } from "./emails.ts";
import { createMailQueue, type MailQueue, type MailSlot } from "./mail-queue.ts";
import type { SignUpRequest, SignUpResult, SignUps } from "./model.ts";
import { hasAccount, takePendingSignup, upsertPendingSignup } from "./queries.ts";
import type { BotCheck } from "./turnstile.ts";

const HOUR_MS = 3_600_000;
/** Sign-ups of one network address (specification), and links to sign in that it asks for. */
export const NETWORK_RULES: readonly AttemptRule[] = [{ limit: 5, windowMs: HOUR_MS }];
/** Bot checks of one network address, so that one caller cannot keep the checker busy; counted on this node only. */
const CHECKS_PER_HOUR = 30;
/** Letters of one kind to one mailbox. */
export const EMAIL_RULES: readonly AttemptRule[] = [
  { limit: 1, windowMs: 60_000 },
  { limit: 3, windowMs: 24 * HOUR_MS },
];
const VERIFY_MS = 24 * HOUR_MS;
/** 130 random bits. */
const TOKEN_LENGTH = 26;
const TOKEN = /^[a-z2-7]{26}$/;

/** How letters go out. */
export interface EmailDelivery {
  readonly mail: MailOut;
  /** The service's address as customers know it, without a slash at its end. */
  readonly publicUrl: string;
}

/** What the operator has set up so that strangers can become customers. */
export interface SignUpSettings {
  readonly botCheck: BotCheck;
  /** Canonical domains whose mailboxes are thrown away. */
  readonly disposableDomains: ReadonlySet<string>;
  /** Where new addresses are verified by a letter; null gives the key at once. */
  readonly letters: EmailDelivery | null;
}

interface SignUpTools {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Null where sign-up is not configured: then every attempt is refused with `signup_not_configured`. */
  readonly settings: SignUpSettings | null;
}

/** Whether a text can be a link's token at all. */
export const isVerificationToken = (text: string): boolean => TOKEN.test(text);

export function createSignUps(tools: SignUpTools): SignUps & Pick<MailQueue, "stop"> {
  const { database, clock, random, settings } = tools;
  const letters = settings?.letters ?? null;
  const queue = letters === null ? null : createMailQueue({ ...tools, mail: letters.mail });
  const checks = new SlidingLog({ windowMs: HOUR_MS });

  const assertMayAsk = (network: string) => {
    const { isAllowed, waitMs } = checks.take(network, CHECKS_PER_HOUR, clock.monotonic());
    if (!isAllowed) throw tooManySignUps(waitMs);
  };

  const keyAtOnce = async (email: EmailAddress, name: string | null): Promise<SignUpResult> => {
    const customerId = newCustomerId(random);
    const actor = { kind: "signup" as const, id: customerId };
    const key = await database.transaction((transaction) =>
      openAccount(transaction, tools, { customerId, email: email.address, name, plan: "free", actor }),
    );
    return { customerId, requiresVerification: false, apiKey: key.apiKey };
  };

  /** Remembers who asks, with a new token where a letter may be sent; else an earlier letter's link stays good. */
  const remember = async (transaction: Transaction, email: EmailAddress, name: string | null) => {
    if (await hasAccount(transaction, email.address)) throw emailTaken();
    const now = clock.now();
    const mayWrite = (await takeAttempt(transaction, `mail:${email.address}`, EMAIL_RULES, now)) === 0;
    const token = randomBase32(random, TOKEN_LENGTH);
    const pending = { email: email.address, name, customerId: newCustomerId(random), tokenHash: hashOf(token) };
    const customerId = await upsertPendingSignup(transaction, { ...pending, expiresAt: now + VERIFY_MS }, mayWrite);
    return { customerId, token: mayWrite ? token : null };
  };

  const verifyFirst = async (email: EmailAddress, name: string | null, slot: MailSlot, publicUrl: string) => {
    try {
      const { customerId, token } = await database.transaction((transaction) => remember(transaction, email, name));
      if (token !== null) {
        slot.send(verificationEmail(email.address, `${publicUrl}/v1/customers/verify?token=${token}`));
      }
      return { customerId, requiresVerification: true as const };
    } finally {
      slot.release();
    }
  };

  return {
    async signUp({ email: text, name, turnstileToken, address }: SignUpRequest): Promise<SignUpResult> {
      if (settings === null) throw new AppError("signup_not_configured", "Sign-up is not configured on this server");
      const email = acceptableEmail(text, settings.disposableDomains);
      // What a form holds whose widget is not done: nobody needs to be asked.
      if (turnstileToken === "") throw botCheckFailed();
      const network = addressBlock(address);
      assertMayAsk(network);
      if (!(await settings.botCheck.passes(turnstileToken, address))) throw botCheckFailed();
      const waitMs = await takeAttempt(database, `signup:${network}`, NETWORK_RULES, clock.now());
      if (waitMs > 0) throw tooManySignUps(waitMs);
      if (letters === null) return keyAtOnce(email, name);
      const slot = queue?.reserve() ?? null;
      if (slot === null) throw tooManyEmails();
      return verifyFirst(email, name, slot, letters.publicUrl);
    },
    async verify(token) {
      if (!isVerificationToken(token)) return null;
      try {
        return await database.transaction(async (transaction) => {
          const pending = await takePendingSignup(transaction, hashOf(token), clock.now());
          if (pending === null) return null;
          const { customerId } = pending;
          const actor = { kind: "signup" as const, id: customerId };
          const key = await openAccount(transaction, tools, { ...pending, plan: "free", actor });
          return { customerId, apiKey: key.apiKey };
        });
      } catch (error) {
        // Somebody else has opened an account with this address meanwhile.
        if (error instanceof AppError && error.code === "email_taken") return null;
        throw error;
      }
    },
    stop: async () => queue?.stop(),
  };
}

function acceptableEmail(text: string, disposable: ReadonlySet<string>): EmailAddress {
  const email = parseEmail(text);
  if (email === null) throw invalidEmail("this is not a valid e-mail address", text);
  if (isDisposable(email.domain, disposable)) throw invalidEmail("disposable e-mail addresses are not accepted", text);
  return email;
}

/** Too many letters wait already. */
export const tooManyEmails = () =>
  new AppError("mail_unavailable", "No letters can be sent at the moment; try again later");

const tooManySignUps = (waitMs: number) => rateLimited("Too many sign-ups from this address", waitMs);
const botCheckFailed = () => new AppError("bot_check_failed", "The bot check failed: get a new token and try again");

const emailTaken = () => new AppError("email_taken", "An account with this e-mail address exists");

/** A fast hash suffices for 130 random bits. */
const hashOf = (token: string): Uint8Array => new Uint8Array(hash("sha256", token, "buffer"));
