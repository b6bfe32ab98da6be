import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { test } from "node:test";
import Type from "typebox";
import { CUSTOMER, testServer, VALID_KEY } from "../../test/support/test-app.ts";
import { AppError } from "../domain/errors.ts";
import { METERING } from "../domain/metering.ts";
import { definePage, redirectTo } from "./html/index.ts";

test("the order of checks of a form is session, minute limit and plan, CSRF token, 422, quota, handler", async () => {
  const calls: string[] = [];
  const refuse = (code: "unauthorized" | "cross_site_refused", reason: string) => {
    throw new AppError(code, reason);
  };
  const { app } = await testServer({
    authentication: {
      authenticate: () => assert.fail("a form has no key"),
      session: {
        authenticate: async ({ headers }) =>
          headers.cookie === "known" ? CUSTOMER : refuse("unauthorized", "Sign in"),
        assertForm: ({ body }) => (String(body).includes("token") ? undefined : refuse("cross_site_refused", "Reload")),
      },
    },
    guards: [
      {
        afterAuthentication: (request) => {
          calls.push(`limits of ${request.principal?.customerId}`);
        },
        afterValidation: () => {
          calls.push("quota");
        },
      },
    ],
  });
  definePage(app, {
    method: "POST",
    url: "/form",
    metering: METERING.INSIGHT,
    query: Type.Object({ n: Type.Integer() }),
    handler: ({ request, reply }) => {
      calls.push(`handler for ${request.principal?.customerId}`);
      return reply.code(204).send();
    },
  });
  app.addContentTypeParser("text/plain", { parseAs: "string" }, (_request, text, done) => done(null, text));
  const send = async (cookie: string, body: string, query: string) => {
    calls.length = 0;
    const headers = { cookie, authorization: `Bearer ${VALID_KEY}`, "content-type": "text/plain" };
    return (await app.inject({ method: "POST", url: `/form?${query}`, headers, payload: body })).statusCode;
  };
  const limits = `limits of ${CUSTOMER.customerId}`;
  assert.equal(await send("unknown", "token", "n=1"), 401);
  assert.deepEqual(calls, []);
  assert.equal(await send("known", "forged", "n=x"), 403);
  assert.deepEqual(calls, [limits]);
  assert.equal(await send("known", "token", "n=x"), 422);
  assert.deepEqual(calls, [limits]);
  assert.equal(await send("known", "token", "n=1"), 204);
  assert.deepEqual(calls, [limits, "quota", `handler for ${CUSTOMER.customerId}`]);
});

test("401: a server without sessions accepts no form", async () => {
  const { app } = await testServer();
  const handler = () => assert.fail("the form was accepted");
  definePage(app, { method: "POST", url: "/form", metering: METERING.INSIGHT, handler });
  assert.equal((await app.inject({ method: "POST", url: "/form" })).statusCode, 401);
});

test("if rendering an error page fails, a plain page with the message is sent", async () => {
  const { app } = await testServer();
  definePage(app, {
    method: "GET",
    url: "/page",
    problemPage: async () => {
      throw new Error("the store is unavailable");
    },
    handler: () => {
      throw new AppError("market_not_found", "There is no such market");
    },
  });
  const { statusCode, body } = await app.inject("/page");
  assert.equal(statusCode, 404);
  assert.match(body, /<p>There is no such market<\/p>/);
});

test("a page handler that has sent its reply does not fail", async (t) => {
  const { app } = await testServer();
  definePage(app, { method: "GET", url: "/old", handler: async ({ reply }) => redirectTo(reply, "/new") });
  const failures: unknown[] = [];
  const handlerErrors = channel("tracing:fastify.request.handler:error");
  const record = (message: unknown) => failures.push((message as { readonly error: unknown }).error);
  handlerErrors.subscribe(record);
  t.after(() => handlerErrors.unsubscribe(record));
  assert.equal((await app.inject("/old")).statusCode, 303);
  await app.close();
  assert.deepEqual(failures, []);
});
