import assert from "node:assert/strict";
import { test } from "node:test";
import Type from "typebox";
import { KEY_ROUTE, PUBLIC_ROUTE, testServer } from "../../test/support/test-app.ts";
import { METERING, type Metering } from "../domain/metering.ts";
import { extractNamedSchemas, SCHEMA_NAME } from "./named-schemas.ts";
import { defineRoute, TAGS } from "./route.ts";
import { commaList } from "./validation/index.ts";

async function startDocumentedServer() {
  const { app } = await testServer({ publicUrl: "https://api.example.com" });
  defineRoute(app, {
    ...KEY_ROUTE,
    url: "/v1/markets/:platform/:market_id",
    operationId: "get_market",
    errors: ["market_not_found", "venue_unavailable"],
    params: Type.Object({ platform: Type.Enum(["kalshi"]), market_id: Type.String() }),
    query: Type.Object({ expand: Type.Optional(commaList(["history"], { description: "What to add" })) }),
    responses: { 200: Type.Object({ market_id: Type.String() }) },
    handler: ({ params }) => ({ market_id: params.market_id }),
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    method: "POST",
    url: "/v1/notes",
    operationId: "note",
    body: Type.Object({ text: Type.String(), size: Type.Integer({ default: 3 }) }),
    bodyOptional: true,
    responses: { 202: Type.Object({}) },
    handler: ({ reply }) => {
      reply.code(202);
      return {};
    },
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/v1/probe",
    metering: METERING.PROBE,
    operationId: "probe",
    handler: () => ({}),
  });
  await app.ready();
  return app;
}

test("/openapi.json is an OpenAPI 3.1.0 document of version 1.0.0 with every API route", async () => {
  const app = await startDocumentedServer();
  const reply = await app.inject("/openapi.json");
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  const document = reply.json();
  assert.deepEqual([document.openapi, document.info.version], ["3.1.0", "1.0.0"]);
  assert.deepEqual(
    document.tags.map((tag: { name: string }) => tag.name),
    TAGS,
  );
  const paths = ["/openapi.json", "/v1/markets/{platform}/{market_id}", "/v1/notes", "/v1/probe"];
  assert.deepEqual(Object.keys(document.paths).sort(), paths);
  assert.deepEqual(document.servers, [{ url: "https://api.example.com" }]);
  for (const path of Object.values<Record<string, Record<string, unknown>>>(document.paths)) {
    for (const operation of Object.values(path)) {
      for (const field of ["summary", "tags", "operationId", "responses", "security"])
        assert.ok(field in operation, field);
    }
  }
});

test("a named schema is one component that operations refer to, and a name has one definition", async () => {
  const { app } = await testServer();
  const Item = Type.Object({ id: Type.String() }, { [SCHEMA_NAME]: "Item" });
  const List = Type.Object({ items: Type.Array(Item) }, { [SCHEMA_NAME]: "List" });
  const handler = () => ({ id: "a", items: [] });
  defineRoute(app, { ...PUBLIC_ROUTE, url: "/item", operationId: "item", responses: { 200: Item }, handler });
  defineRoute(app, { ...PUBLIC_ROUTE, url: "/list", operationId: "list", responses: { 200: List }, handler });
  await app.ready();
  const { paths, components } = (await app.inject("/openapi.json")).json();
  const schemaOf = (path: string) => paths[path].get.responses["200"].content["application/json"].schema;
  assert.deepEqual(schemaOf("/item"), { $ref: "#/components/schemas/Item" });
  assert.deepEqual(schemaOf("/list"), { $ref: "#/components/schemas/List" });
  assert.deepEqual(components.schemas.List.properties.items.items, { $ref: "#/components/schemas/Item" });
  assert.deepEqual(components.schemas.Item, {
    type: "object",
    properties: { id: { type: "string" } },
    required: ["id"],
  });
  const Other = { type: "object", [SCHEMA_NAME]: "Item" };
  assert.throws(() => extractNamedSchemas([Item, Other]), /Two schemas have the name "Item"/);
});

test("each operation documents its errors, its parameter styles and its security", async () => {
  const app = await startDocumentedServer();
  const { paths, components } = (await app.inject("/openapi.json")).json();
  const get = paths["/v1/markets/{platform}/{market_id}"].get;
  assert.equal(Object.keys(get.responses).join(), "200,400,401,402,404,409,422,429,500,502,503");
  assert.match(get.responses["429"].description, /rate_limited.*quota_exceeded/);
  const publicResponses = paths["/v1/notes"].post.responses;
  assert.match(publicResponses["429"].description, /Codes: `rate_limited`\.$/);
  assert.equal(paths["/v1/probe"].get.responses["429"], undefined);
  assert.deepEqual([get["x-quota-tier"], get["x-minimum-plan"], get["x-rate-class"]], ["LISTING", "free", "general"]);
  assert.match(get.responses["404"].description, /market_not_found/);
  assert.equal(
    get.responses["422"].content["application/json"].schema.$ref,
    "#/components/schemas/HTTPValidationError",
  );
  const marketplace = { marketplace_secret: [], marketplace_user: [], marketplace_subscription: [] };
  assert.deepEqual(get.security, [{ bearer: [] }, marketplace, { payment: [] }]);
  const headerOf = (name: string) => components.securitySchemes[name].name;
  assert.deepEqual(Object.keys(marketplace).map(headerOf), [
    "x-rapidapi-proxy-secret",
    "x-rapidapi-user",
    "x-rapidapi-subscription",
  ]);
  assert.deepEqual(get.parameters[0], {
    in: "query",
    name: "expand",
    required: false,
    description: "What to add",
    style: "form",
    explode: false,
    schema: { type: "array", items: { type: "string", enum: ["history"] }, maxItems: 50 },
  });
  const post = paths["/v1/notes"].post;
  assert.equal(Object.keys(post.responses).join(), "202,400,413,415,422,429,500");
  assert.deepEqual([post.requestBody.required, post.security], [false, []]);
  assert.deepEqual(post.requestBody.content["application/json"].schema.required, ["text"]);
  assert.deepEqual(components.schemas.ValidationError.required, ["loc", "msg", "type"]);
  assert.equal(components.securitySchemes.bearer.scheme, "bearer");
});

test("a route documents a price and a 402 only if it can be paid per request", async () => {
  const { app } = await testServer();
  const define = (operationId: string, metering: Metering) =>
    defineRoute(app, { ...KEY_ROUTE, metering, url: `/${operationId}`, operationId, handler: () => ({}) });
  define("stream", METERING.STREAM);
  define("unsold", { ...METERING.DEEP, priceTier: null, needsAccount: true });
  assert.throws(() => define("contradiction", { ...METERING.DEEP, needsAccount: true }), /price but needs an account/);
  await app.ready();
  const { paths } = (await app.inject("/openapi.json")).json();
  const describe = ({ get }: { get: Record<string, unknown> }) => [
    get["x-quota-tier"],
    get["x-price-tier"],
    get["x-price-usd"],
    Object.hasOwn(get.responses as object, "402"),
    (get.security as object[]).map((scheme) => Object.keys(scheme)[0]),
  ];
  const anyCaller = ["bearer", "marketplace_secret", "payment"];
  assert.deepEqual(describe(paths["/stream"]), ["LISTING", "DEEP", 5, true, anyCaller]);
  assert.deepEqual(describe(paths["/unsold"]), ["DEEP", null, null, false, ["bearer"]]);
});

test("the document has the URL of the service, or / if none is configured", async () => {
  for (const publicUrl of ["https://api.example.com", null]) {
    const { app } = await testServer({ publicUrl });
    await app.ready();
    assert.deepEqual((await app.inject("/openapi.json")).json().servers, [{ url: publicUrl ?? "/" }]);
  }
});

test("an event that the service sends is documented as a webhook with the schema of its body", async () => {
  const { app } = await testServer();
  const schema = Type.Object({ id: Type.String() }, { [SCHEMA_NAME]: "PingEvent" });
  app.documentedEvents.set("ping", { summary: "A ping", schema });
  await app.ready();
  const { webhooks, components } = (await app.inject("/openapi.json")).json();
  const { post } = webhooks.ping;
  assert.deepEqual(post.requestBody.content["application/json"].schema, { $ref: "#/components/schemas/PingEvent" });
  assert.deepEqual(components.schemas.PingEvent.required, ["id"]);
  const headers = post.parameters.map(({ name }: { name: string }) => name);
  assert.deepEqual(headers, ["webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-signature"]);
});

test("a duplicate operation id aborts the start", async () => {
  const { app } = await testServer();
  const defineAt = (url: string) =>
    defineRoute(app, { ...PUBLIC_ROUTE, operationId: "twice", url, handler: ({ reply }) => reply.send() });
  defineAt("/a");
  assert.throws(() => defineAt("/b"), /twice/);
});

test("responses document their headers for retries, limits and payments", async () => {
  const app = await startDocumentedServer();
  const document = (await app.inject("/openapi.json")).json();
  const { responses } = document.paths["/v1/markets/{platform}/{market_id}"].get;
  const headersOf = (status: number) => Object.keys(responses[status].headers ?? {});
  assert.deepEqual(headersOf(200), ["RateLimit-Policy", "RateLimit", "PAYMENT-RESPONSE"]);
  assert.deepEqual(headersOf(402), ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE"]);
  assert.deepEqual(headersOf(429), ["Retry-After", "RateLimit-Policy", "RateLimit"]);
  assert.deepEqual([headersOf(409), headersOf(503), headersOf(404)], [["Retry-After"], ["Retry-After"], []]);
  assert.equal(responses[200].headers.RateLimit.$ref, "#/components/headers/RateLimit");
  const headerNames = ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "RateLimit", "RateLimit-Policy", "Retry-After"];
  assert.deepEqual(Object.keys(document.components.headers).sort(), headerNames);
  assert.equal(responses[402].content["application/json"].schema.$ref, "#/components/schemas/PaymentRequired");
  const freeResponses = document.paths["/v1/notes"].post.responses;
  assert.ok(!JSON.stringify(freeResponses).includes("PAYMENT"));
});
