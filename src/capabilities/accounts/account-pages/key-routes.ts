import type { FastifyInstance } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import { definePage, redirectTo } from "../../../http/html/index.ts";
import { createKeyChangePage, createKeysPage, createRejectedKeyPage } from "./keys-page.ts";
import * as pages from "./pages.ts";
import * as schema from "./schema.ts";
import { createFormProblemPage, type Routes } from "./session-routes.ts";

const KEYS_PATH = "/account/keys";

/** Registers the pages that list, create, rotate and revoke API keys. */
export function defineKeyRoutes(scope: FastifyInstance, routes: Routes): void {
  const { page, customers } = routes;
  definePage(scope, {
    method: "GET",
    url: KEYS_PATH,
    handler: (context) =>
      routes.whenSignedIn(context, async (session, form) => {
        const { keys } = await customers.account(session.customerId);
        const proof = await routes.renderProof(session, form, KEYS_PATH);
        return createKeysPage({ form, keys, proof });
      }),
  });
  definePage(scope, {
    method: "POST",
    url: KEYS_PATH,
    body: schema.NewKeyForm,
    problemPage: createFormProblemPage(["name"], createRejectedKeyPage),
    async handler({ body, request }) {
      const key = await page.createKey(await routes.sessionOf(request, body), body.name, body.form);
      return pages.createNewKeyPage(key, routes.originOf(request), "This is your new API key:");
    },
  });
  for (const change of ["rotate", "revoke"] as const) defineKeyChangePage(scope, routes, change);
  definePage(scope, {
    method: "POST",
    url: `${KEYS_PATH}/:key_id/rotate`,
    params: schema.KeyPath,
    body: schema.KeyForm,
    async handler({ params, body, request }) {
      const key = await page.rotateKey(await routes.sessionOf(request, body), params.key_id, body.form);
      const intro = "The old key no longer works. Use this one instead:";
      return pages.createNewKeyPage(key, routes.originOf(request), intro);
    },
  });
  definePage(scope, {
    method: "POST",
    url: `${KEYS_PATH}/:key_id/revoke`,
    params: schema.KeyPath,
    body: schema.KeyForm,
    async handler({ params, body, request, reply }) {
      await page.revokeKey(await routes.sessionOf(request, body), params.key_id);
      return redirectTo(reply, KEYS_PATH);
    },
  });
}

/** Registers the page that asks for confirmation before a key is rotated or revoked. */
function defineKeyChangePage(scope: FastifyInstance, routes: Routes, change: "rotate" | "revoke"): void {
  definePage(scope, {
    method: "GET",
    url: `${KEYS_PATH}/:key_id/${change}`,
    params: schema.KeyPath,
    handler: (context) =>
      routes.whenSignedIn(context, async (session, form) => {
        const { keys } = await routes.customers.account(session.customerId);
        const key = keys.find(({ keyId }) => keyId === context.params.key_id);
        if (key === undefined) throw new AppError("key_not_found", "There is no such API key");
        // The key was already changed, for example if the user reloads the page after submitting the form.
        if (key.revokedAt !== null) return redirectTo(context.reply, KEYS_PATH);
        if (session.isProven) return createKeyChangePage(change, key, form);
        const next = `${KEYS_PATH}/${key.keyId}/${change}`;
        return pages.createReauthenticationPage(await routes.readProof(session, form, next));
      }),
  });
}
