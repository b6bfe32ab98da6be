import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../domain/errors.ts";
import type { Allowance, Tier } from "../../domain/plan.ts";
import { acceptForms } from "../../http/forms.ts";
import { definePage, failureText, sendPage } from "../../http/pages.ts";
import { invalidRequest, valueError } from "../../http/validation.ts";
import type { Random } from "../../ports/random.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type Customers, isPlainName } from "../customers/index.ts";
import { randomBase32 } from "../keys/index.ts";
import { noticePage } from "../pages/index.ts";
import { isLinkToken, type Session, type Sessions } from "../sessions/index.ts";
import type { AccountPage, AccountSettings } from "./model.ts";
import * as pages from "./pages.ts";
import * as schema from "./schema.ts";
import { formToken, isFormToken, isFromSite, readSessionCookie, sessionCookie, siteOf } from "./site.ts";

const FORM_ID_LENGTH = 16;

export interface AccountRouteOptions {
  readonly page: AccountPage;
  readonly customers: Customers;
  readonly sessions: Sessions;
  readonly settings: AccountSettings;
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

/** What is wrong, to a person. */
const TITLES: Readonly<Record<number, string>> = {
  401: "You are signed out",
  403: "This was refused",
  404: "There is no such thing",
  409: "This cannot be done",
  413: "This is too much",
  422: "Something in the form is not right",
  429: "Too many attempts",
};

const problemPage = (status: number, error: unknown): string =>
  noticePage(
    TITLES[status] ?? (status >= 500 ? "This does not work at the moment" : "This cannot be read"),
    failureText(error) ?? (status < 500 ? "This is not a form that this page has." : "Try again in a moment."),
  );

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

function homeRoute(scope: FastifyInstance, routes: Routes): void {
  const { settings, data, customers, usage, random } = routes;
  const canSignIn = settings.letters !== null || data === "sandbox";
  definePage(scope, {
    method: "GET",
    url: "/account",
    problemPage,
    async handler({ request, reply }) {
      const session = await routes.findSession(request);
      if (session === null) {
        const showsLinks = settings.letters === null;
        const html = pages.signedOutPage({ botCheck: settings.botCheck, canSignIn, showsLinks });
        const hasWidget = settings.botCheck !== null && "siteKey" in settings.botCheck;
        return sendPage(reply, 200, html, hasWidget ? { scriptOrigin: pages.WIDGET_ORIGIN } : {});
      }
      const account = await customers.account(session.customerId);
      const form = { token: formToken(session.token), id: randomBase32(random, FORM_ID_LENGTH) };
      const { isProven } = session;
      return sendPage(
        reply,
        200,
        pages.accountPage({ account, month: await usage(account), form, isProven, canSignIn }),
      );
    },
  });
}

function signUpRoute(scope: FastifyInstance, { customers }: Routes): void {
  definePage(scope, {
    method: "POST",
    url: "/account/sign-up",
    body: schema.SignUpForm,
    problemPage,
    async handler({ body, request, reply }) {
      const name = body.name.trim();
      if (name !== "" && !isPlainName(name, CUSTOMER_NAME_LENGTH_MAX))
        throw invalidRequest([valueError(["body", "name"], "write it in characters that show what they are", name)]);
      const result = await customers.signUp({
        email: body.email,
        name: name === "" ? null : name,
        turnstileToken: body["cf-turnstile-response"],
        address: request.ip,
      });
      const html = result.requiresVerification
        ? pages.letterSentPage()
        : pages.openedPage(result.apiKey, body.email.trim());
      return sendPage(reply, 200, html);
    },
  });
}

function signInRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions, settings } = routes;
  definePage(scope, {
    method: "POST",
    url: "/account/sign-in",
    body: schema.SignInForm,
    problemPage,
    async handler({ body, request, reply }) {
      const { shownToken } = await page.requestLink(body.email, request.ip);
      return sendPage(reply, 200, settings.letters === null ? pages.shownLinkPage(shownToken) : pages.linkSentPage());
    },
  });
  definePage(scope, {
    method: "GET",
    url: "/account/enter",
    query: schema.LinkQuery,
    problemPage,
    handler({ query, reply }) {
      return isLinkToken(query.token)
        ? sendPage(reply, 200, pages.enterPage(query.token))
        : sendPage(reply, 404, pages.deadLinkPage());
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/enter",
    body: schema.LinkForm,
    problemPage,
    async handler({ body, request, reply }) {
      const begun = await sessions.begin(body.token, routes.cookieOf(request));
      if (begun === null) return sendPage(reply, 404, pages.deadLinkPage());
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
      const { token } = await routes.senderOf(request, body);
      await sessions.end(token);
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

function keyRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page } = routes;
  definePage(scope, {
    method: "POST",
    url: "/account/keys",
    body: schema.NewKeyForm,
    problemPage,
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
