import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, InvalidRequestError } from "../../domain/errors.ts";
import {
  acceptForms,
  createFormId,
  createFormSubmissions,
  definePage,
  describeProblem,
  type HtmlPage,
  type ProblemPage,
  renderProblemPage,
  selectProblemTitle,
  sendPage,
} from "../../http/html/index.ts";
import { valueError } from "../../http/validation/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type Customers, isPlainName, type ReadUsage } from "../customers/index.ts";
import type { Session, Sessions } from "../sessions/index.ts";
import { renderAccountPage } from "./account-page.ts";
import type { AccountSettings } from "./model.ts";
import * as pages from "./pages.ts";
import { renderPlansPage } from "./plans-page.ts";
import * as schema from "./schema.ts";
import type { AccountPage } from "./service.ts";
import {
  createFormToken,
  createSessionCookie,
  isFormToken,
  isFromSite,
  PLANS_PATH,
  readSessionCookie,
  resolveSite,
} from "./site.ts";

export interface AccountRouteOptions {
  readonly page: AccountPage;
  readonly customers: Customers;
  readonly sessions: Sessions;
  readonly settings: AccountSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly data: "sandbox" | "live";
  /** Public base URL of the service; null if not configured. */
  readonly publicUrl: string | null;
  readonly usage: ReadUsage;
}

/** Registers the pages under `/account`. POST requests must be HTML forms submitted from this site. */
export function accountRoutes(app: FastifyInstance, options: AccountRouteOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    acceptForms(scope);
    scope.addHook("onRequest", async (request) => {
      if (request.method === "POST") assertSameSite(request, options.publicUrl);
    });
    const routes = { ...options, ...createSessionReader(options) };
    defineHomeRoute(scope, routes);
    definePlansRoute(scope, routes);
    defineHomeRedirects(scope);
    defineSignUpRoute(scope, routes);
    defineSignInRoutes(scope, routes);
    defineSessionRoutes(scope, routes);
    defineKeyRoutes(scope, routes);
  });
}

interface ActiveSession extends Session {
  readonly token: string;
}

type Routes = AccountRouteOptions & ReturnType<typeof createSessionReader>;

function assertSameSite(request: FastifyRequest, publicUrl: string | null): void {
  const site = resolveSite(publicUrl, request.headers.host);
  if (isFromSite(request.headers, site)) return;
  throw new AppError("cross_site_refused", `This form was not submitted from ${site.origin}`);
}

function createSessionReader({ sessions, publicUrl }: AccountRouteOptions) {
  const readCookie = ({ headers }: FastifyRequest) => readSessionCookie(headers, resolveSite(publicUrl, headers.host));
  const findSession = async (request: FastifyRequest): Promise<ActiveSession | null> => {
    const token = readCookie(request) ?? "";
    const session = await sessions.find(token);
    return session === null ? null : { ...session, token };
  };
  return {
    cookieOf: readCookie,
    findSession,
    /** Finds the session that submitted a form. @throws AppError `unauthorized`; `cross_site_refused` for a wrong CSRF token */
    async sessionOf(request: FastifyRequest, form: { readonly csrf: string }): Promise<ActiveSession> {
      const session = await findSession(request);
      if (session === null) throw new AppError("unauthorized", "Your session has ended: sign in and try again");
      if (isFormToken(form.csrf, session.token)) return session;
      throw new AppError("cross_site_refused", "This form belongs to another session: reload the account page");
    },
    setCookie(request: FastifyRequest, reply: FastifyReply, token: string | null): FastifyReply {
      return reply.header("set-cookie", createSessionCookie(token, resolveSite(publicUrl, request.headers.host)));
    },
  };
}

/** Uses status 303, so that reloading the account page does not resubmit the form. */
const redirectToAccount = (reply: FastifyReply): FastifyReply => reply.code(303).header("location", "/account").send();

/** Form targets that a browser may request with GET (by reload or a typed URL); they redirect to the account page. */
const HOME_REDIRECTS = [
  ...["/", "/account/", "/account/sign-in", "/account/sign-up", "/account/sign-out", "/account/sign-out-everywhere"],
  ...["/account/prove", "/account/keys", "/account/keys/:key_id/rotate", "/account/keys/:key_id/revoke"],
];

function defineHomeRedirects(scope: FastifyInstance): void {
  for (const url of HOME_REDIRECTS)
    definePage(scope, { method: "GET", url, handler: ({ reply }) => redirectToAccount(reply) });
}

/** Without a mail server, sign-in is possible only in a sandbox, which displays the links. */
const isSignInAvailable = ({ settings, data }: Pick<Routes, "settings" | "data">): boolean =>
  settings.emailDelivery !== null || data === "sandbox";

/** Renders the signed-out page, with the error if a form was rejected. */
function createSignedOutPage(routes: Routes, rejected?: pages.RejectedForm): HtmlPage {
  const { botCheck, emailDelivery } = routes.settings;
  const options = { botCheck, canSignIn: isSignInAvailable(routes), showsLinks: emailDelivery === null, rejected };
  const html = pages.renderSignedOutPage({ ...options, formId: createFormId(routes.random) });
  return { html, scriptOrigin: pages.hasWidget(botCheck) ? pages.WIDGET_ORIGIN : undefined };
}

/** Returns a submitted field; empty if the body is not a form or the field is missing. */
function readSubmittedField(body: unknown, name: string): string {
  const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value.slice(0, schema.FIELD_LENGTH_MAX) : "";
}

/** Displays the error in the form with the submitted values. Cross-site submissions receive an error page without a form. */
const createFormProblemPage =
  (routes: Routes, form: pages.RejectedForm["form"]): ProblemPage =>
  (status, error, { body }) => {
    const code = error instanceof AppError ? error.code : null;
    if (code === "cross_site_refused") return renderProblemPage(status, error);
    const message =
      code === "bot_check_failed"
        ? "Wait for the bot check below to finish, then submit the form again."
        : describeProblem(status, error);
    return createSignedOutPage(routes, {
      form,
      message,
      email: readSubmittedField(body, "email"),
      name: readSubmittedField(body, "name"),
    });
  };

function defineHomeRoute(scope: FastifyInstance, routes: Routes): void {
  const { customers, sessions, usage, random } = routes;
  definePage(scope, {
    method: "GET",
    url: "/account",
    async handler({ request, reply }) {
      const session = await routes.findSession(request);
      if (session === null) return sendPage(reply, 200, createSignedOutPage(routes));
      const account = await customers.account(session.customerId);
      const html = renderAccountPage({
        account,
        month: await usage(account),
        form: { token: createFormToken(session.token), id: createFormId(random) },
        sessions: await sessions.list(session.customerId),
        sessionId: session.sessionId,
        isProven: session.isProven,
        canSignIn: isSignInAvailable(routes),
        routes: scope.routeTable.entries,
      });
      return sendPage(reply, 200, html);
    },
  });
}

function definePlansRoute(scope: FastifyInstance, { settings, data }: Routes): void {
  definePage(scope, {
    method: "GET",
    url: PLANS_PATH,
    handler({ reply }) {
      const { upgradeUrl = null } = settings;
      const html = renderPlansPage({ routes: scope.routeTable.entries, upgradeUrl, isSandbox: data === "sandbox" });
      return sendPage(reply, 200, html);
    },
  });
}

function defineSignUpRoute(scope: FastifyInstance, routes: Routes): void {
  const { customers, random, clock } = routes;
  const submitOnce = createFormSubmissions<Awaited<ReturnType<Customers["signUp"]>>>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/sign-up",
    body: schema.SignUpForm,
    problemPage: createFormProblemPage(routes, "sign-up"),
    async handler({ body, request, reply }) {
      const name = body.name.trim();
      if (name !== "" && !isPlainName(name, CUSTOMER_NAME_LENGTH_MAX))
        throw new InvalidRequestError([
          valueError(["body", "name"], "must not contain control or invisible characters", name),
        ]);
      const result = await submitOnce(body.form, JSON.stringify(body), () =>
        customers.signUp({
          email: body.email,
          name: name === "" ? null : name,
          turnstileToken: body["cf-turnstile-response"],
          address: request.ip,
        }),
      );
      if (result.requiresVerification) return sendPage(reply, 200, pages.renderEmailSentPage());
      const page = pages.renderAccountCreatedPage({
        apiKey: result.apiKey,
        email: body.email.trim(),
        formId: createFormId(random),
        canSignIn: isSignInAvailable(routes),
      });
      return sendPage(reply, 200, page);
    },
  });
}

function defineSignInRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions, settings, random, clock } = routes;
  const requestLinkOnce = createFormSubmissions<Awaited<ReturnType<AccountPage["requestLink"]>>>(scope, clock);
  const enterOnce = createFormSubmissions<Awaited<ReturnType<Sessions["begin"]>>>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/sign-in",
    body: schema.SignInForm,
    problemPage: createFormProblemPage(routes, "sign-in"),
    async handler({ body, request, reply }) {
      const requestLink = () => page.requestLink(body.email, request.ip);
      const { displayedToken } = await requestLinkOnce(body.form, body.email, requestLink);
      const isDisplayed = settings.emailDelivery === null;
      return sendPage(
        reply,
        200,
        isDisplayed ? pages.renderDisplayedLinkPage(displayedToken) : pages.renderLinkSentPage(),
      );
    },
  });
  definePage(scope, {
    method: "GET",
    url: "/account/enter",
    query: schema.LinkQuery,
    async handler({ query, reply }) {
      const email = await sessions.emailOfLink(query.token);
      return email === null
        ? sendPage(reply, 404, pages.renderExpiredLinkPage())
        : sendPage(reply, 200, pages.renderConfirmSignInPage(query.token, createFormId(random), email));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/enter",
    body: schema.LinkForm,
    async handler({ body, request, reply }) {
      const beginSession = () => sessions.begin(body.token, routes.cookieOf(request));
      const newSession = await enterOnce(body.form, body.token, beginSession);
      if (newSession === null) return sendPage(reply, 404, pages.renderExpiredLinkPage());
      return redirectToAccount(routes.setCookie(request, reply, newSession.token));
    },
  });
}

function defineSessionRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions } = routes;
  const defineSignOutRoute = (url: string, signOut: (session: ActiveSession) => Promise<void>) =>
    definePage(scope, {
      method: "POST",
      url,
      body: schema.SessionForm,
      async handler({ body, request, reply }) {
        // Without a session, an earlier submission of this form has already signed the user out.
        if ((await routes.findSession(request)) !== null) await signOut(await routes.sessionOf(request, body));
        return redirectToAccount(routes.setCookie(request, reply, null));
      },
    });
  defineSignOutRoute("/account/sign-out", ({ token }) => sessions.end(token));
  defineSignOutRoute("/account/sign-out-everywhere", (session) => sessions.endAll(session));
  definePage(scope, {
    method: "POST",
    url: "/account/prove",
    body: schema.ProofForm,
    async handler({ body, request, reply }) {
      await page.prove(await routes.sessionOf(request, body), body.api_key);
      return redirectToAccount(reply);
    },
  });
}

const renderKeyNameProblem: ProblemPage = (status, error, { body }) => {
  if (status !== 409 && status !== 422) return renderProblemPage(status, error);
  const [csrf = "", form = "", name = ""] = ["csrf", "form", "name"].map((field) => readSubmittedField(body, field));
  const message = describeProblem(status, error);
  return { html: pages.renderRejectedKeyPage(selectProblemTitle(status), { message, csrf, form, name }) };
};

function defineKeyRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page } = routes;
  definePage(scope, {
    method: "POST",
    url: "/account/keys",
    body: schema.NewKeyForm,
    problemPage: renderKeyNameProblem,
    async handler({ body, request, reply }) {
      const key = await page.createKey(await routes.sessionOf(request, body), body.name, body.form);
      return sendPage(reply, 200, pages.renderNewKeyPage(key, "This is your new key:"));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/keys/:key_id/rotate",
    params: schema.KeyPath,
    body: schema.KeyForm,
    async handler({ params, body, request, reply }) {
      const key = await page.rotateKey(await routes.sessionOf(request, body), params.key_id, body.form);
      return sendPage(reply, 200, pages.renderNewKeyPage(key, "The old key no longer works. Use this one instead:"));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/keys/:key_id/revoke",
    params: schema.KeyPath,
    body: schema.KeyForm,
    async handler({ params, body, request, reply }) {
      await page.revokeKey(await routes.sessionOf(request, body), params.key_id);
      return redirectToAccount(reply);
    },
  });
}
