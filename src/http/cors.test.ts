import assert from "node:assert/strict";
import { test } from "node:test";
import Type from "typebox";
import { KEY_ROUTE, PUBLIC_ROUTE, testServer, VALID_KEY } from "../../test/support/test-app.ts";
import { defineRoute } from "./route.ts";

const ORIGIN = "https://app.example.org";
const OTHER = "https://other.example.org";

async function startServer(corsOrigins: readonly string[] = [ORIGIN]) {
  const { app } = await testServer({ corsOrigins });
  const handler = () => ({ ok: true });
  defineRoute(app, { ...KEY_ROUTE, url: "/v1/markets", operationId: "list", handler });
  defineRoute(app, { ...KEY_ROUTE, method: "POST", url: "/v1/markets", operationId: "create", handler });
  defineRoute(app, { ...PUBLIC_ROUTE, url: "/v1/health", operationId: "health", handler });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    method: "POST",
    url: "/v1/customers/signup",
    operationId: "signup",
    body: Type.Object({}),
    handler,
  });
  defineRoute(app, { ...PUBLIC_ROUTE, url: "/account", operationId: "account", handler });
  const get = async (url: string, origin?: string, key = VALID_KEY) =>
    (await app.inject({ url, headers: { authorization: `Bearer ${key}`, ...(origin && { origin }) } })).headers;
  const preflight = (url: string, origin: string, method: string) =>
    app.inject({ method: "OPTIONS", url, headers: { origin, "access-control-request-method": method } });
  return { get, preflight };
}

test("a key route permits only configured origins, varies by origin and never permits credentials", async () => {
  const { get } = await startServer();
  const permitted = await get("/v1/markets", ORIGIN);
  assert.equal(permitted["access-control-allow-origin"], ORIGIN);
  for (const header of ["RateLimit", "X-Request-Id", "ETag", "Link", "PAYMENT-REQUIRED", "Retry-After"])
    assert.ok(String(permitted["access-control-expose-headers"]).split(", ").includes(header), header);
  for (const headers of [permitted, await get("/v1/markets", OTHER), await get("/v1/markets")]) {
    assert.match(String(headers.vary), /\bOrigin\b/);
    assert.equal(headers["access-control-allow-credentials"], undefined);
  }
  assert.equal((await get("/v1/markets", OTHER))["access-control-allow-origin"], undefined);
  assert.equal((await get("/v1/markets", `${ORIGIN}.evil.example`))["access-control-allow-origin"], undefined);
  assert.equal((await get("/v1/markets", ORIGIN, "wrong"))["access-control-allow-origin"], ORIGIN, "also on a 401");
});

test("a public GET route permits every origin, and a page none", async () => {
  for (const configured of [[ORIGIN], []]) {
    const { get } = await startServer(configured);
    assert.equal((await get("/v1/health", OTHER))["access-control-allow-origin"], "*");
    assert.equal((await get("/v1/health"))["access-control-allow-origin"], "*");
    assert.equal((await get("/account", ORIGIN))["access-control-allow-origin"], undefined);
  }
});

test("without configured origins a key route has no cross-origin headers", async () => {
  const { get, preflight } = await startServer([]);
  const headers = await get("/v1/markets", ORIGIN);
  assert.deepEqual([headers["access-control-allow-origin"], headers.vary], [undefined, undefined]);
  assert.equal((await preflight("/v1/markets", ORIGIN, "GET")).statusCode, 405);
});

test("204: a preflight of a configured origin lists methods and headers; other preflights are rejected with 405", async () => {
  const { preflight } = await startServer();
  const accepted = await preflight("/v1/markets?limit=1", ORIGIN, "POST");
  assert.equal(accepted.statusCode, 204);
  assert.equal(accepted.headers["access-control-allow-origin"], ORIGIN);
  assert.equal(accepted.headers["access-control-allow-methods"], "GET, HEAD, POST");
  assert.match(String(accepted.headers["access-control-allow-headers"]), /Authorization/);
  assert.match(String(accepted.headers.vary), /Origin/);
  assert.ok(Number(accepted.headers["access-control-max-age"]) > 0);
  for (const method of ["GET", "HEAD"])
    assert.equal((await preflight("/v1/health", OTHER, method)).headers["access-control-allow-origin"], "*");
  assert.equal((await preflight("/v1/customers/signup", ORIGIN, "POST")).statusCode, 204);
  for (const [url, origin, method] of [
    ["/v1/markets", OTHER, "GET"],
    ["/v1/markets", ORIGIN, "DELETE"],
    ["/v1/customers/signup", OTHER, "POST"],
    ["/account", ORIGIN, "GET"],
  ] as const)
    assert.equal((await preflight(url, origin, method)).statusCode, 405, `${method} ${url} ${origin}`);
  assert.equal((await preflight("/v1/nowhere", ORIGIN, "GET")).statusCode, 404);
});
