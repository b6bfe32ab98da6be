import type { FastifyRequest } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import type { SessionAuthenticator } from "../../../http/auth.ts";
import { assertSameSite, resolveSite } from "../../../http/html/site.ts";
import type { Customers } from "../customers/index.ts";
import type { Session, Sessions } from "../sessions/index.ts";
import { readSubmittedField } from "./fields.ts";
import { createFormToken, isValidFormToken, readSessionCookie } from "./site.ts";

export interface ActiveSession extends Session {
  readonly token: string;
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>;

/** Finds the sessions of browsers by their cookie, and checks the forms that they submit. */
export function createBrowserSessions({
  sessions,
  publicUrl,
}: {
  readonly sessions: Pick<Sessions, "find">;
  /** Public base URL of the service; null if not configured. */
  readonly publicUrl: string | null;
}) {
  const cookieOf = ({ headers }: FastifyRequest): string | null =>
    readSessionCookie(headers, resolveSite(publicUrl, headers.host));
  return {
    /** The session token in the cookie, whether or not its session is active; null without one. */
    cookieOf,
    /** Finds the active session of the browser. */
    async find(request: FastifyRequest): Promise<ActiveSession | null> {
      const token = cookieOf(request) ?? "";
      const session = await sessions.find(token);
      return session === null ? null : { ...session, token };
    },
    /** The CSRF token that the forms of a session contain in the field `csrf`. */
    formTokenOf: ({ token }: Pick<ActiveSession, "token">): string => createFormToken(token),
    /** @throws AppError `cross_site_refused` unless the form belongs to the session in the cookie */
    assertFormToken(request: FastifyRequest, formToken: string): void {
      if (isValidFormToken(formToken, cookieOf(request) ?? "")) return;
      throw new AppError("cross_site_refused", "This form belongs to another session: reload its page and try again");
    },
  };
}

/** @throws AppError `unauthorized` */
export function requireSession(session: ActiveSession | null): ActiveSession {
  if (session !== null) return session;
  throw new AppError("unauthorized", "Your session has ended: sign in and try again");
}

/** Authenticates the forms of pages outside the account pages as the signed-in customer. */
export function createSessionAuthenticator({
  browserSessions,
  customers,
  publicUrl,
}: {
  readonly browserSessions: BrowserSessions;
  readonly customers: Pick<Customers, "account">;
  readonly publicUrl: string | null;
}): SessionAuthenticator {
  return {
    async authenticate(request) {
      assertSameSite(request, publicUrl);
      const { customerId } = requireSession(await browserSessions.find(request));
      const { plan, allowance } = await customers.account(customerId);
      return { kind: "customer", customerId, plan, allowance };
    },
    assertForm(request) {
      browserSessions.assertFormToken(request, readSubmittedField(request.body, "csrf"));
    },
  };
}
