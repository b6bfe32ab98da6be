import { hash } from "node:crypto";
import type { Clock } from "../../ports/clock.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import { randomBase32 } from "../keys/index.ts";
import {
  deleteExpiredSessions,
  deleteSession,
  endSessions,
  insertSession,
  proveSession,
  selectLinkEmail,
  selectSession,
  selectSessions,
  takeLink,
  touchSession,
  upsertLink,
} from "./queries.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long a sign-in link is valid. */
export const LINK_MS = 30 * MINUTE_MS;
/** A session ends after this time without use. */
const IDLE_MS = 24 * HOUR_MS;
/** Maximum age of a session. */
export const SESSION_MS_MAX = 14 * 24 * HOUR_MS;
/** How long a proof of identity allows key changes. */
export const PROOF_MS = 10 * MINUTE_MS;
/** Minimum interval between writes of the last use of a session. */
const TOUCH_MS = MINUTE_MS;

/** 130 random bits, for links and for cookies. */
const TOKEN_LENGTH = 26;
const TOKEN = /^[a-z2-7]{26}$/;

/** The session of a signed-in customer. */
export interface Session {
  /** Identifies the session in the audit log. Not a secret. */
  readonly sessionId: string;
  readonly customerId: string;
  /** Whether the customer has proven their identity within `PROOF_MS`. */
  readonly isProven: boolean;
}

/** A session as displayed to its customer. */
export interface SessionView {
  readonly sessionId: string;
  readonly startedAt: Date;
  /** Updated at most once a minute. */
  readonly lastSeenAt: Date;
}

/** Writes an audit log entry in the transaction of a session change. */
export type RecordSession = (
  transaction: Transaction,
  entry: {
    readonly actor: { readonly kind: "session"; readonly id: string };
    readonly action: "session.started" | "session.proven" | "session.ended" | "session.all_ended";
    readonly customerId: string;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly now: number;
  },
) => Promise<void>;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(dependencies: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly record: RecordSession;
}) {
  const { database, clock, random, record } = dependencies;
  const activeAfter = (now: number) => ({ lastSeen: now - IDLE_MS, started: now - SESSION_MS_MAX });
  const actorOf = (sessionId: string) => ({ kind: "session", id: sessionId }) as const;

  const endSession = async (transaction: Transaction, token: string, reason: "signed_out" | "replaced") => {
    const deleted = await deleteSession(transaction, hashOf(token));
    if (deleted === null) return;
    const { sessionId, customerId } = deleted;
    const entry = { actor: actorOf(sessionId), customerId, details: { reason }, now: clock.now() };
    await record(transaction, { ...entry, action: "session.ended" });
  };

  return {
    /**
     * Creates a sign-in link for the customer with this address and invalidates the previous link. Returns its token; null if
     * no active customer has the address.
     *
     * @param email  in canonical form
     */
    async issueLink(store: Pick<Database, "query"> | Transaction, email: string): Promise<string | null> {
      const token = randomBase32(random, TOKEN_LENGTH);
      const link = { email, tokenHash: hashOf(token), expiresAt: clock.now() + LINK_MS };
      return (await upsertLink(store, link)) === null ? null : token;
    },
    /**
     * Consumes a link and starts a session with a new token. Null if the link is unknown, used, replaced or expired.
     *
     * @param previousToken  the session token this browser had before; that session ends
     */
    async begin(linkToken: string, previousToken: string | null): Promise<{ readonly token: string } | null> {
      if (!TOKEN.test(linkToken)) return null;
      const token = randomBase32(random, TOKEN_LENGTH);
      const sessionId = `ses-${randomBase32(random, TOKEN_LENGTH)}`;
      const now = clock.now();
      return database.transaction(async (transaction) => {
        const customerId = await takeLink(transaction, hashOf(linkToken), now);
        if (customerId === null) return null;
        if (previousToken !== null) await endSession(transaction, previousToken, "replaced");
        await insertSession(transaction, { sessionId, tokenHash: hashOf(token), customerId }, now);
        await record(transaction, { actor: actorOf(sessionId), action: "session.started", customerId, now });
        await deleteExpiredSessions(transaction, now - IDLE_MS);
        return { token };
      });
    },
    /** The e-mail address that a link would sign in; null as for `begin`. */
    emailOfLink: async (linkToken: string) =>
      TOKEN.test(linkToken) ? selectLinkEmail(database, hashOf(linkToken), clock.now()) : null,
    /** Finds the active session of a token. */
    async find(token: string): Promise<Session | null> {
      if (!TOKEN.test(token)) return null;
      const now = clock.now();
      const row = await selectSession(database, hashOf(token), activeAfter(now));
      if (row === null) return null;
      const { sessionId, customerId, provenAt, lastSeenAt } = row;
      if (now - lastSeenAt.getTime() >= TOUCH_MS) await touchSession(database, sessionId, now);
      return { sessionId, customerId, isProven: now - provenAt.getTime() < PROOF_MS };
    },
    /** Records a proof of identity. */
    prove: ({ sessionId, customerId }: Session) =>
      database.transaction(async (transaction) => {
        const now = clock.now();
        await proveSession(transaction, sessionId, now);
        await record(transaction, { actor: actorOf(sessionId), action: "session.proven", customerId, now });
      }),
    /** Lists the customer's active sessions, most recently used first. */
    list: (customerId: string): Promise<readonly SessionView[]> =>
      selectSessions(database, customerId, activeAfter(clock.now())),
    async end(token: string) {
      if (TOKEN.test(token)) await database.transaction((transaction) => endSession(transaction, token, "signed_out"));
    },
    /** Ends all sessions of the customer, including this one, and invalidates an unused sign-in link. */
    endAll: ({ sessionId, customerId }: Session) =>
      database.transaction(async (transaction) => {
        const details = { sessions: await endSessions(transaction, customerId) };
        const entry = { actor: actorOf(sessionId), customerId, details, now: clock.now() };
        await record(transaction, { ...entry, action: "session.all_ended" });
      }),
  };
}

/** A fast hash is sufficient for 130 random bits. */
const hashOf = (token: string): Uint8Array => new Uint8Array(hash("sha256", token, "buffer"));
