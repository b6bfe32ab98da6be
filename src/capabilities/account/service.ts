import { AppError, InvalidRequestError, rateLimited } from "../../domain/errors.ts";
import { addressBlock, isLoopback } from "../../lib/address-block.ts";
import { createOnce } from "../../lib/once.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import {
  type Accounts,
  type Actor,
  type AttemptRule,
  createMailQueue,
  EMAIL_RULES,
  type IssuedKey,
  insertAudit,
  invalidEmail,
  isPlainName,
  KEY_NAME_LENGTH_MAX,
  NETWORK_RULES,
  parseEmail,
  takeAttempt,
  tooManyEmails,
} from "../customers/index.ts";
import { LINK_MS, type Session, type Sessions } from "../sessions/index.ts";
import { signInEmail } from "./emails.ts";
import type { AccountPage, AccountSettings } from "./model.ts";

/**
 * Applied after the daily limit: allows another e-mail once the last link has expired. So requests by a third party cannot
 * lock the owner out: the mailbox always holds an active link, or a new one can be sent.
 */
const AFTER_LINK_EXPIRY: readonly AttemptRule[] = [{ limit: 1, windowMs: LINK_MS }];
/** Failed proofs by all sessions of one customer. */
const PROOF_RULES: readonly AttemptRule[] = [{ limit: 10, windowMs: 3_600_000 }];

export function createAccountPage(dependencies: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly data: "sandbox" | "live";
  readonly settings: AccountSettings;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  /** The owner of a key; null if the key is not active. */
  readonly findKeyOwner: (
    apiKey: string,
  ) => Promise<{ readonly customerId: string } | null> | { readonly customerId: string } | null;
}): AccountPage {
  const { database, clock, data, sessions, accounts, findKeyOwner } = dependencies;
  const emailDelivery = dependencies.settings.emailDelivery;
  // Separate from the sign-up queue, so that a flood of sign-ups cannot block sign-ins.
  const queue = emailDelivery === null ? null : createMailQueue({ ...dependencies, mail: emailDelivery.mail });
  const keys = createOnce<IssuedKey>(clock);

  const sendLink = async (email: string): Promise<void> => {
    const slot = queue?.reserve() ?? null;
    if (slot === null || emailDelivery === null) throw tooManyEmails();
    try {
      // Runs the same statements for addresses without an account, so that timing does not reveal which accounts exist.
      const token = await database.transaction(async (transaction) => {
        const mayEmail = async (rules: readonly AttemptRule[]) =>
          (await takeAttempt(transaction, `signin-mail:${email}`, rules, clock.now())) === 0;
        const isAllowed = (await mayEmail(EMAIL_RULES)) || (await mayEmail(AFTER_LINK_EXPIRY));
        return isAllowed ? sessions.issueLink(transaction, email) : null;
      });
      if (token !== null) slot.send(signInEmail(email, `${emailDelivery.publicUrl}/account/enter?token=${token}`));
    } finally {
      slot.release();
    }
  };

  const rejectProof = async ({ customerId, sessionId }: Session): Promise<never> => {
    const now = clock.now();
    const waitMs = await database.transaction(async (transaction) => {
      const wait = await takeAttempt(transaction, `proof:${customerId}`, PROOF_RULES, now);
      const entry = { actor: { kind: "session" as const, id: sessionId }, action: "session.proof_failed", customerId };
      if (wait === 0) await insertAudit(transaction, { ...entry, now });
      return wait;
    });
    if (waitMs > 0) throw rateLimited("Too many invalid keys", waitMs);
    throw new AppError("proof_required", "This is not an active key of your account");
  };

  const requireProof = (session: Session): Actor => {
    if (!session.isProven)
      throw new AppError("proof_required", "Confirm that it is you before you change keys, then try again");
    return { kind: "session", id: session.sessionId };
  };

  return {
    async requestLink(text, address) {
      const email = parseEmail(text);
      if (email === null) throw invalidEmail("this is not a valid e-mail address", text);
      if (emailDelivery === null && data === "live")
        throw new AppError("mail_unavailable", "Sign-in is not available because this server sends no e-mail");
      // A sandbox does not limit the developer's own machine.
      if (data === "live" || !isLoopback(address)) {
        const waitMs = await takeAttempt(database, `signin:${addressBlock(address)}`, NETWORK_RULES, clock.now());
        if (waitMs > 0) throw rateLimited("Too many sign-in links requested from this address", waitMs);
      }
      if (emailDelivery === null) return { shownToken: await sessions.issueLink(database, email.address) };
      await sendLink(email.address);
      return { shownToken: null };
    },
    async prove(session, apiKey) {
      const owner = await findKeyOwner(apiKey.trim());
      if (owner?.customerId !== session.customerId) return rejectProof(session);
      await sessions.prove(session);
    },
    async createKey(session, text, formId) {
      const actor = requireProof(session);
      const name = text.trim();
      if (!isPlainName(name, KEY_NAME_LENGTH_MAX)) throw invalidKeyName();
      return keys.run(`${session.sessionId} ${formId} create ${name}`, () =>
        accounts.createKey(session.customerId, name, actor),
      );
    },
    async rotateKey(session, keyId, formId) {
      const actor = requireProof(session);
      return keys.run(`${session.sessionId} ${formId} rotate ${keyId}`, () =>
        accounts.rotateKey(session.customerId, keyId, actor),
      );
    },
    async revokeKey(session, keyId) {
      const actor = requireProof(session);
      try {
        await accounts.revokeKey(session.customerId, keyId, actor);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "key_not_found") throw error;
        // A repeated submission succeeds if the customer's key is already revoked.
        const { keys: customerKeys } = await accounts.account(session.customerId);
        if (!customerKeys.some((key) => key.keyId === keyId)) throw error;
      }
    },
    async stop() {
      keys.clear();
      await queue?.stop();
    },
  };
}

function invalidKeyName(): InvalidRequestError {
  const msg = `must have 1 to ${KEY_NAME_LENGTH_MAX} characters, none of them control or invisible characters`;
  return new InvalidRequestError([{ type: "value_error", loc: ["body", "name"], msg }]);
}
