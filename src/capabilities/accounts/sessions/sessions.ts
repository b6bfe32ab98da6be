import { HOUR_MS, MINUTE_MS } from "../../../lib/durations.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { createToken, hashToken, isToken } from "../keys/index.ts";
import {
  deleteExpiredSessions,
  deleteSession,
  endSessions,
  insertSession,
  lockActiveCustomer,
  markReauthenticated,
  selectLinkEmail,
  selectSession,
  selectSessions,
  takeLink,
  updateLastSeen,
  upsertLink,
} from "./queries.ts";

/** How long a sign-in link is valid. */
export const SIGN_IN_LINK_MS = 30 * MINUTE_MS;
/** A session ends after this time without use. */
const IDLE_MS_MAX = 24 * HOUR_MS;
/** Maximum age of a session. */
export const SESSION_MS_MAX = 14 * 24 * HOUR_MS;
/** How long key changes are allowed after a sign-in or reauthentication. */
export const REAUTHENTICATION_MS = 10 * MINUTE_MS;
/** Minimum interval between writes of the last use of a session. */
const TOUCH_INTERVAL_MS = MINUTE_MS;

/** The session of a signed-in customer. */
export interface Session {
  /** Identifies the session in the audit log. Not a secret. */
  readonly sessionId: string;
  readonly customerId: string;
  /** Whether the customer signed in or reauthenticated less than `REAUTHENTICATION_MS` ago. */
  readonly isProven: boolean;
}

/** A session as displayed to its customer. `lastSeenAt` is updated at most once a minute. */
export type SessionView = Awaited<ReturnType<typeof selectSessions>>[number];

/** Writes an audit log entry in the transaction of a session change. */
type RecordSession = (
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

export function createSessions({
  database,
  clock,
  random,
  record: recordAudit,
}: Pick<AreaPorts, "database" | "clock" | "random"> & { readonly record: RecordSession }) {
  const activeSessionBounds = (now: number) => ({ lastSeen: now - IDLE_MS_MAX, started: now - SESSION_MS_MAX });
  const createActor = (sessionId: string) => ({ kind: "session", id: sessionId }) as const;

  const endSession = async (transaction: Transaction, token: string, reason: "signed_out" | "replaced") => {
    const endedSession = await deleteSession(transaction, hashToken(token));
    if (endedSession === null) return;
    const { sessionId, customerId } = endedSession;
    const entry = { actor: createActor(sessionId), customerId, details: { reason }, now: clock.now() };
    await recordAudit(transaction, { ...entry, action: "session.ended" });
  };

  const startSession = async (transaction: Transaction, customerId: string, previousToken: string | null) => {
    const token = createToken(random);
    const sessionId = `ses-${createToken(random)}`;
    const now = clock.now();
    if (previousToken !== null) await endSession(transaction, previousToken, "replaced");
    await insertSession(transaction, { sessionId, tokenHash: hashToken(token), customerId }, now);
    await recordAudit(transaction, { actor: createActor(sessionId), action: "session.started", customerId, now });
    await deleteExpiredSessions(transaction, now - IDLE_MS_MAX);
    return { token };
  };

  return {
    /**
     * Creates a sign-in link for the customer with this address and invalidates the previous link. Returns its token;
     * null if no active customer has the address.
     *
     * @param email  in canonical form
     */
    async issueLink(queryRunner: Pick<Database, "query"> | Transaction, email: string): Promise<string | null> {
      const token = createToken(random);
      const link = { email, tokenHash: hashToken(token), expiresAt: clock.now() + SIGN_IN_LINK_MS };
      return (await upsertLink(queryRunner, link)) === null ? null : token;
    },
    /**
     * Consumes a link and starts a session with a new token. Returns null if the link is unknown, used, replaced or
     * expired.
     *
     * @param previousToken  the browser's previous session token; its session ends
     */
    async begin(linkToken: string, previousToken: string | null): Promise<{ readonly token: string } | null> {
      if (!isToken(linkToken)) return null;
      return database.transaction(async (transaction) => {
        const customerId = await takeLink(transaction, hashToken(linkToken), clock.now());
        return customerId === null ? null : startSession(transaction, customerId, previousToken);
      }, "request");
    },
    /**
     * Starts a session of a customer who has just signed up. Returns null if the customer is not active.
     *
     * @param previousToken  as for `begin`
     */
    beginAfterSignUp: (customerId: string, previousToken: string | null) =>
      database.transaction(
        async (transaction) =>
          (await lockActiveCustomer(transaction, customerId))
            ? startSession(transaction, customerId, previousToken)
            : null,
        "request",
      ),
    /** Returns the e-mail address of a link's customer; null in the same cases as `begin`. */
    emailOfLink: async (linkToken: string) =>
      isToken(linkToken) ? selectLinkEmail(database, hashToken(linkToken), clock.now()) : null,
    /** Finds the active session of a token. */
    async find(token: string): Promise<Session | null> {
      if (!isToken(token)) return null;
      const now = clock.now();
      const row = await selectSession(database, hashToken(token), activeSessionBounds(now));
      if (row === null) return null;
      const { sessionId, customerId, provenAt, lastSeenAt } = row;
      if (now - lastSeenAt.getTime() >= TOUCH_INTERVAL_MS) await updateLastSeen(database, sessionId, now);
      return { sessionId, customerId, isProven: now - provenAt.getTime() < REAUTHENTICATION_MS };
    },
    /** Records a reauthentication of the session. */
    prove: ({ sessionId, customerId }: Session) =>
      database.transaction(async (transaction) => {
        const now = clock.now();
        await markReauthenticated(transaction, sessionId, now);
        await recordAudit(transaction, { actor: createActor(sessionId), action: "session.proven", customerId, now });
      }, "request"),
    /** Lists the customer's active sessions, most recently used first. */
    list: (customerId: string): Promise<readonly SessionView[]> =>
      selectSessions(database, customerId, activeSessionBounds(clock.now())),
    async end(token: string) {
      if (isToken(token))
        await database.transaction((transaction) => endSession(transaction, token, "signed_out"), "request");
    },
    /** Ends all sessions of the customer, including this one, and invalidates an unused sign-in link. */
    endAll: ({ sessionId, customerId }: Session) =>
      database.transaction(async (transaction) => {
        const details = { sessions: await endSessions(transaction, customerId) };
        const entry = { actor: createActor(sessionId), customerId, details, now: clock.now() };
        await recordAudit(transaction, { ...entry, action: "session.all_ended" });
      }, "request"),
  };
}
