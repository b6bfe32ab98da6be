import type { FastifyInstance } from "fastify";
import { invalidValue } from "../../../domain/errors.ts";
import {
  createFormId,
  createFormSubmissions,
  definePage,
  type Page,
  redirectTo,
  sendPage,
} from "../../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type Customers, isPlainName } from "../customers/index.ts";
import type { Sessions } from "../sessions/index.ts";
import * as pages from "./pages.ts";
import * as schema from "./schema.ts";
import type { AccountPage } from "./service.ts";
import { createBrowserSignIn, createFormProblemPage, isSignInAvailable, type Routes } from "./session-routes.ts";

/** The signed-out page, with the error if a form was rejected. */
export function createSignedOutPage(routes: Routes, rejected?: pages.RejectedSignIn): Page {
  const { botCheck, emailDelivery } = routes.settings;
  const options = { botCheck, canSignIn: isSignInAvailable(routes), showsLinks: emailDelivery === null, rejected };
  return pages.createSignedOutPage({ ...options, formId: createFormId(routes.random) });
}

const createSignedOutProblemPage = (routes: Routes, form: pages.RejectedSignIn["form"]) =>
  createFormProblemPage(["email", "name"], (_secrets, rejected) => createSignedOutPage(routes, { form, ...rejected }));

/** Registers the routes of the sign-up form and of the form that requests another verification e-mail. */
export function defineSignUpRoutes(scope: FastifyInstance, routes: Routes): void {
  const { customers, random, clock } = routes;
  const signIn = createBrowserSignIn(routes);
  const submitOnce = createFormSubmissions<Awaited<ReturnType<Customers["signUp"]>> & { cookie: string | null }>(
    scope,
    clock,
  );
  const resendOnce = createFormSubmissions<void>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/sign-up",
    body: schema.SignUpForm,
    problemPage: createSignedOutProblemPage(routes, "sign-up"),
    async handler({ body, request, reply }) {
      const name = body.name.trim();
      if (name !== "" && !isPlainName(name, CUSTOMER_NAME_LENGTH_MAX))
        throw invalidValue(["body", "name"], "must not contain control or invisible characters", name);
      const result = await submitOnce(body.form, JSON.stringify(body), async () => {
        const signUp = await customers.signUp({
          email: body.email,
          name: name === "" ? null : name,
          turnstileToken: body["cf-turnstile-response"],
          address: request.ip,
        });
        const cookie = signUp.requiresVerification ? null : await signIn(request, signUp.customerId);
        return { ...signUp, cookie };
      });
      if (result.requiresVerification) return pages.createEmailSentPage(body.email.trim(), createFormId(random));
      const { apiKey, cookie } = result;
      if (cookie !== null) reply.header("set-cookie", cookie);
      const origin = routes.originOf(request);
      return pages.createAccountCreatedPage({ apiKey, origin, isSignedIn: cookie !== null });
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/resend",
    body: schema.SignInForm,
    problemPage: createSignedOutProblemPage(routes, "sign-up"),
    async handler({ body, request }) {
      await resendOnce(body.form, body.email, () => customers.resend(body.email, request.ip));
      return pages.createEmailSentPage(body.email.trim(), createFormId(random));
    },
  });
}

/** Registers the routes of the form that requests a sign-in link, and of the page that the link opens. */
export function defineSignInRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, sessions, settings, random, clock } = routes;
  const requestLinkOnce = createFormSubmissions<Awaited<ReturnType<AccountPage["requestLink"]>>>(scope, clock);
  const enterOnce = createFormSubmissions<Awaited<ReturnType<Sessions["begin"]>>>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/sign-in",
    body: schema.SignInForm,
    problemPage: createSignedOutProblemPage(routes, "sign-in"),
    async handler({ body, request }) {
      const requestLink = () => page.requestLink(body.email, request.ip);
      const { displayedToken } = await requestLinkOnce(body.form, body.email, requestLink);
      return settings.emailDelivery === null
        ? pages.createDisplayedLinkPage(displayedToken)
        : pages.createLinkSentPage(body.email.trim(), createFormId(random));
    },
  });
  definePage(scope, {
    method: "GET",
    url: "/account/enter",
    query: schema.LinkQuery,
    async handler({ query, reply }) {
      const email = await sessions.emailOfLink(query.token);
      return email === null
        ? sendPage(reply, 404, pages.createExpiredLinkPage())
        : pages.createConfirmSignInPage(query.token, createFormId(random), email);
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/enter",
    body: schema.LinkForm,
    async handler({ body, request, reply }) {
      const beginSession = () => sessions.begin(body.token, routes.cookieOf(request));
      const newSession = await enterOnce(body.form, body.token, beginSession);
      if (newSession === null) return sendPage(reply, 404, pages.createExpiredLinkPage());
      return redirectTo(routes.setCookie(request, reply, newSession.token), "/account");
    },
  });
}
