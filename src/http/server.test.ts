import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FastifyContextConfig, FastifyInstance } from "fastify";
import Type from "typebox";
import { CUSTOMER, GOOD_KEY, testServer } from "../../test/support/test-app.ts";
import { AppError, VenueError } from "../domain/errors.ts";
import { METERING } from "../domain/metering.ts";
import { sendPreserialised } from "./response/preserialised.ts";
import { defineRoute } from "./route.ts";
import { commaListOf, compileRequestValidator, emptyIsAbsent, invalidRequest, valueError } from "./validation/index.ts";

const KEY = { authorization: `Bearer ${GOOD_KEY}` };
const ANY = { 200: Type.Unknown() };

function read(app: FastifyInstance, url: string, handler: () => unknown, access: "public" | "key" = "public"): void {
  defineRoute(app, {
    ...{ method: "GET", url, access, tag: "Markets", summary: url, operationId: `get${url.replaceAll("/", "_")}` },
    metering: access === "key" ? METERING.LISTING : METERING.FREE,
    responses: ANY,
    handler,
  });
}

test("a route that does not say who may call it stops the start", async () => {
  const { app } = await testServer();
  assert.throws(() => app.get("/open-door", () => "hello"), /does not say who may call it/);
  await app.close();
});

test("a route that does not say what it counts as stops the start", async () => {
  const { app } = await testServer();
  const start = (config: FastifyContextConfig) => () => app.get("/gift", { config }, () => "hello");
  assert.throws(start({ access: "key" }), /does not say what it counts as/);
  assert.throws(start({ access: "key", metering: METERING.FREE }), /limits nobody/);
  assert.throws(start({ access: "public", metering: METERING.LISTING }), /can count for nobody/);
  await app.close();
});

test("the route table tells every described route once, with its path as callers write it", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...{ method: "GET", url: "/v1/things/:kind/:id", access: "key", metering: METERING.DEEP, tag: "Markets" },
    ...{ summary: "t", operationId: "get_thing", responses: ANY },
    handler: ({ params }) => params,
  });
  assert.deepEqual(app.routeTable.entries.at(-1), {
    ...{ method: "GET", path: "/v1/things/{kind}/{id}", operationId: "get_thing" },
    ...{ metering: METERING.DEEP, deprecation: null },
  });
  assert.deepEqual(
    app.routeTable.entries.map(({ operationId }) => operationId),
    ["get_openapi", "get_thing"],
  );
  await app.close();
});

test("a route that will go says since when, until when and what instead, on every answer and in the description", async () => {
  const { app } = await testServer();
  const deprecation = {
    since: new Date("2026-01-31T00:00:00Z"),
    sunset: new Date("2026-08-01T00:00:00Z"),
    link: "https://docs.example/instead",
  };
  const old = { method: "GET", access: "key", metering: METERING.LISTING, tag: "Markets", summary: "o" } as const;
  for (const [since, sunset] of [
    ["2026-01-31", "2026-07-30"],
    ["2026-03-01", "2026-08-31"],
    ["2026-08-31", "2027-03-02"],
  ]) {
    const tooSoon = { since: new Date(`${since}T00:00:00Z`), sunset: new Date(`${sunset}T00:00:00Z`) };
    assert.throws(
      () =>
        defineRoute(app, {
          ...{ ...old, url: "/sooner", operationId: "sooner", deprecation: tooSoon, responses: ANY },
          handler: () => ({}),
        }),
      /less than six months/,
    );
  }
  defineRoute(app, {
    ...{ ...old, deprecation, responses: ANY },
    ...{ url: "/old", operationId: "get_old" },
    handler: ({ reply }) => reply.header("link", '</old?page=2>; rel="next"').send({}),
  });
  const page = await app.inject({ url: "/old", headers: KEY });
  assert.equal(page.headers.deprecation, "@1769817600");
  assert.equal(page.headers.sunset, "Sat, 01 Aug 2026 00:00:00 GMT");
  const link = '<https://docs.example/instead>; rel="deprecation"; type="text/html"';
  assert.equal(page.headers.link, `</old?page=2>; rel="next", ${link}`);
  const refused = await app.inject("/old");
  assert.equal(refused.statusCode, 401);
  assert.equal(refused.headers.link, link);
  assert.equal(refused.headers.sunset, page.headers.sunset);
  assert.equal((await app.inject("/openapi.json")).json().paths["/old"].get.deprecated, true);
  assert.equal((await app.inject("/openapi.json")).headers.sunset, undefined);
  await app.close();
});

test("a request schema with a rule that is not understood stops the start", () => {
  const query = Type.Object({ when: Type.Array(Type.String(), { uniqueItems: true }) });
  assert.throws(() => compileRequestValidator({ query }), /uniqueItems/);
  const union = Type.Object({ either: Type.Union([Type.String(), Type.Number()]) });
  assert.throws(() => compileRequestValidator({ body: union }), /unite literals/);
});

test("errors become their documented answers, with the headers that belong to them", async () => {
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
      new AppError("rate_limited", "INSIGHT quota used", { details: { retryAfterSeconds: 5, resetsOn: "2026-12-01" } }),
      429,
      { detail: "INSIGHT quota used", code: "rate_limited", resets_on: "2026-12-01", retry_after_seconds: 5 },
      { "retry-after": "2026-12-01" },
    ],
    [new AppError("starting", "Starting"), 503, { detail: "Starting", code: "starting" }, { "retry-after": "2" }],
    [
      new VenueError("timeout", "inner-host did not answer", { retryable: true }),
      502,
      { detail: "The venue cannot be reached at the moment", code: "venue_unavailable" },
      {},
    ],
    [new Error("inner"), 500, { detail: "Internal Server Error", code: "internal_error" }, {}],
    [Object.assign(new Error("inner"), { statusCode: 404, code: "X" }), 500, undefined, {}],
  ];
  for (const [index, [error]] of cases.entries()) {
    read(app, `/fails/${index}`, () => {
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
  await app.close();
});

test("422: a route's own rule is told in the same form", async () => {
  const { app } = await testServer();
  read(app, "/own", () => {
    throw invalidRequest([valueError(["body", "platform"], "market_id is not unique without it", null)]);
  });
  const [first] = (await app.inject("/own")).json().detail;
  assert.deepEqual(first, {
    type: "value_error",
    loc: ["body", "platform"],
    msg: "Value error, market_id is not unique without it",
    input: null,
    ctx: { error: {} },
  });
  await app.close();
});

test("an empty text is absent only where the schema says so", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...{
      method: "GET",
      url: "/filter",
      access: "public",
      metering: METERING.FREE,
      tag: "Markets",
      summary: "f",
      operationId: "f",
    },
    query: Type.Object({
      source: Type.Optional(emptyIsAbsent(Type.Enum(["kalshi"]))),
      status: Type.Optional(Type.Enum(["active"])),
    }),
    responses: ANY,
    handler: ({ query }) => query,
  });
  assert.deepEqual((await app.inject("/filter?source=")).json(), {});
  assert.equal((await app.inject("/filter?status=")).statusCode, 422);
  await app.close();
});

test("a comma-separated list is judged word by word, without repeats and within its bound", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...{
      method: "GET",
      url: "/list",
      access: "public",
      metering: METERING.FREE,
      tag: "Streaming",
      summary: "l",
      operationId: "l",
    },
    query: Type.Object({ ids: commaListOf(Type.String({ minLength: 2 }), { maxItems: 3 }) }),
    responses: ANY,
    handler: ({ query }) => query.ids,
  });
  assert.deepEqual((await app.inject("/list?ids=ab,%20cd,,ab")).json(), ["ab", "cd"]);
  const typeOf = async (ids: string) => (await app.inject(`/list?ids=${ids}`)).json().detail[0].type;
  assert.equal(await typeOf("ab,c"), "string_too_short");
  assert.equal(await typeOf("aa,bb,cc,dd"), "too_long");
  await app.close();
});

test("the order of judgement is 401, minute limit and plan, 422, quota, work", async () => {
  const seen: string[] = [];
  const step = (name: string) => () => {
    seen.push(name);
  };
  const { app } = await testServer({
    guards: [
      {
        beforeAuthentication: step("address"),
        refused: step("refused"),
        afterAuthentication: (request) => {
          seen.push(`limits of ${request.principal?.customerId}`);
        },
        afterValidation: step("quota"),
        beforeSend: step("headers"),
      },
    ],
  });
  defineRoute(app, {
    ...{
      method: "POST",
      url: "/work",
      access: "key",
      metering: METERING.LISTING,
      tag: "Strategy",
      summary: "w",
      operationId: "w",
    },
    body: Type.Object({ n: Type.Integer() }),
    responses: { 202: Type.Object({ n: Type.Integer() }) },
    handler: ({ body, principal, reply }) => {
      seen.push(`work for ${principal.customerId}`);
      reply.code(202);
      return body;
    },
  });
  const call = async (headers: Record<string, string>, payload: object) => {
    seen.length = 0;
    return (await app.inject({ method: "POST", url: "/work", headers, payload })).statusCode;
  };
  const limits = `limits of ${CUSTOMER.customerId}`;
  assert.equal(await call({}, {}), 401);
  assert.deepEqual(seen, ["address", "refused", "headers"]);
  assert.equal(await call(KEY, { n: "x" }), 422);
  assert.deepEqual(seen, ["address", limits, "headers"]);
  assert.equal(await call(KEY, { n: 1 }), 202);
  assert.deepEqual(seen, ["address", limits, "quota", `work for ${CUSTOMER.customerId}`, "headers"]);
  await app.close();
});

test("another way to authenticate is asked only where no Authorization header was sent", async () => {
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
  read(app, "/me", () => "ok", "key");
  assert.equal((await app.inject({ url: "/me", headers: { "x-proxy": "yes" } })).statusCode, 200);
  assert.equal((await app.inject({ url: "/me", headers: { "x-proxy": "no" } })).statusCode, 401);
  assert.equal((await app.inject({ url: "/me", headers: { "x-proxy": "yes", ...KEY } })).statusCode, 401);
  await app.close();
});

test("304: a read whose entity tag the caller has costs no body; HEAD answers like GET", async () => {
  const { app } = await testServer();
  read(app, "/private", () => ({ a: 1 }), "key");
  const first = await app.inject({ url: "/private", headers: KEY });
  const tag = String(first.headers.etag);
  assert.match(tag, /^W\/"[\w-]+"$/);
  assert.equal(first.headers["cache-control"], "private, no-cache");
  for (const match of [tag, tag.slice(2), `"other", ${tag}`, "*"]) {
    const again = await app.inject({ url: "/private", headers: { ...KEY, "if-none-match": match } });
    assert.equal(again.statusCode, 304, match);
    assert.equal(again.body, "");
    assert.equal(again.headers.etag, tag);
  }
  for (const match of ['"other"', "W/", ""]) {
    assert.equal((await app.inject({ url: "/private", headers: { ...KEY, "if-none-match": match } })).statusCode, 200);
  }
  const head = await app.inject({ method: "HEAD", url: "/private", headers: KEY });
  assert.deepEqual([head.statusCode, head.body, head.headers.etag], [200, "", tag]);
  assert.equal(head.headers["content-length"], first.headers["content-length"]);
  await app.close();
});

test("304: the answer that is not sent again varies as the one that was sent", async () => {
  const { app } = await testServer();
  read(app, "/large", () => ({ text: "x".repeat(20_000) }));
  const first = await app.inject({ url: "/large", headers: { "accept-encoding": "gzip" } });
  const again = await app.inject({
    url: "/large",
    headers: { "accept-encoding": "gzip", "if-none-match": String(first.headers.etag) },
  });
  assert.deepEqual([again.statusCode, again.body], [304, ""]);
  assert.deepEqual([first.headers.vary, again.headers.vary], ["accept-encoding", "accept-encoding"]);
  await app.close();
});

test("stored bytes are sent as they are, and compressed only when large and asked for", async () => {
  const { app } = await testServer();
  const small = Buffer.from('{"small": true}');
  const large = Buffer.from(JSON.stringify({ text: "markets ".repeat(4_000) }));
  defineRoute(app, {
    ...{
      method: "GET",
      url: "/bytes/:size",
      access: "public",
      metering: METERING.FREE,
      tag: "Markets",
      summary: "b",
      operationId: "b",
    },
    params: Type.Object({ size: Type.String() }),
    responses: ANY,
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
  await app.close();
});

test("pages carry a policy that lets in nothing from elsewhere", async () => {
  const { app } = await testServer();
  defineRoute(app, {
    ...{
      method: "GET",
      url: "/page",
      access: "public",
      metering: METERING.FREE,
      tag: "Markets",
      summary: "p",
      operationId: "p",
    },
    responses: ANY,
    handler: ({ reply }) => reply.type("text/html; charset=utf-8").send("<p>hello</p>"),
  });
  const { headers } = await app.inject("/page");
  assert.match(String(headers["content-security-policy"]), /default-src 'self'.*frame-ancestors 'none'/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["x-parallax-data"], "sandbox");
  await app.close();
});

test("one line a request tells method, route pattern, status and time, and never the query", async () => {
  const { app, lines } = await testServer();
  read(app, "/quiet", () => ({}));
  await app.inject("/quiet?token=canary");
  const [line] = lines;
  assert.deepEqual(
    [line?.method, line?.route, line?.status, typeof line?.durationMs],
    ["GET", "/quiet", 200, "number"],
  );
  assert.ok(!JSON.stringify(lines).includes("canary"));
  await app.close();
});

test("of successes one in the configured number is logged, of refusals every one", async () => {
  const { app, lines } = await testServer({ successLogSample: 10 });
  read(app, "/often", () => ({}));
  for (let call = 0; call < 20; call++) await app.inject("/often");
  for (let call = 0; call < 3; call++) await app.inject("/nowhere");
  assert.deepEqual(
    lines.map((line) => line.status),
    [200, 200, 404, 404, 404],
  );
  await app.close();
});

test("what fails while a paid answer goes out ends that connection, is logged, and ends nothing else", async () => {
  const payer = { ...CUSTOMER, kind: "payer" } as const;
  const { app, lines } = await testServer({
    authentication: { authenticate: () => payer },
    till: {
      identify: async () => payer,
      admit: async () => false,
      complete: async (_request, _reply, payload) => payload,
    },
    guards: [
      {
        beforeSend(request) {
          if (request.url.endsWith("?fail")) throw new Error("a header that cannot be");
        },
      },
    ],
  });
  defineRoute(app, {
    ...{ method: "GET", url: "/v1/large", access: "key", metering: METERING.UNCOUNTED, tag: "Account" },
    ...{ summary: "Large", operationId: "large", responses: { 200: Type.Object({ text: Type.String() }) } },
    handler: () => ({ text: "x".repeat(100_000) }),
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const headers = { authorization: "Bearer any" };
  await assert.rejects(fetch(`${url}/v1/large?fail`, { headers }));
  assert.equal((await fetch(`${url}/v1/large`, { headers })).status, 200);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error").map(({ message }) => message),
    ["an answer could not be sent"],
  );
  await app.close();
});
