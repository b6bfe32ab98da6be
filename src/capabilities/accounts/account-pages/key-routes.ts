import type { FastifyInstance } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import { definePage, redirectTo, sendPage } from "../../../http/html/index.ts";
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
    async handler({ request, reply }) {
      const session = await routes.findSession(request);
      if (session === null) return redirectTo(reply, "/account");
      const { keys } = await customers.account(session.customerId);
      const form = routes.secretsOf(session);
      const proof = await routes.renderProof(session, form, KEYS_PATH);
      return sendPage(reply, 200, createKeysPage({ form, keys, proof }));
    },
  });
  definePage(scope, {
    method: "POST",
    url: KEYS_PATH,
    body: schema.NewKeyForm,
    problemPage: createFormProblemPage(["name"], createRejectedKeyPage),
    async handler({ body, request, reply }) {
      const key = await page.createKey(await routes.sessionOf(request, body), body.name, body.form);
      return sendPage(reply, 200, pages.createNewKeyPage(key, routes.originOf(request), "This is your new API key:"));
    },
  });
  for (const change of ["rotate", "revoke"] as const) defineKeyChangePage(scope, routes, change);
  definePage(scope, {
    method: "POST",
    url: `${KEYS_PATH}/:key_id/rotate`,
    params: schema.KeyPath,
    body: schema.KeyForm,
    async handler({ params, body, request, reply }) {
      const key = await page.rotateKey(await routes.sessionOf(request, body), params.key_id, body.form);
      const intro = "The old key no longer works. Use this one instead:";
      return sendPage(reply, 200, pages.createNewKeyPage(key, routes.originOf(request), intro));
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
    async handler({ params, request, reply }) {
      const session = await routes.findSession(request);
      if (session === null) return redirectTo(reply, "/account");
      const { keys } = await routes.customers.account(session.customerId);
      const key = keys.find(({ keyId }) => keyId === params.key_id);
      if (key === undefined) throw new AppError("key_not_found", "There is no such API key");
      // The key was already changed, for example if the user reloads the page after submitting the form.
      if (key.revokedAt !== null) return redirectTo(reply, KEYS_PATH);
      const form = routes.secretsOf(session);
      if (!session.isProven) {
        const next = `${KEYS_PATH}/${key.keyId}/${change}`;
        return sendPage(reply, 200, pages.createReauthenticationPage(await routes.readProof(session, form, next)));
      }
      return sendPage(reply, 200, createKeyChangePage(change, key, form));
    },
  });
}
