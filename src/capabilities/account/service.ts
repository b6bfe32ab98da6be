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
 * Beyond the day's letters. Whoever asks in a stranger's name cannot keep him out: a living link is in his mailbox then,
 * or another may be sent.
 */
const WHILE_NO_LINK_LIVES: readonly AttemptRule[] = [{ limit: 1, windowMs: LINK_MS }];
/** Wrong keys of one customer's sessions. */
const PROOF_RULES: readonly AttemptRule[] = [{ limit: 10, windowMs: 3_600_000 }];

export function createAccountPage(tools: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly data: "sandbox" | "live";
  readonly settings: AccountSettings;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  /** Whose a key is; null where it opens nothing. */
  readonly ownerOf: (
    apiKey: string,
  ) => Promise<{ readonly customerId: string } | null> | { readonly customerId: string } | null;
}): AccountPage {
  const { database, clock, data, sessions, accounts, ownerOf } = tools;
  const { letters } = tools.settings;
  // A queue of its own: a flood of sign-ups keeps no customer out.
  const queue = letters === null ? null : createMailQueue({ ...tools, mail: letters.mail });
  const keys = createOnce<IssuedKey>(clock);

  const sendLink = async (email: string): Promise<void> => {
    const slot = queue?.reserve() ?? null;
    if (slot === null || letters === null) throw tooManyEmails();
    try {
      // The same statements for addresses without an account, so that nothing tells them apart.
      const token = await database.transaction(async (transaction) => {
        const mayWrite = async (rules: readonly AttemptRule[]) =>
          (await takeAttempt(transaction, `signin-mail:${email}`, rules, clock.now())) === 0;
        const isAllowed = (await mayWrite(EMAIL_RULES)) || (await mayWrite(WHILE_NO_LINK_LIVES));
        return isAllowed ? sessions.issueLink(transaction, email) : null;
      });
      if (token !== null) slot.send(signInEmail(email, `${letters.publicUrl}/account/enter?token=${token}`));
    } finally {
      slot.release();
    }
  };

  const refuseProof = async ({ customerId, sessionId }: Session): Promise<never> => {
    const now = clock.now();
    const waitMs = await database.transaction(async (transaction) => {
      const wait = await takeAttempt(transaction, `proof:${customerId}`, PROOF_RULES, now);
      const entry = { actor: { kind: "session" as const, id: sessionId }, action: "session.proof_failed", customerId };
      if (wait === 0) await insertAudit(transaction, { ...entry, now });
      return wait;
    });
    if (waitMs > 0) throw rateLimited("Too many wrong keys", waitMs);
    throw new AppError("proof_required", "That is not a living key of your account");
  };

  const proven = (session: Session): Actor => {
    if (!session.isProven)
      throw new AppError("proof_required", "Changing keys needs a fresh proof that it is you; give it and press again");
    return { kind: "session", id: session.sessionId };
  };

  return {
    async requestLink(text, address) {
      const email = parseEmail(text);
      if (email === null) throw invalidEmail("this is not a valid e-mail address", text);
      if (letters === null && data === "live")
        throw new AppError("mail_unavailable", "This server sends no letters, so nobody can sign in here by one");
      // Whoever tries a sandbox out on his own machine is nobody's nuisance.
      if (data === "live" || !isLoopback(address)) {
        const waitMs = await takeAttempt(database, `signin:${addressBlock(address)}`, NETWORK_RULES, clock.now());
        if (waitMs > 0) throw rateLimited("Too many links to sign in from this address", waitMs);
      }
      if (letters === null) return { shownToken: await sessions.issueLink(database, email.address) };
      await sendLink(email.address);
      return { shownToken: null };
    },
    async prove(session, apiKey) {
      const owner = await ownerOf(apiKey.trim());
      if (owner?.customerId !== session.customerId) return refuseProof(session);
      await sessions.prove(session);
    },
    async createKey(session, text, formId) {
      const actor = proven(session);
      const name = text.trim();
      if (!isPlainName(name, KEY_NAME_LENGTH_MAX)) throw invalidKeyName();
      return keys.run(`${session.sessionId} ${formId} create ${name}`, () =>
        accounts.createKey(session.customerId, name, actor),
      );
    },
    async rotateKey(session, keyId, formId) {
      const actor = proven(session);
      return keys.run(`${session.sessionId} ${formId} rotate ${keyId}`, () =>
        accounts.rotateKey(session.customerId, keyId, actor),
      );
    },
    async revokeKey(session, keyId) {
      const actor = proven(session);
      try {
        await accounts.revokeKey(session.customerId, keyId, actor);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "key_not_found") throw error;
        // The second press of the button: what it asks for is done.
        const { keys: own } = await accounts.account(session.customerId);
        if (!own.some((key) => key.keyId === keyId)) throw error;
      }
    },
    async stop() {
      keys.clear();
      await queue?.stop();
    },
  };
}

function invalidKeyName(): InvalidRequestError {
  const msg = `A key's name is 1 to ${KEY_NAME_LENGTH_MAX} characters that show what they are`;
  return new InvalidRequestError([{ type: "value_error", loc: ["body", "name"], msg }]);
}
