import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { before, beforeEach, test } from "node:test";
import fc from "fast-check";
import type { FastifyInstance, InjectOptions } from "fastify";
import Type from "typebox";
import { KEY_ROUTE, testServer, VALID_KEY } from "../../test/support/test-app.ts";
import { AppError } from "../domain/errors.ts";
import { defineRoute } from "./route.ts";
import { commaList } from "./validation/index.ts";

const ID_LENGTH_MAX = 512;
const SECRET = "whsec_canarycanarycanary";
let app: FastifyInstance;
let lines: readonly object[];
let port: number;

before(async () => {
  const server = await testServer();
  app = server.app;
  lines = server.lines;
  defineRoute(app, {
    ...KEY_ROUTE,
    url: "/v1/markets/:platform/:market_id",
    operationId: "get_market",
    errors: ["market_not_found"],
    params: Type.Object({ platform: Type.Enum(["kalshi"]), market_id: Type.String() }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      expand: Type.Optional(commaList(["history", "analysis"])),
    }),
    responses: { 200: Type.Object({ market_id: Type.String() }) },
    handler: ({ params }) => {
      if (params.market_id.length > ID_LENGTH_MAX) throw new AppError("market_not_found", "No such market");
      return { market_id: params.market_id };
    },
  });
  defineRoute(app, {
    ...KEY_ROUTE,
    method: "POST",
    url: "/v1/webhooks",
    operationId: "create_webhook",
    body: Type.Object({ url: Type.String({ maxLength: 100 }), secret: Type.Optional(Type.String({ maxLength: 256 })) }),
    responses: { 200: Type.Object({ url: Type.String() }) },
    handler: ({ body }) => ({ url: body.url }),
  });
  defineRoute(app, {
    ...KEY_ROUTE,
    url: "/v1/broken",
    operationId: "broken",
    handler: () => {
      throw new Error(`failed with Bearer ${VALID_KEY} and ${SECRET}`);
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  port = (app.server.address() as AddressInfo).port;
});

beforeEach(() => {
  (lines as object[]).length = 0;
});

async function send(request: InjectOptions) {
  const reply = await app.inject({ ...request, headers: { authorization: `Bearer ${VALID_KEY}`, ...request.headers } });
  return { status: reply.statusCode, body: reply.body, headers: reply.headers };
}

const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
  send({ method: "POST", url: "/v1/webhooks", payload, headers: { "content-type": "application/json", ...headers } });

/** Sends raw bytes and reads until the server closes the connection. */
async function sendRaw(bytes: string | Buffer): Promise<{ status: number; text: string }> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  // The server may close the connection before it has read all bytes.
  socket.on("error", () => {});
  socket.write(bytes);
  await once(socket, "close");
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: Number(text.split(" ")[1]), text };
}

const head = (path: string, ...headers: string[]) =>
  `${[`GET ${path} HTTP/1.1`, "host: localhost", "connection: close", ...headers].join("\r\n")}\r\n\r\n`;

test("400 and 417: responses to protocol errors have the standard error format and a request id", async () => {
  const cases = [
    ["GET /v1/markets/kalshi/a HTTP/1.1\r\nconnection: close\r\n\r\n", 400, "The request has no Host header"],
    [head("/v1/markets/kalshi/a", "expect: something-else"), 417, "The only supported expectation is 100-continue"],
  ] as const;
  for (const [bytes, expected, detail] of cases) {
    const { status, text } = await sendRaw(bytes);
    assert.equal(status, expected, text);
    assert.match(text, /^x-request-id: \S+\r$/m);
    assert.deepEqual(JSON.parse(text.slice(text.indexOf("{"))), { detail, code: "bad_request" });
  }
});

test("401: an HTTP/1.0 request without Host header is not rejected with 400", async () => {
  assert.equal((await sendRaw("GET /v1/markets/kalshi/a HTTP/1.0\r\n\r\n")).status, 401);
});

test("200: a percent-encoded slash, an emoji and unusual characters in an id reach the handler, decoded once", async () => {
  for (const id of ["a/b", "..%2f..", "😀", "a b;c?d#e", "%00", "‮rtl", "a\\b"]) {
    const { status, body } = await send({ url: `/v1/markets/kalshi/${encodeURIComponent(id)}` });
    assert.equal(status, 200, id);
    assert.deepEqual(JSON.parse(body), { market_id: id });
  }
});

test("404: ids with thousands of characters reach the handler, and ids that contain NUL do not", async () => {
  const detailOf = async (id: string) => {
    const { status, body } = await send({ url: `/v1/markets/kalshi/${id}` });
    assert.deepEqual([status, JSON.parse(body).code], [404, "market_not_found"]);
    return JSON.parse(body).detail;
  };
  for (const id of ["x".repeat(3_000), "%F0%9F%98%80".repeat(1_000)])
    assert.equal(await detailOf(id), "No such market");
  for (const id of ["%00", "a%00b"]) assert.match(await detailOf(id), /NUL/);
});

test("400: rejects malformed percent-encoding in path or query", async () => {
  for (const url of [
    "/v1/markets/kalshi/%zz",
    "/v1/%c0%ae",
    "/v1/markets/kalshi/a?limit=%f",
    "/v1/markets/kalshi/a?%ff=1",
  ]) {
    const { status, body, headers } = await send({ url });
    assert.equal(status, 400, url);
    assert.equal(JSON.parse(body).code, "bad_request");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(String(headers["x-request-id"]), /^[A-Za-z0-9_-]{16}$/);
  }
});

test("422: reports all invalid path and query values in order, and uses the last of repeated values", async () => {
  const { status, body } = await send({ url: "/v1/markets/nope/a?limit=1&limit=x&expand=history,whatever" });
  assert.equal(status, 422);
  const detail = JSON.parse(body).detail as { loc: string[]; type: string; input: unknown; msg: string }[];
  assert.deepEqual(
    detail.map((entry) => [entry.loc.join("."), entry.type, entry.input]),
    [
      ["path.platform", "literal_error", "nope"],
      ["query.limit", "int_parsing", "x"],
      ["query.expand", "literal_error", "whatever"],
    ],
  );
  assert.equal(detail[2]?.msg, "Input should be 'history' or 'analysis'");
  assert.equal((await send({ url: "/v1/markets/kalshi/a?limit=x&limit=7" })).status, 200);
});

test("404 and 405: unknown paths and wrong methods are rejected before authentication and body parsing", async () => {
  for (const url of ["/", "/v1", "/v1/markets/kalshi/a/", "//v1/webhooks", "/V1/webhooks", "/v1/webhooks/", "/docs"]) {
    const { statusCode, body } = await app.inject({
      method: "POST",
      url,
      payload: "{",
      headers: { "content-type": "text/x" },
    });
    assert.equal(statusCode, 404, url);
    assert.deepEqual(JSON.parse(body), { detail: "Not Found", code: "not_found" });
  }
  for (const [method, url, allow] of [
    ["DELETE", "/v1/markets/kalshi/x%2Fy?limit=1", "GET, HEAD"],
    ["OPTIONS", "/v1/markets/kalshi/a", "GET, HEAD"],
    ["GET", "/v1/webhooks", "POST"],
    ["PUT", "/v1/webhooks?a=b", "POST"],
  ] as const) {
    const { statusCode, body, headers } = await app.inject({ method, url });
    assert.equal(statusCode, 405, `${method} ${url}`);
    assert.equal(headers.allow, allow);
    assert.deepEqual(JSON.parse(body), { detail: "Method Not Allowed", code: "method_not_allowed" });
  }
});

test("401: rejects any credential other than exactly one valid Bearer key, before validation", async () => {
  const invalidValues = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer  a",
    `Bearer  ${VALID_KEY}`,
    `Bearer\t${VALID_KEY}`,
    `Basic ${VALID_KEY}`,
    VALID_KEY,
  ];
  invalidValues.push(
    `Bearer ${VALID_KEY}, Bearer ${VALID_KEY}`,
    `Bearer ${VALID_KEY} x`,
    `Bearer "${VALID_KEY}"`,
    `Bearer ${"x".repeat(9_000)}`,
  );
  invalidValues.push(
    `Bearer ${VALID_KEY}x`,
    `Bearer ${VALID_KEY.toUpperCase()}`,
    "Bearer é",
    "Bearer null",
    "Bearer undefined",
    "Token a",
  );
  for (const authorization of invalidValues) {
    const reply = await app.inject({
      method: "POST",
      url: "/v1/webhooks",
      payload: "{broken",
      headers: { authorization, "content-type": "application/json" },
    });
    assert.equal(reply.statusCode, 401, JSON.stringify(authorization));
    assert.equal(reply.headers["www-authenticate"], "Bearer");
    assert.equal(reply.json().code, "unauthorized");
    assert.match(reply.json().detail, /^(Invalid or expired API key$|API key missing|The Authorization header has)/);
  }
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    const headers = { authorization: `${scheme} ${VALID_KEY}` };
    assert.equal((await app.inject({ url: "/v1/markets/kalshi/a", headers })).statusCode, 200);
  }
});

test("401: rejects two Authorization headers, even if both are valid", async () => {
  const repeatedHeaders = [`Authorization: Bearer ${VALID_KEY}`, `authorization: Bearer ${VALID_KEY}`];
  assert.equal((await sendRaw(head("/v1/markets/kalshi/a", ...repeatedHeaders))).status, 401);
  assert.equal((await sendRaw(head("/v1/markets/kalshi/a", ...repeatedHeaders.slice(1)))).status, 200);
});

test("422: rejects malformed JSON, 5,000 nested levels, duplicate keys and __proto__", async () => {
  const deepBody = `{"url":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
  for (const text of [
    "{broken",
    deepBody,
    "[".repeat(100_000),
    '{"url":"a","url":"b"}',
    '{"__proto__":{"x":1}}',
    "\ufeff{}",
    "NaN",
  ]) {
    const { status, body } = await post(text);
    assert.equal(status, 422, text.slice(0, 40));
    const [first] = JSON.parse(body).detail;
    assert.deepEqual([first.type, first.loc[0], first.msg], ["json_invalid", "body", "JSON decode error"]);
  }
  assert.equal(JSON.parse((await post(Buffer.from([0x22, 0xff, 0x22]))).body).detail[0].type, "json_invalid");
});

test("422: rejects lone surrogates, NUL, infinities, wrong types and long texts without echoing long input", async () => {
  const bodies = [
    '{"url":"\\ud800"}',
    '{"url":"a\\u0000"}',
    '{"url":1e999}',
    `{"url":"${"x".repeat(60_000)}"}`,
    "[]",
    "null",
    "",
    "1",
    '"x"',
  ];
  bodies.push(
    `{"url":${"9".repeat(5_000)}}`,
    `{"url":${"[".repeat(40)}${"]".repeat(40)}}`,
    `{"url":{"secret":"${SECRET}"}}`,
  );
  for (const text of bodies) {
    const { status, body } = await post(text);
    assert.equal(status, 422, text.slice(0, 40));
    assert.ok(body.length < 2_000);
    assert.ok(!body.includes(SECRET));
  }
});

test("422: never returns a secret, neither as the value nor inside its parent", async () => {
  for (const text of [
    `{"secret":"${SECRET}"}`,
    `{"url":"u","secret":["${SECRET}"]}`,
    `{"url":7,"secret":"${SECRET.repeat(20)}"}`,
  ]) {
    const { status, body } = await post(text);
    assert.equal(status, 422);
    assert.ok(!body.includes("canary"), body);
  }
});

test("413 and 415: rejects bodies that are too large, not JSON, or compressed", async () => {
  const largeBody = `{"url":"${"x".repeat(1024 * 1024)}"}`;
  assert.equal((await post(largeBody)).status, 413);
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "a",
  ]) {
    const { status, body } = await post("{}", { "content-type": type });
    assert.equal(status, 415, type);
    assert.equal(JSON.parse(body).code, "unsupported_media_type");
  }
  assert.equal((await post("{}", { "content-encoding": "gzip" })).status, 415);
  assert.equal((await post('{"url":"u"}', { "content-type": "application/json; charset=utf-8" })).status, 200);
});

test("413: rejects a body above the limit, both with Content-Length and with chunked encoding", async () => {
  const start = `POST /v1/webhooks HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${VALID_KEY}\r\ncontent-type: application/json\r\n`;
  const megabyte = "x".repeat(1024 * 1024);
  const withContentLength = await sendRaw(`${start}content-length: ${megabyte.length}\r\n\r\n${megabyte}`);
  assert.equal(withContentLength.status, 413);
  const chunked = await sendRaw(`${start}transfer-encoding: chunked\r\n\r\n100000\r\n${megabyte}\r\n0\r\n\r\n`);
  assert.equal(chunked.status, 413);
});

test("4xx: sends a response to malformed HTTP and excessive headers before it closes the connection", async () => {
  const manyHeaders = Array.from({ length: 3_000 }, (_, index) => `x-${index}: y`);
  const cases: readonly [string, number][] = [
    [head("/v1/markets/kalshi/a", `x-long: ${"y".repeat(100_000)}`), 431],
    [head("/v1/markets/kalshi/a", ...manyHeaders), 431],
    [head(`/v1/markets/kalshi/${"x".repeat(20_000)}`), 431],
    ["NONSENSE\r\n\r\n", 400],
    ["GET / HTTP/9.9\r\n\r\n", 400],
    ["POST /v1/webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 400],
    ["GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n", 400],
    [head("/a b"), 400],
  ];
  for (const [bytes, status] of cases) {
    const response = await sendRaw(bytes);
    assert.equal(response.status, status, bytes.slice(0, 60));
    assert.match(response.text, /"code":"bad_request"/);
    assert.match(response.text, /x-content-type-options: nosniff/);
  }
});

test("accepts a short alphanumeric request id from the client, and replaces other request ids", async () => {
  const idOf = async (requestId: string) =>
    (await app.inject({ url: "/nowhere", headers: { "x-request-id": requestId } })).headers["x-request-id"];
  assert.equal(await idOf("trace-7.a_B"), "trace-7.a_B");
  for (const requestId of ["x".repeat(65), "a b", "a,b", "<script>", ""])
    assert.notEqual(await idOf(requestId), requestId);
});

test("500: the response has no internal details, and the log has the cause with masked credentials", async () => {
  const { status, body, headers } = await send({ url: "/v1/broken" });
  assert.equal(status, 500);
  assert.deepEqual(JSON.parse(body), { detail: "Internal Server Error", code: "internal_error" });
  assert.equal(headers["cache-control"], "no-store");
  const text = JSON.stringify(lines);
  assert.match(text, /failed with Bearer \*\*\*/);
  assert.ok(!text.includes(VALID_KEY) && !text.includes(SECRET));
});

test("x-ignored-parameters lists unknown parameters, escaped and limited in length", async () => {
  const manyParameters = Array.from({ length: 50 }, (_, index) => `q${index}xxxxxx=1`).join("&");
  const response = await send({
    url: `/v1/markets/kalshi/a?limt=3&%0d%0aset-cookie:x=1&${"y".repeat(90)}=1&${manyParameters}`,
  });
  assert.equal(response.status, 200);
  const header = String(response.headers["x-ignored-parameters"]);
  assert.ok(header.startsWith(`limt; did you mean limit, __set-cookie_x, ${"y".repeat(40)}, q0xxxxxx`), header);
  assert.equal(header.split(", ").length, 20);
  const body = await post('{"url":"u","uri":1,"risk_limit":2}');
  assert.equal(body.headers["x-ignored-parameters"], "uri; did you mean url, risk_limit");
});

test("for generated paths, queries and bodies, returns no 5xx and logs no credential", async () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(SECRET, "__proto__", "%", "\0", "limit"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        path: fc.array(text, { maxLength: 4 }),
        query: fc.array(fc.tuple(text, text), { maxLength: 4 }),
        isEncoded: fc.boolean(),
        method: fc.constantFrom("GET", "POST", "HEAD", "DELETE", "PATCH"),
        body: fc.oneof(fc.json(), text, fc.constant(undefined)),
      }),
      async ({ path, query, isEncoded, method, body }) => {
        const encode = (part: string) => encodeURIComponent(part.toWellFormed());
        const prefix = method === "POST" ? "/v1/webhooks" : "/v1/markets/kalshi/";
        const parts = isEncoded
          ? query.map(([name, value]) => `${encode(name)}=${encode(value)}`)
          : ["%", "a=%e0", "&&=", "?limit"];
        const url = `${prefix}${path.map(encode).join("/")}?${parts.join("&")}`;
        const payload = method === "GET" || method === "HEAD" ? undefined : body;
        const { status } = await send({
          method,
          url,
          headers: { "content-type": "application/json" },
          payload: payload?.toWellFormed(),
        });
        assert.ok(status < 500, `${method} ${url} returned ${status}`);
      },
    ),
    { numRuns: 400, seed: 7 },
  );
  assert.ok(lines.length >= 400);
  const logged = JSON.stringify(lines);
  assert.ok(!logged.includes(VALID_KEY) && !logged.includes("canary"));
});
