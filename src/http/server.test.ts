import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FastifyContextConfig, FastifyInstance } from "fastify";
import Type from "typebox";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { CUSTOMER, KEY_ROUTE, PUBLIC_ROUTE, testServer, VALID_KEY } from "../../test/support/test-app.ts";
import { AppError, InvalidRequestError, VenueError } from "../domain/errors.ts";
import { METERING } from "../domain/metering.ts";
import { sendPreserialised } from "./response/preserialised.ts";
import { defineRoute } from "./route.ts";
import { commaListOf, compileRequestValidator, emptyIsAbsent, valueError } from "./validation/index.ts";

const KEY = { authorization: `Bearer ${VALID_KEY}` };

type TestRoute = typeof PUBLIC_ROUTE | typeof KEY_ROUTE;

function registerGet(app: FastifyInstance, url: string, handler: () => unknown, route: TestRoute = PUBLIC_ROUTE): void {
  defineRoute(app, { ...route, url, operationId: `get${url.replaceAll("/", "_")}`, handler });
}

test("a route without an access setting aborts the start", async () => {
  const { app } = await testServer();
  assert.throws(() => app.get("/no-access", () => "hello"), /has no access setting/);
});

test("a route without consistent metering aborts the start", async () => {
  const { app } = await testServer();
  const start = (config: FastifyContextConfig) => () => app.get("/no-metering", { config }, () => "hello");
  assert.throws(start({ access: "key" }), /has no metering/);
  for (const access of ["key", "session"] as const)
    assert.throws(start({ access, metering: METERING.FREE }), /has no rate class/);
  assert.throws(start({ access: "public", metering: METERING.LISTING }), /cannot be metered/);
});

test("the route table lists every documented route once, with its OpenAPI path", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...KEY_ROUTE,
    url: "/v1/things/:kind/:id",
    metering: METERING.DEEP,
    operationId: "get_thing",
    handler: ({ params }) => params,
  });
  assert.deepEqual(app.routeTable.entries.at(-1), {
    method: "GET",
    path: "/v1/things/{kind}/{id}",
    operationId: "get_thing",
    metering: METERING.DEEP,
    deprecation: null,
  });
  assert.deepEqual(
    app.routeTable.entries.map(({ operationId }) => operationId),
    ["get_openapi", "get_thing"],
  );
});

test("a response has no binary rounding errors", async () => {
  const { app } = await testServer();
  registerGet(app, "/v1/noise", () => ({ price: 0.1 + 0.2, items: [{ net_spread: 1 - 0.9, fee_usd: 1 / 3 }] }));
  const { body } = await app.inject("/v1/noise");
  assert.equal(body, '{"price":0.3,"items":[{"net_spread":0.1,"fee_usd":0.333333}]}');
});

test("every response of a deprecated route has the deprecation headers, and the OpenAPI document marks the route as deprecated", async () => {
  const { app } = await testServer();
  const deprecation = {
    since: new Date("2026-01-31T00:00:00Z"),
    sunset: new Date("2026-08-01T00:00:00Z"),
    link: "https://docs.example/instead",
  };
  for (const [since, sunset] of [
    ["2026-01-31", "2026-07-30"],
    ["2026-03-01", "2026-08-31"],
    ["2026-08-31", "2027-03-02"],
  ]) {
    const tooShortNotice = { since: new Date(`${since}T00:00:00Z`), sunset: new Date(`${sunset}T00:00:00Z`) };
    const route = { ...KEY_ROUTE, url: "/sooner", operationId: "sooner", deprecation: tooShortNotice };
    assert.throws(() => defineRoute(app, { ...route, handler: () => ({}) }), /less than six months/);
  }
  defineRoute(app, {
    ...KEY_ROUTE,
    deprecation,
    url: "/old",
    operationId: "get_old",
    handler: ({ reply }) => reply.header("link", '</old?page=2>; rel="next"').send({}),
  });
  const page = await app.inject({ url: "/old", headers: KEY });
  assert.equal(page.headers.deprecation, "@1769817600");
  assert.equal(page.headers.sunset, "Sat, 01 Aug 2026 00:00:00 GMT");
  const link = '<https://docs.example/instead>; rel="deprecation"; type="text/html"';
  assert.equal(page.headers.link, `</old?page=2>; rel="next", ${link}`);
  const rejected = await app.inject("/old");
  assert.equal(rejected.statusCode, 401);
  assert.equal(rejected.headers.link, link);
  assert.equal(rejected.headers.sunset, page.headers.sunset);
  assert.equal((await app.inject("/openapi.json")).json().paths["/old"].get.deprecated, true);
  assert.equal((await app.inject("/openapi.json")).headers.sunset, undefined);
});

test("a request schema with an unsupported keyword aborts the start", () => {
  const query = Type.Object({ when: Type.Array(Type.String(), { uniqueItems: true }) });
  assert.throws(() => compileRequestValidator({ query }), /uniqueItems/);
  const union = Type.Object({ either: Type.Union([Type.String(), Type.Number()]) });
  assert.throws(() => compileRequestValidator({ body: union }), /only unions of one type with null/);
});

test("401: without a well-formed key, the response says how to send a key and where to get one", async () => {
  const authentication = { authenticate: () => null, signUpUrl: () => "https://api.example.com/account" };
  const { app } = await testServer({ authentication });
  defineRoute(app, { ...KEY_ROUTE, url: "/priced", operationId: "priced", handler: () => ({}) });
  const detailOf = async (headers: Record<string, string>) => {
    const response = await app.inject({ url: "/priced", headers });
    assert.equal(response.statusCode, 401);
    assert.equal(response.headers["www-authenticate"], "Bearer");
    return response.json().detail;
  };
  const help = 'Send the header "Authorization: Bearer YOUR_API_KEY". Get a key: https://api.example.com/account';
  assert.equal(await detailOf({}), `API key missing. ${help}`);
  assert.equal(await detailOf({ "x-api-key": VALID_KEY }), `API key missing. ${help}`);
  for (const authorization of [VALID_KEY, `Bearer  ${VALID_KEY}`, "Bearer", "Basic YTpi"])
    assert.equal(await detailOf({ authorization }), `The Authorization header has the wrong form. ${help}`);
  assert.equal(await detailOf({ authorization: `Bearer ${VALID_KEY}` }), "Invalid or expired API key");
});

test("errors are converted to their documented responses and headers", async () => {
  const { app, lines } = await testServer();
  const cases: readonly [Error, number, unknown, Record<string, string>][] = [
    [new AppError("market_not_found", "gone"), 404, { detail: "gone", code: "market_not_found" }, {}],
    [
      new AppError("rate_limited", "Retry after 12 seconds", { details: { retryAfterSeconds: 11.2 } }),
      429,
      { detail: "Retry after 12 seconds", code: "rate_limited" },
      { "retry-after": "12" },
    ],
    [
      new AppError("rate_limited", "INSIGHT quota used", {
        details: { retryAfterSeconds: 5, retryAfter: "2026-12-01", resetsOn: "2026-12-01" },
      }),
      429,
      { detail: "INSIGHT quota used", code: "rate_limited", resets_on: "2026-12-01", retry_after_seconds: 5 },
      { "retry-after": "2026-12-01" },
    ],
    [new AppError("starting", "Starting"), 503, { detail: "Starting", code: "starting" }, { "retry-after": "2" }],
    [
      new VenueError("timeout", "inner-host did not respond", { retryable: true }),
      502,
      { detail: "The venue cannot be reached at the moment", code: "venue_unavailable" },
      {},
    ],
    [new Error("inner"), 500, { detail: "Internal Server Error", code: "internal_error" }, {}],
    [Object.assign(new Error("inner"), { statusCode: 404, code: "X" }), 500, undefined, {}],
  ];
  for (const [index, [error]] of cases.entries()) {
    registerGet(app, `/fails/${index}`, () => {
      throw error;
    });
  }
  for (const [index, [, status, body, headers]] of cases.entries()) {
    const reply = await app.inject(`/fails/${index}`);
    assert.equal(reply.statusCode, status);
    if (body !== undefined) assert.deepEqual(reply.json(), body);
    for (const [name, value] of Object.entries(headers)) assert.equal(reply.headers[name], value);
    assert.ok(!reply.body.includes("inner"));
  }
  assert.equal(lines.filter((line) => line.level === "error").length, 2);
});

test("422: the error of a custom rule has the Pydantic format", async () => {
  const { app } = await testServer();
  registerGet(app, "/custom-rule", () => {
    throw new InvalidRequestError([valueError(["body", "platform"], "market_id is not unique without it", null)]);
  });
  const [first] = (await app.inject("/custom-rule")).json().detail;
  assert.deepEqual(first, {
    type: "value_error",
    loc: ["body", "platform"],
    msg: "Value error, market_id is not unique without it",
    input: null,
    ctx: { error: {} },
  });
});

test("an empty parameter counts as absent only if its schema has `emptyIsAbsent`", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/filter",
    operationId: "f",
    query: Type.Object({
      source: Type.Optional(emptyIsAbsent(Type.Enum(["kalshi"]))),
      status: Type.Optional(Type.Enum(["active"])),
    }),
    handler: ({ query }) => query,
  });
  assert.deepEqual((await app.inject("/filter?source=")).json(), {});
  assert.equal((await app.inject("/filter?status=")).statusCode, 422);
});

test("validates each item of a comma-separated list, removes duplicates and limits its length", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/list",
    operationId: "l",
    query: Type.Object({ ids: commaListOf(Type.String({ minLength: 2 }), { maxItems: 3 }) }),
    handler: ({ query }) => query.ids,
  });
  assert.deepEqual((await app.inject("/list?ids=ab,%20cd,,ab")).json(), ["ab", "cd"]);
  const typeOf = async (ids: string) => (await app.inject(`/list?ids=${ids}`)).json().detail[0].type;
  assert.equal(await typeOf("ab,c"), "string_too_short");
  assert.equal(await typeOf("aa,bb,cc,dd"), "too_long");
});

test("the order of checks is 401, minute limit and plan, 422, quota, handler", async () => {
  const calls: string[] = [];
  const step = (name: string) => () => {
    calls.push(name);
  };
  const { app } = await testServer({
    guards: [
      {
        beforeAuthentication: step("address"),
        onUnauthenticated: step("unauthenticated"),
        afterAuthentication: (request) => {
          calls.push(`limits of ${request.principal?.customerId}`);
        },
        afterValidation: step("quota"),
        beforeSend: step("headers"),
      },
    ],
  });
  defineRoute(app, {
    ...KEY_ROUTE,
    method: "POST",
    url: "/work",
    operationId: "work",
    body: Type.Object({ n: Type.Integer() }),
    responses: { 202: Type.Object({ n: Type.Integer() }) },
    handler: ({ body, principal, reply }) => {
      calls.push(`handler for ${principal.customerId}`);
      reply.code(202);
      return body;
    },
  });
  const send = async (headers: Record<string, string>, payload: object) => {
    calls.length = 0;
    return (await app.inject({ method: "POST", url: "/work", headers, payload })).statusCode;
  };
  const limits = `limits of ${CUSTOMER.customerId}`;
  assert.equal(await send({}, {}), 401);
  assert.deepEqual(calls, ["address", "unauthenticated", "headers"]);
  assert.equal(await send(KEY, { n: "x" }), 422);
  assert.deepEqual(calls, ["address", limits, "headers"]);
  assert.equal(await send(KEY, { n: 1 }), 202);
  assert.deepEqual(calls, ["address", limits, "quota", `handler for ${CUSTOMER.customerId}`, "headers"]);
});

test("if an Authorization header is sent, no other authentication method is tried", async () => {
  const { app } = await testServer({
    authentication: {
      authenticate: () => null,
      authenticateOtherwise: [
        () => null,
        async () => null,
        (request) => (request.headers["x-proxy"] === "yes" ? CUSTOMER : null),
      ],
    },
  });
  registerGet(app, "/me", () => "ok", KEY_ROUTE);
  assert.equal((await app.inject({ url: "/me", headers: { "x-proxy": "yes" } })).statusCode, 200);
  assert.equal((await app.inject({ url: "/me", headers: { "x-proxy": "no" } })).statusCode, 401);
  assert.equal((await app.inject({ url: "/me", headers: { "x-proxy": "yes", ...KEY } })).statusCode, 401);
});

test("304: a GET with a matching entity tag returns no body, and HEAD returns the same headers as GET", async () => {
  const { app } = await testServer();
  registerGet(app, "/private", () => ({ a: 1 }), KEY_ROUTE);
  const first = await app.inject({ url: "/private", headers: KEY });
  const tag = String(first.headers.etag);
  assert.match(tag, /^W\/"[\w-]+"$/);
  assert.equal(first.headers["cache-control"], "private, no-cache");
  for (const match of [tag, tag.slice(2), `"other", ${tag}`, "*"]) {
    const revalidated = await app.inject({ url: "/private", headers: { ...KEY, "if-none-match": match } });
    assert.equal(revalidated.statusCode, 304, match);
    assert.equal(revalidated.body, "");
    assert.equal(revalidated.headers.etag, tag);
  }
  for (const match of ['"other"', "W/", ""]) {
    assert.equal((await app.inject({ url: "/private", headers: { ...KEY, "if-none-match": match } })).statusCode, 200);
  }
  const head = await app.inject({ method: "HEAD", url: "/private", headers: KEY });
  assert.deepEqual([head.statusCode, head.body, head.headers.etag], [200, "", tag]);
  assert.equal(head.headers["content-length"], first.headers["content-length"]);
});

test("304: the response has the same Vary header as the 200 response", async () => {
  const { app } = await testServer();
  registerGet(app, "/large", () => ({ text: "x".repeat(20_000) }));
  const first = await app.inject({ url: "/large", headers: { "accept-encoding": "gzip" } });
  const revalidated = await app.inject({
    url: "/large",
    headers: { "accept-encoding": "gzip", "if-none-match": String(first.headers.etag) },
  });
  assert.deepEqual([revalidated.statusCode, revalidated.body], [304, ""]);
  assert.deepEqual([first.headers.vary, revalidated.headers.vary], ["accept-encoding", "accept-encoding"]);
});

test("sends stored bytes unchanged, and compresses them only if they are large and the client accepts the encoding", async () => {
  const { app } = await testServer();
  const small = Buffer.from('{"small": true}');
  const large = Buffer.from(JSON.stringify({ text: "markets ".repeat(4_000) }));
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/bytes/:size",
    operationId: "b",
    params: Type.Object({ size: Type.String() }),
    handler: ({ params, reply }) => sendPreserialised(reply, params.size === "small" ? small : large),
  });
  const get = (size: string, encoding: string) =>
    app.inject({ url: `/bytes/${size}`, headers: { "accept-encoding": encoding } });
  const plain = await get("small", "br");
  assert.deepEqual([plain.rawPayload, plain.headers["content-encoding"]], [small, undefined]);
  const brotli = await get("large", "gzip, br");
  assert.equal(brotli.headers["content-encoding"], "br");
  assert.deepEqual(brotliDecompressSync(brotli.rawPayload), large);
  const gzip = await get("large", "gzip, br;q=0");
  assert.deepEqual(gunzipSync(gzip.rawPayload), large);
  assert.equal(gzip.headers["content-length"], String(gzip.rawPayload.length));
  const identity = await get("large", "identity");
  assert.deepEqual(identity.rawPayload, large);
  assert.equal(identity.headers.vary, "accept-encoding");
  assert.equal(new Set([brotli, gzip, identity].map((reply) => reply.headers.etag)).size, 1);
});

test("the content security policy of HTML pages allows no other origins", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/page",
    operationId: "p",
    handler: ({ reply }) => reply.type("text/html; charset=utf-8").send("<p>hello</p>"),
  });
  const { headers } = await app.inject("/page");
  assert.match(String(headers["content-security-policy"]), /default-src 'self'.*frame-ancestors 'none'/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["x-parallax-data"], "sandbox");
});

test("logs one line per request with method, route pattern, status and duration, without the query", async () => {
  const { app, lines } = await testServer();
  registerGet(app, "/quiet", () => ({}));
  await app.inject("/quiet?token=canary");
  const [line] = lines;
  assert.deepEqual(
    [line?.level, line?.method, line?.route, line?.path, line?.status, typeof line?.ms],
    ["info", "GET", "/quiet", "/quiet", 200, "number"],
  );
  assert.ok(!JSON.stringify(lines).includes("canary"));
});

test("logs the customer and the path of a request, with masked keys", async () => {
  const { app, lines } = await testServer();
  defineRoute(app, { ...KEY_ROUTE, url: "/items/:id", operationId: "item", handler: () => ({}) });
  await app.inject({ url: `/items/${VALID_KEY}?key=canary`, headers: KEY });
  assert.deepEqual(
    [lines[0]?.customerId, lines[0]?.route, lines[0]?.path],
    [CUSTOMER.customerId, "/items/:id", "/items/plx_free_***"],
  );
  await app.inject({ url: `/items/${"x".repeat(10_000)}?canary`, headers: KEY });
  assert.equal(String(lines[1]?.path).length, 256);
  await app.inject("/unknown/canary");
  assert.equal(lines[2]?.path, undefined, "an unknown path can contain any secret");
  assert.ok(!JSON.stringify(lines).includes("canary") && !JSON.stringify(lines).includes(VALID_KEY));
});

test("above a rate, counts successful requests in one line, and logs every failed request", async () => {
  const clock = new FakeClock();
  const { app, lines } = await testServer({ clock, successLogsPerSecond: 2 });
  registerGet(app, "/often", () => ({}));
  for (let call = 0; call < 20; call++) await app.inject("/often");
  for (let call = 0; call < 3; call++) await app.inject("/nowhere");
  assert.deepEqual(
    lines.map((line) => line.status),
    [200, 200, 404, 404, 404],
  );
  await clock.advance(1_000);
  assert.deepEqual(lines.at(-1), {
    level: "info",
    message: "successful requests not logged",
    omitted: 18,
    loggedPerSecondMax: 2,
  });
  await app.inject("/often");
  assert.equal(lines.at(-1)?.status, 200);
});

test("a failure while sending a paid response is logged and closes only that connection", async () => {
  const payer = { ...CUSTOMER, kind: "payer" } as const;
  const { app, lines } = await testServer({
    authentication: { authenticate: () => payer },
    paymentGate: {
      identify: async () => payer,
      admit: async () => false,
      complete: async (_request, _reply, payload) => payload,
    },
    guards: [
      {
        beforeSend(request) {
          if (request.url.endsWith("?fail")) throw new Error("invalid header");
        },
      },
    ],
  });
  registerGet(app, "/v1/large", () => ({ text: "x".repeat(100_000) }), KEY_ROUTE);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const headers = { authorization: "Bearer any" };
  await assert.rejects(fetch(`${url}/v1/large?fail`, { headers }));
  assert.equal((await fetch(`${url}/v1/large`, { headers })).status, 200);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error").map(({ message }) => message),
    ["failed to send the response"],
  );
});
