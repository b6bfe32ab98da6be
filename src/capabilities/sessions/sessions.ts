import { hash } from "node:crypto";
import type { Clock } from "../../ports/clock.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import { randomBase32 } from "../keys/index.ts";
import {
  deleteSession,
  endSessions,
  insertSession,
  proveSession,
  selectLinkEmail,
  selectSession,
  selectSessions,
  sweepSessions,
  takeLink,
  touchSession,
  upsertLink,
} from "./queries.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long a link from a letter works. */
export const LINK_MS = 30 * MINUTE_MS;
/** A session that is not used for so long is over; and so is one that was begun so long ago. */
const IDLE_MS = 24 * HOUR_MS;
export const SESSION_MS_MAX = 14 * 24 * HOUR_MS;
/** For so long after a customer has proved who he is, he may change keys. */
export const PROOF_MS = 10 * MINUTE_MS;
/** A session's last use is written at most so often. */
const TOUCH_MS = MINUTE_MS;

/** 130 random bits, for links and for cookies. */
const TOKEN_LENGTH = 26;
const TOKEN = /^[a-z2-7]{26}$/;

/** Somebody who is signed in. */
export interface Session {
  /** Names the session in the audit log; opens nothing. */
  readonly sessionId: string;
  readonly customerId: string;
  /** Whether the customer has proved within `PROOF_MS` who he is. */
  readonly isProven: boolean;
}

/** A session as its customer may see it. */
export interface SessionView {
  readonly sessionId: string;
  readonly startedAt: Date;
  /** To the minute. */
  readonly lastSeenAt: Date;
}

/** Traces what happens to sessions, in the transaction in which it does. */
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

export interface Sessions {
  /**
   * A new link's token for whoever has this address, which ends the link before; null where nobody may sign in with it.
   *
   * @param email  in canonical form
   */
  issueLink(store: Pick<Database, "query"> | Transaction, email: string): Promise<string | null>;
  /**
   * Uses a link's token up and begins a session with a new token; null where it is unknown, used, replaced or expired.
   *
   * @param earlier  the token of the session that this browser had until now, which ends
   */
  begin(linkToken: string, earlier: string | null): Promise<{ readonly token: string } | null>;
  /** The address of whoever a link would sign in; null as for `begin`. */
  ownerOfLink(linkToken: string): Promise<string | null>;
  /** The living session of this token. */
  find(token: string): Promise<Session | null>;
  /** The customer has proved anew who he is. */
  prove(session: Session): Promise<void>;
  /** The customer's living sessions, the one last used first. */
  list(customerId: string): Promise<readonly SessionView[]>;
  end(token: string): Promise<void>;
  /** Ends every session of the customer, this one too, and the link that waits in a mailbox. */
  endAll(session: Session): Promise<void>;
}

/** Whether a text can be a link's token at all. */
const isLinkToken = (text: string): boolean => TOKEN.test(text);

export function createSessions(tools: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly record: RecordSession;
}): Sessions {
  const { database, clock, random, record } = tools;
  const after = (now: number) => ({ seen: now - IDLE_MS, started: now - SESSION_MS_MAX });
  const actorOf = (sessionId: string) => ({ kind: "session", id: sessionId }) as const;

  const endIn = async (transaction: Transaction, token: string, reason: "signed_out" | "replaced") => {
    const ended = await deleteSession(transaction, hashOf(token));
    if (ended === null) return;
    const { sessionId, customerId } = ended;
    const entry = { actor: actorOf(sessionId), customerId, details: { reason }, now: clock.now() };
    await record(transaction, { ...entry, action: "session.ended" });
  };

  return {
    async issueLink(store, email) {
      const token = randomBase32(random, TOKEN_LENGTH);
      const link = { email, tokenHash: hashOf(token), expiresAt: clock.now() + LINK_MS };
      return (await upsertLink(store, link)) === null ? null : token;
    },
    async begin(linkToken, earlier) {
      if (!isLinkToken(linkToken)) return null;
      const token = randomBase32(random, TOKEN_LENGTH);
      const sessionId = `ses-${randomBase32(random, TOKEN_LENGTH)}`;
      const now = clock.now();
      return database.transaction(async (transaction) => {
        const customerId = await takeLink(transaction, hashOf(linkToken), now);
        if (customerId === null) return null;
        if (earlier !== null) await endIn(transaction, earlier, "replaced");
        await insertSession(transaction, { sessionId, tokenHash: hashOf(token), customerId }, now);
        await record(transaction, { actor: actorOf(sessionId), action: "session.started", customerId, now });
        await sweepSessions(transaction, now - IDLE_MS);
        return { token };
      });
    },
    ownerOfLink: async (linkToken) =>
      isLinkToken(linkToken) ? selectLinkEmail(database, hashOf(linkToken), clock.now()) : null,
    async find(token) {
      if (!TOKEN.test(token)) return null;
      const now = clock.now();
      const row = await selectSession(database, hashOf(token), after(now));
      if (row === null) return null;
      const { session_id: sessionId, customer_id: customerId, proven_at: provenAt, last_seen_at: seenAt } = row;
      if (now - seenAt.getTime() >= TOUCH_MS) await touchSession(database, sessionId, now);
      return { sessionId, customerId, isProven: now - provenAt.getTime() < PROOF_MS };
    },
    prove: ({ sessionId, customerId }) =>
      database.transaction(async (transaction) => {
        const now = clock.now();
        await proveSession(transaction, sessionId, now);
        await record(transaction, { actor: actorOf(sessionId), action: "session.proven", customerId, now });
      }),
    async list(customerId) {
      const rows = await selectSessions(database, customerId, after(clock.now()));
      return rows.map((row) => ({
        sessionId: row.session_id,
        startedAt: row.started_at,
        lastSeenAt: row.last_seen_at,
      }));
    },
    async end(token) {
      if (TOKEN.test(token)) await database.transaction((transaction) => endIn(transaction, token, "signed_out"));
    },
    endAll: ({ sessionId, customerId }) =>
      database.transaction(async (transaction) => {
        const details = { sessions: await endSessions(transaction, customerId) };
        const entry = { actor: actorOf(sessionId), customerId, details, now: clock.now() };
        await record(transaction, { ...entry, action: "session.all_ended" });
      }),
  };
}

/** A fast hash suffices for 130 random bits. */
const hashOf = (token: string): Uint8Array => new Uint8Array(hash("sha256", token, "buffer"));
