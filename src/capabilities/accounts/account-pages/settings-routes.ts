import type { FastifyInstance } from "fastify";
import { createFormSubmissions, definePage, redirectTo, sendPage } from "../../../http/html/index.ts";
import { readSubmittedField } from "./fields.ts";
import * as pages from "./pages.ts";
import * as schema from "./schema.ts";
import type { AccountPage } from "./service.ts";
import { createFormProblemPage, isSignInAvailable, type Routes } from "./session-routes.ts";
import * as views from "./settings-page.ts";

const SETTINGS_PATH = "/account/settings";

/** Registers the settings page and the pages that change the e-mail address or delete the account. */
export function defineSettingsRoutes(scope: FastifyInstance, routes: Routes): void {
  const { customers, sessions } = routes;
  definePage(scope, {
    method: "GET",
    url: SETTINGS_PATH,
    handler: (context) =>
      routes.whenSignedIn(context, async (session, form) => {
        const { customerId, sessionId } = session;
        return views.createSettingsPage({
          account: await customers.account(customerId),
          form,
          proof: await routes.renderProof(session, form, SETTINGS_PATH),
          canChangeEmail: isSignInAvailable(routes),
          pendingEmail: await customers.emailChanges.find(customerId),
          sessions: await sessions.list(customerId),
          sessionId,
        });
      }),
  });
  definePage(scope, {
    method: "GET",
    url: "/account/sign-out-everywhere",
    handler: (context) => routes.whenSignedIn(context, (_session, form) => views.createSignOutEverywherePage(form)),
  });
  defineEmailRoutes(scope, routes);
  defineDeletionRoutes(scope, routes);
}

function defineEmailRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, customers, settings, clock } = routes;
  const requestOnce = createFormSubmissions<Awaited<ReturnType<AccountPage["requestEmailChange"]>>>(scope, clock);
  const confirmOnce = createFormSubmissions<{ readonly email: string } | null>(scope, clock);
  definePage(scope, {
    method: "POST",
    url: "/account/email",
    body: schema.EmailForm,
    problemPage: createFormProblemPage(["email"], views.createRejectedEmailPage),
    async handler({ body, request }) {
      const session = await routes.sessionOf(request, body);
      const requestChange = () => page.requestEmailChange(session, body.email);
      const subject = `${session.sessionId} ${body.email}`;
      const { displayedToken } = await requestOnce(body.form, subject, requestChange);
      const form = routes.secretsOf(session);
      return settings.emailDelivery === null
        ? views.createDisplayedEmailLinkPage(form, displayedToken)
        : views.createEmailChangeSentPage(form, body.email.trim());
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/email/cancel",
    body: schema.SessionForm,
    async handler({ body, request, reply }) {
      await customers.emailChanges.cancel((await routes.sessionOf(request, body)).customerId);
      return redirectTo(reply, SETTINGS_PATH);
    },
  });
  definePage(scope, {
    method: "GET",
    url: "/account/email/confirm",
    query: schema.LinkQuery,
    async handler({ query, request, reply }) {
      const session = await routes.findSession(request);
      // Requires a session, because the owner of the mailbox may not be the customer who requested the link.
      if (session === null) return pages.createSignInFirstPage();
      const change = await customers.emailChanges.find(session.customerId);
      return change === null
        ? sendPage(reply, 404, pages.createExpiredEmailLinkPage())
        : views.createConfirmEmailPage(routes.secretsOf(session), query.token, change.email);
    },
  });
  definePage(scope, {
    method: "POST",
    url: "/account/email/confirm",
    body: schema.EmailLinkForm,
    async handler({ body, request, reply }) {
      const session = await routes.sessionOf(request, body);
      const confirmChange = () => customers.emailChanges.confirm(session, body.token);
      const result = await confirmOnce(body.form, `${session.sessionId} ${body.token}`, confirmChange);
      return result === null
        ? sendPage(reply, 404, pages.createExpiredEmailLinkPage())
        : redirectTo(reply, SETTINGS_PATH);
    },
  });
}

const showDeletionForm = createFormProblemPage(["confirmation"], (form, rejected, body) =>
  views.createDeleteAccountPage(form, readSubmittedField(body, "expected"), rejected),
);

function defineDeletionRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, customers, clock } = routes;
  const deleteOnce = createFormSubmissions<void>(scope, clock);
  definePage(scope, {
    method: "GET",
    url: "/account/delete",
    handler: (context) =>
      routes.whenSignedIn(context, async (session, form) => {
        if (!session.isProven)
          return pages.createReauthenticationPage(await routes.readProof(session, form, "/account/delete"));
        const { email, customerId } = await customers.account(session.customerId);
        return views.createDeleteAccountPage(form, email ?? customerId, null);
      }),
  });
  definePage(scope, {
    method: "POST",
    url: "/account/delete",
    body: schema.DeletionForm,
    problemPage: showDeletionForm,
    async handler({ body, request, reply }) {
      // The first submission ends the session, so a repeated submission must not read it.
      const subject = `${routes.cookieOf(request)} ${body.csrf} ${body.confirmation}`;
      await deleteOnce(body.form, subject, async () =>
        page.deleteAccount(await routes.sessionOf(request, body), body.confirmation),
      );
      return sendPage(routes.clearCookie(request, reply), 200, views.createAccountDeletedPage());
    },
  });
}
