import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import { acceptForms, definePage, redirectTo } from "../../../http/html/index.ts";
import { assertSameSite, isLoopbackHeader } from "../../../http/html/site.ts";
import { defineKeyRoutes } from "./key-routes.ts";
import { createOverviewPage } from "./overview-page.ts";
import { createRequestsPage } from "./requests-page.ts";
import * as schema from "./schema.ts";
import { type AccountRouteOptions, createSessionReader, defineSessionRoutes, type Routes } from "./session-routes.ts";
import { defineSettingsRoutes } from "./settings-routes.ts";
import { createSignedOutPage, defineSignInRoutes, defineSignUpRoutes } from "./sign-in-routes.ts";
import { createUsagePage, firstUsageDay } from "./usage-page.ts";

/** Registers the pages under `/account`. POST requests must be HTML forms submitted from this site. */
export function accountRoutes(app: FastifyInstance, options: AccountRouteOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    acceptForms(scope);
    scope.addHook("onRequest", async (request) => {
      if (options.settings.displaysLinks) assertLoopbackHost(request);
      if (request.method === "POST") assertSameSite(request, options.publicUrl);
    });
    const routes = { ...options, ...createSessionReader(options) };
    defineOverviewRoute(scope, routes);
    defineActivityRoutes(scope, routes);
    defineHomeRedirects(scope);
    defineSignUpRoutes(scope, routes);
    defineSignInRoutes(scope, routes);
    defineSessionRoutes(scope, routes);
    defineKeyRoutes(scope, routes);
    defineSettingsRoutes(scope, routes);
  });
}

/** Rejects other hosts, because others could read the sign-in links by DNS rebinding or through a proxy. */
function assertLoopbackHost({ headers: { host } }: FastifyRequest): void {
  if (isLoopbackHeader(host)) return;
  throw new AppError(
    "cross_site_refused",
    "This sandbox shows sign-in links, so its account pages open only under localhost or a loopback address. Set PARALLAX_SANDBOX_PUBLIC=1 to allow other names and to hide the links",
  );
}

/** Form targets. GET requests to them, by a reload or a typed URL, redirect to the account page. */
const HOME_REDIRECTS = [
  ...["/account/", "/account/sign-in", "/account/sign-up", "/account/resend", "/account/sign-out"],
  ...["/account/prove", "/account/email", "/account/email/cancel"],
];

function defineHomeRedirects(scope: FastifyInstance): void {
  for (const url of HOME_REDIRECTS)
    definePage(scope, { method: "GET", url, handler: ({ reply }) => redirectTo(reply, "/account") });
}

function defineOverviewRoute(scope: FastifyInstance, routes: Routes): void {
  const { customers, usage, activity, settings } = routes;
  definePage(scope, {
    method: "GET",
    url: "/account",
    async handler({ request }) {
      const session = await routes.findSession(request);
      if (session === null) return createSignedOutPage(routes);
      const account = await customers.account(session.customerId);
      return createOverviewPage({
        account,
        month: await usage(account),
        form: routes.secretsOf(session),
        requests: await activity.requests(session.customerId),
        routes: scope.routeTable.entries,
        upgradeUrl: settings.upgradeUrl ?? null,
        origin: routes.originOf(request),
      });
    },
  });
}

function defineActivityRoutes(scope: FastifyInstance, routes: Routes): void {
  const { customers, usage, activity, clock } = routes;
  definePage(scope, {
    method: "GET",
    url: "/account/usage",
    handler: (context) =>
      routes.whenSignedIn(context, async ({ customerId }, form) => {
        const account = await customers.account(customerId);
        const now = clock.now();
        // Read before the usage by key, so that new calls do not appear as not assigned to a key.
        const month = await usage(account);
        const dailyUsage = await activity.usage(customerId, firstUsageDay(month, now));
        return createUsagePage({ form, keys: account.keys, month, usage: dailyUsage, now });
      }),
  });
  definePage(scope, {
    method: "GET",
    url: "/account/requests",
    query: schema.RequestsQuery,
    handler: (context) =>
      routes.whenSignedIn(context, async ({ customerId }, form) => {
        const { keys } = await customers.account(customerId);
        const onlyFailed = context.query.only === "errors";
        const requests = await activity.requests(customerId, { onlyFailed });
        return createRequestsPage({ form, keys, requests, onlyFailed });
      }),
  });
}
