import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import type { FastifyInstance, InjectOptions } from "fastify";
import Type from "typebox";
import { PUBLIC_ROUTE, testServer } from "../../../test/support/test-app.ts";
import { defineRoute } from "../route.ts";

interface Case {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body: string | null;
  readonly status: number;
  readonly answer: unknown;
}

const corpus = JSON.parse(readFileSync(new URL("./fixtures/pydantic-cases.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Case[];
};

const DIFFERENCES_SHOWN = 5;

const QUERY = Type.Object({
  limit: Type.Integer({ default: 3, minimum: 1, maximum: 10 }),
  ratio: Type.Number({ default: 0.25, minimum: 0, maximum: 0.5 }),
  flag: Type.Boolean({ default: false }),
  period: Type.Enum(["48h", "7d", "30d"], { default: "7d" }),
  text: Type.String({ default: "abc", minLength: 2, maxLength: 5 }),
  slug: Type.String({ default: "abc", pattern: "^(a|b|c)+$" }),
  whole: Type.Integer({ default: 0 }),
  real: Type.Number({ default: 0 }),
  open: Type.Number({ default: 0.5, exclusiveMinimum: 0, exclusiveMaximum: 1 }),
});

const NESTED = Type.Object({
  x: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
  label: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

const BODY = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 5 }),
  count: Type.Integer({ default: 3, minimum: 1, maximum: 10 }),
  ratio: Type.Number({ default: 0.25, minimum: 0, maximum: 0.5 }),
  flag: Type.Boolean({ default: false }),
  kind: Type.Enum(["a", "b", "c"], { default: "a" }),
  slug: Type.String({ default: "abc", pattern: "^[a-z]+$" }),
  tags: Type.Array(Type.String(), { default: ["t"], minItems: 1, maxItems: 3 }),
  nested: Type.Optional(Type.Union([NESTED, Type.Null()])),
  entries: Type.Array(NESTED, { default: [] }),
  period: Type.Enum(["48h", "7d"], { default: "7d" }),
});

const LIMIT = Type.Object({ limit: Type.Integer({ default: 1, minimum: 1 }) });
let app: FastifyInstance;

before(async () => {
  app = (await testServer()).app;
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/query",
    operationId: "query",
    query: QUERY,
    handler: ({ query: q }) => [q.limit, q.ratio, q.flag, q.period, q.text, q.slug, q.whole, q.real, q.open],
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/required",
    operationId: "required",
    query: Type.Object({ needed: Type.Integer(), other: Type.String() }),
    handler: ({ query }) => [query.needed, query.other],
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/path/:platform/:count",
    operationId: "path",
    query: LIMIT,
    params: Type.Object({ platform: Type.Enum(["kalshi", "polymarket"]), count: Type.Integer() }),
    handler: ({ params, query }) => [params.platform, params.count, query.limit],
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    method: "POST",
    url: "/body",
    operationId: "body",
    body: BODY,
    handler: ({ body }) => withoutNull(body),
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    method: "POST",
    url: "/both",
    operationId: "both",
    body: BODY,
    query: LIMIT,
    handler: ({ body, query }) => [query.limit, withoutNull(body)],
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    method: "POST",
    url: "/any",
    operationId: "any",
    body: Type.Unknown(),
    handler: ({ body }) => ({ body }),
  });
});

test("422: accepts, converts and rejects every recorded request exactly like FastAPI with Pydantic 2.13", async () => {
  assert.ok(corpus.cases.length >= 500);
  const differences: unknown[] = [];
  for (const expected of corpus.cases) {
    const request: InjectOptions = { method: expected.method, url: expected.url };
    if (expected.body !== null) {
      request.payload = expected.body;
      request.headers = { "content-type": "application/json" };
    }
    const response = await app.inject(request);
    try {
      assert.equal(response.statusCode, expected.status);
      assert.deepEqual(JSON.parse(response.body), withoutMinusZero(expected.answer));
    } catch {
      differences.push({
        ...expected,
        answer: JSON.stringify(expected.answer),
        actual: [response.statusCode, response.body],
      });
    }
  }
  assert.deepEqual(differences.slice(0, DIFFERENCES_SHOWN), []);
});

/** Converts -0 to 0: Python serialises -0.0, JavaScript 0. */
function withoutMinusZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(entries.map(([name, entry]) => [name, withoutNull(entry)]));
}
