import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../domain/errors.ts";
import type { Allowance, Tier } from "../../domain/plan.ts";
import {
  acceptForms,
  createFormSubmissions,
  definePage,
  newFormId,
  type PageAnswer,
  type ProblemPage,
  problemPage,
  problemText,
  problemTitle,
  sendPage,
} from "../../http/html/index.ts";
import { invalidRequest, valueError } from "../../http/validation/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type Customers, isPlainName } from "../customers/index.ts";
import type { Session, Sessions } from "../sessions/index.ts";
import { accountPage } from "./account-page.ts";
import type { AccountPage, AccountSettings } from "./model.ts";
import * as pages from "./pages.ts";
import { plansPage } from "./plans-page.ts";
import * as schema from "./schema.ts";
import { formToken, isFormToken, isFromSite, PLANS_PATH, readSessionCookie, sessionCookie, siteOf } from "./site.ts";

export interface AccountRouteOptions {
  readonly page: AccountPage;
  readonly customers: Customers;
  readonly sessions: Sessions;
  readonly settings: AccountSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly data: "sandbox" | "live";
  /** The service's address as customers know it; null where none is set. */
  readonly publicUrl: string | null;
  readonly usage: (customer: { readonly customerId: string; readonly allowance: Allowance }) => Promise<{
    readonly usage: Readonly<Record<Tier, number>>;
    readonly quotas: Readonly<Record<Tier, number>>;
    readonly resetsOn: string;
  }>;
}

/** The pages of `/account`. Nothing but forms is read here, and no form that was not sent from a page of this site. */
export function accountRoutes(app: FastifyInstance, options: AccountRouteOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    acceptForms(scope);
    scope.addHook("onRequest", async (request) => {
      if (request.method === "POST") assertOwnForm(request, options.publicUrl);
    });
    const routes = { ...options, ...sessionReader(options) };
    homeRoute(scope, routes);
    plansRoute(scope, routes);
    waysHome(scope);
    signUpRoute(scope, routes);
    signInRoutes(scope, routes);
    sessionRoutes(scope, routes);
    keyRoutes(scope, routes);
  });
}

interface SignedIn extends Session {
  readonly token: string;
}

type Routes = AccountRouteOptions & ReturnType<typeof sessionReader>;

function assertOwnForm(request: FastifyRequest, publicUrl: string | null): void {
  const site = siteOf(publicUrl, request.headers.host);
  if (isFromSite(request.headers, site)) return;
  throw new AppError("cross_site_refused", `This form was not sent from ${site.origin}, where this page lives`);
}

function sessionReader({ sessions, publicUrl }: AccountRouteOptions) {
  const cookieOf = ({ headers }: FastifyRequest) => readSessionCookie(headers, siteOf(publicUrl, headers.host));
  const findSession = async (request: FastifyRequest): Promise<SignedIn | null> => {
    const token = cookieOf(request);
    const session = token === null ? null : await sessions.find(token);
    return session === null || token === null ? null : { ...session, token };
  };
  return {
    cookieOf,
    findSession,
    /** Who sent a form. @throws AppError `unauthorized`; `cross_site_refused` where it is not a form of this session */
    async senderOf(request: FastifyRequest, form: { readonly csrf: string }): Promise<SignedIn> {
      const session = await findSession(request);
      if (session === null) throw new AppError("unauthorized", "Sign in again, then do this once more");
      if (isFormToken(form.csrf, session.token)) return session;
      throw new AppError("cross_site_refused", "This form is not of this session: go back to the account page");
    },
    setCookie(request: FastifyRequest, reply: FastifyReply, token: string | null): FastifyReply {
      return reply.header("set-cookie", sessionCookie(token, siteOf(publicUrl, request.headers.host)));
    },
  };
}

/** A 303 leads to a page that may be loaded again without sending the form again. */
const toAccount = (reply: FastifyReply): FastifyReply => reply.code(303).header("location", "/account").send();

/** What a browser shows again or a person types, of which only a form leads further. */
const WAYS_HOME = [
  ...["/", "/account/", "/account/sign-in", "/account/sign-up", "/account/sign-out", "/account/sign-out-everywhere"],
  ...["/account/prove", "/account/keys", "/account/keys/:key_id/rotate", "/account/keys/:key_id/revoke"],
];

function waysHome(scope: FastifyInstance): void {
  for (const url of WAYS_HOME)
    definePage(scope, { method: "GET", url, problemPage, handler: ({ reply }) => toAccount(reply) });
}

/** The page for whoever is not signed in, with what was wrong in one of its forms. */
function signedOut({ settings, data, random }: Routes, refused?: pages.RefusedField): PageAnswer {
  const { botCheck, letters } = settings;
  const canSignIn = letters !== null || data === "sandbox";
  const options = { botCheck, canSignIn, showsLinks: letters === null, formId: newFormId(random) };
  const html = pages.signedOutPage(refused === undefined ? options : { ...options, refused });
  const hasWidget = botCheck !== null && "siteKey" in botCheck;
  return hasWidget ? { html, scriptOrigin: pages.WIDGET_ORIGIN } : { html };
}

/** What was typed, whether or not it was a form. */
function typed(body: unknown, name: string): string {
  const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value.slice(0, schema.FIELD_LENGTH_MAX) : "";
}

/** Tells what was wrong in the form itself, with what was typed. A form of another site is shown to nobody. */
const problemInForm =
  (routes: Routes, form: pages.RefusedField["form"]): ProblemPage =>
  (status, error, { body }) => {
    const code = error instanceof AppError ? error.code : null;
    if (code === "cross_site_refused") return problemPage(status, error);
    const isWidgetNotDone = code === "bot_check_failed";
    const text = isWidgetNotDone
      ? "Wait for the check below to be done, then press again."
      : problemText(status, error);
    return signedOut(routes, { form, text, email: typed(body, "email"), name: typed(body, "name") });
  };

function homeRoute(scope: FastifyInstance, routes: Routes): void {
  const { settings, data, customers, sessions, usage, random } = routes;
  definePage(scope, {
    method: "GET",
    url: "/account",
    problemPage,
    async handler({ request, reply }) {
      const session = await routes.findSession(request);
      if (session === null) return sendPage(reply, 200, signedOut(routes));
      const account = await customers.account(session.customerId);
      const html = accountPage({
        account,
        month: await usage(account),
        form: { token: formToken(session.token), id: newFormId(random) },
        sessions: await sessions.list(session.customerId),
        sessionId: session.sessionId,
        isProven: session.isProven,
        canSignIn: settings.letters !== null || data === "sandbox",
        routes: scope.routeTable.entries,
      });
      return sendPage(reply, 200, html);
    },
  });
}

function plansRoute(scope: FastifyInstance, { settings, data }: Routes): void {
  definePage(scope, {
    method: "GET",
    url: PLANS_PATH,
    problemPage,
    handler({ reply }) {
      const { upgradeUrl = null } = settings;
      const html = plansPage({ routes: scope.routeTable.entries, upgradeUrl, isSandbox: data === "sandbox" });
      return sendPage(reply, 200, html);
    },
  });
}

function signUpRoute(scope: FastifyInstance, routes: Routes): void {
  const { customers, settings, data, random, clock } = routes;
  const press = createFormSubmissions<Awaited<ReturnType<Customers["signUp"]>>>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/sign-up",
    body: schema.SignUpForm,
    problemPage: problemInForm(routes, "sign-up"),
    async handler({ body, request, reply }) {
      const name = body.name.trim();
      if (name !== "" && !isPlainName(name, CUSTOMER_NAME_LENGTH_MAX))
        throw invalidRequest([valueError(["body", "name"], "write it in characters that show what they are", name)]);
      const result = await press(body.form, JSON.stringify(body), () =>
        customers.signUp({
          email: body.email,
          name: name === "" ? null : name,
          turnstileToken: body["cf-turnstile-response"],
          address: request.ip,
        }),
      );
      if (result.requiresVerification) return sendPage(reply, 200, pages.emailSentPage());
      const canSignIn = settings.letters !== null || data === "sandbox";
      const opened = { apiKey: result.apiKey, email: body.email.trim(), formId: newFormId(random), canSignIn };
      return sendPage(reply, 200, pages.accountOpenedPage(opened));
    },
  });
}

function signInRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions, settings, random, clock } = routes;
  const askOnce = createFormSubmissions<Awaited<ReturnType<AccountPage["requestLink"]>>>(scope, clock);
  const enterOnce = createFormSubmissions<Awaited<ReturnType<Sessions["begin"]>>>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/sign-in",
    body: schema.SignInForm,
    problemPage: problemInForm(routes, "sign-in"),
    async handler({ body, request, reply }) {
      const { shownToken } = await askOnce(body.form, body.email, () => page.requestLink(body.email, request.ip));
      return sendPage(reply, 200, settings.letters === null ? pages.shownLinkPage(shownToken) : pages.linkSentPage());
    },
  });
  definePage(scope, {
    method: "GET",
    url: "/account/enter",
    query: schema.LinkQuery,
    problemPage,
    async handler({ query, reply }) {
      const email = await sessions.ownerOfLink(query.token);
      return email === null
        ? sendPage(reply, 404, pages.expiredLinkPage())
        : sendPage(reply, 200, pages.confirmSignInPage(query.token, newFormId(random), email));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/enter",
    body: schema.LinkForm,
    problemPage,
    async handler({ body, request, reply }) {
      const begin = () => sessions.begin(body.token, routes.cookieOf(request));
      const begun = await enterOnce(body.form, body.token, begin);
      if (begun === null) return sendPage(reply, 404, pages.expiredLinkPage());
      return toAccount(routes.setCookie(request, reply, begun.token));
    },
  });
}

function sessionRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions } = routes;
  definePage(scope, {
    method: "POST",
    url: "/account/sign-out",
    body: schema.SessionForm,
    problemPage,
    async handler({ body, request, reply }) {
      // Without a session the button was pressed before: what it asks for is done.
      if ((await routes.findSession(request)) !== null)
        await sessions.end((await routes.senderOf(request, body)).token);
      return toAccount(routes.setCookie(request, reply, null));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/sign-out-everywhere",
    body: schema.SessionForm,
    problemPage,
    async handler({ body, request, reply }) {
      if ((await routes.findSession(request)) !== null) await sessions.endAll(await routes.senderOf(request, body));
      return toAccount(routes.setCookie(request, reply, null));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/prove",
    body: schema.ProofForm,
    problemPage,
    async handler({ body, request, reply }) {
      await page.prove(await routes.senderOf(request, body), body.api_key);
      return toAccount(reply);
    },
  });
}

const problemWithKeyName: ProblemPage = (status, error, { body }) => {
  if (status !== 409 && status !== 422) return problemPage(status, error);
  const [csrf, form, name] = [typed(body, "csrf"), typed(body, "form"), typed(body, "name")];
  return { html: pages.refusedKeyPage(problemTitle(status), { text: problemText(status, error), csrf, form, name }) };
};

function keyRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page } = routes;
  definePage(scope, {
    method: "POST",
    url: "/account/keys",
    body: schema.NewKeyForm,
    problemPage: problemWithKeyName,
    async handler({ body, request, reply }) {
      const key = await page.createKey(await routes.senderOf(request, body), body.name, body.form);
      return sendPage(reply, 200, pages.newKeyPage(key, "This is the new key:"));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/keys/:key_id/rotate",
    params: schema.KeyPath,
    body: schema.KeyForm,
    problemPage,
    async handler({ params, body, request, reply }) {
      const key = await page.rotateKey(await routes.senderOf(request, body), params.key_id, body.form);
      return sendPage(reply, 200, pages.newKeyPage(key, "The old key has ended. This one takes its place:"));
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/keys/:key_id/revoke",
    params: schema.KeyPath,
    body: schema.KeyForm,
    problemPage,
    async handler({ params, body, request, reply }) {
      await page.revokeKey(await routes.senderOf(request, body), params.key_id);
      return toAccount(reply);
    },
  });
}
