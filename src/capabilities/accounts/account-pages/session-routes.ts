import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import {
  createFormId,
  createProblemPage,
  definePage,
  type Page,
  type PageResult,
  type ProblemPage,
  redirectTo,
} from "../../../http/html/index.ts";
import { isFromSite, resolveSite } from "../../../http/html/site.ts";
import type { AreaPorts } from "../../area-ports.ts";
import type { Activity } from "../activity/index.ts";
import type { Customers, ReadUsage } from "../customers/index.ts";
import type { Sessions } from "../sessions/index.ts";
import { type ActiveSession, type BrowserSessions, requireSession } from "./authenticator.ts";
import { type FormSecrets, type RejectedForm, readSubmittedField, toFormError } from "./fields.ts";
import type { AccountSettings } from "./model.ts";
import { createReauthenticationPage, renderReauthenticationSection } from "./pages.ts";
import * as schema from "./schema.ts";
import type { AccountPage } from "./service.ts";
import { createSessionCookie, readSessionCookie } from "./site.ts";

export interface AccountRouteOptions extends Pick<AreaPorts, "clock" | "random" | "data" | "publicUrl"> {
  readonly page: AccountPage;
  readonly customers: Customers;
  readonly sessions: Sessions;
  readonly browserSessions: BrowserSessions;
  readonly settings: AccountSettings;
  readonly activity: Pick<Activity, "usage" | "requests">;
  readonly usage: ReadUsage;
}

export type Routes = AccountRouteOptions & ReturnType<typeof createSessionReader>;

export const isSignInAvailable = ({ settings }: Pick<Routes, "settings">): boolean =>
  settings.emailDelivery !== null || settings.displaysLinks === true;

/** Returns the secrets of a rejected form, so that the form can be submitted again. */
const readSubmittedSecrets = (body: unknown): FormSecrets => ({
  token: readSubmittedField(body, "csrf"),
  id: readSubmittedField(body, "form"),
});

/** Displays a rejected form again, with its error and the submitted values of these fields. */
export const createFormProblemPage =
  (
    fields: readonly string[],
    render: (form: FormSecrets, rejected: RejectedForm, body: unknown) => Page,
  ): ProblemPage =>
  (status, error, { body }) => {
    if (!isFormProblem(status, error)) return createProblemPage(status, error);
    const values = Object.fromEntries(fields.map((name) => [name, readSubmittedField(body, name)]));
    return render(readSubmittedSecrets(body), { error: toFormError(status, error), values }, body);
  };

/** Whether the user can fix the error in the form. Cross-site submissions and ended sessions get an error page instead. */
function isFormProblem(status: number, error: unknown): boolean {
  const code = error instanceof AppError ? error.code : null;
  return [409, 422, 429, 503].includes(status) || (status === 403 && code === "bot_check_failed");
}

export function createSessionReader({ browserSessions, publicUrl, random, settings, customers }: AccountRouteOptions) {
  const readSite = ({ headers }: FastifyRequest) => resolveSite(publicUrl, headers.host);
  const findSession = browserSessions.find;
  /** Creates the hidden fields for the forms of one page. */
  const secretsOf = (session: ActiveSession): FormSecrets => ({
    token: browserSessions.formTokenOf(session),
    id: createFormId(random),
  });
  const readProof = async ({ customerId }: ActiveSession, form: FormSecrets, next: string) => {
    const { email } = await customers.account(customerId);
    return { email, form, canSignIn: isSignInAvailable({ settings }), next };
  };
  return {
    cookieOf: browserSessions.cookieOf,
    findSession,
    originOf: (request: FastifyRequest): string => readSite(request).origin,
    /** Finds the session that submitted a form. @throws AppError `unauthorized`; `cross_site_refused` for a wrong CSRF token */
    async sessionOf(request: FastifyRequest, form: { readonly csrf: string }): Promise<ActiveSession> {
      const session = requireSession(await findSession(request));
      browserSessions.assertFormToken(request, form.csrf);
      return session;
    },
    assertFormToken: browserSessions.assertFormToken,
    setCookie(request: FastifyRequest, reply: FastifyReply, token: string): FastifyReply {
      return reply.header("set-cookie", createSessionCookie(token, readSite(request)));
    },
    /** Removes the session cookie and the API key that `key.js` stored in the browser tab. */
    clearCookie(request: FastifyRequest, reply: FastifyReply): FastifyReply {
      return reply
        .header("set-cookie", createSessionCookie(null, readSite(request)))
        .header("clear-site-data", '"storage"');
    },
    secretsOf,
    /** Shows a page to a signed-in customer. Redirects other visitors to `/account`. */
    async whenSignedIn(
      { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
      show: (session: ActiveSession, form: FormSecrets) => PageResult | Promise<PageResult>,
    ): Promise<PageResult> {
      const session = await findSession(request);
      return session === null ? redirectTo(reply, "/account") : show(session, secretsOf(session));
    },
    readProof,
    /** Renders the reauthentication form; null if the customer signed in or reauthenticated recently. */
    renderProof: async (session: ActiveSession, form: FormSecrets, next: string) =>
      session.isProven ? null : renderReauthenticationSection(await readProof(session, form, next)),
  };
}

/**
 * Creates a function that signs in a browser in which a customer has just signed up. It returns the `Set-Cookie` header,
 * or null if the form was submitted from another site.
 */
export const createBrowserSignIn =
  ({ sessions, publicUrl }: Pick<AccountRouteOptions, "sessions" | "publicUrl">) =>
  async ({ headers }: FastifyRequest, customerId: string): Promise<string | null> => {
    const site = resolveSite(publicUrl, headers.host);
    // Another site could otherwise sign in the user to an account of the attacker.
    if (!isFromSite(headers, site)) return null;
    // The account exists and its key is shown only once, so the response must not fail.
    const session = await sessions.beginAfterSignUp(customerId, readSessionCookie(headers, site)).catch(() => null);
    return session === null ? null : createSessionCookie(session.token, site);
  };

const createProofProblem: ProblemPage = (status, error, { body }) => {
  const isWrongKey = error instanceof AppError && error.code === "proof_required";
  if (!isWrongKey && !isFormProblem(status, error)) return createProblemPage(status, error);
  const { message } = toFormError(status, error);
  const rejected = { error: { field: isWrongKey ? "api_key" : null, message }, values: {} };
  const next = readSubmittedField(body, "next");
  return createReauthenticationPage({
    email: null,
    form: readSubmittedSecrets(body),
    canSignIn: false,
    next,
    rejected,
  });
};

/** Registers the form targets for sign-out and reauthentication. */
export function defineSessionRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions } = routes;
  const defineSignOutRoute = (url: string, signOut: (session: ActiveSession) => Promise<void>) =>
    definePage(scope, {
      method: "POST",
      url,
      body: schema.SessionForm,
      async handler({ body, request, reply }) {
        // Without a session the user is already signed out, for example after a double click.
        const session = await routes.findSession(request);
        if (session !== null) {
          routes.assertFormToken(request, body.csrf);
          await signOut(session);
        }
        return redirectTo(routes.clearCookie(request, reply), "/account");
      },
    });
  defineSignOutRoute("/account/sign-out", ({ token }) => sessions.end(token));
  defineSignOutRoute("/account/sign-out-everywhere", (session) => sessions.endAll(session));
  definePage(scope, {
    method: "POST",
    url: "/account/prove",
    body: schema.ReauthenticationForm,
    problemPage: createProofProblem,
    async handler({ body, request, reply }) {
      await page.prove(await routes.sessionOf(request, body), body.api_key);
      return redirectTo(reply, body.next);
    },
  });
}
