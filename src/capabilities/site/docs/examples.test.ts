import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Check, Errors } from "typebox/schema";
import { DEFAULT_VENUES, openDocsApp } from "../../../../test/support/pages/docs-app.ts";
import type { App } from "../../../app/index.ts";
import type { ErrorCode } from "../../../domain/errors.ts";
import { STATUSES } from "../../../http/problem.ts";
import { createErrorBody, ERROR_DESCRIPTIONS } from "./error-descriptions.ts";
import { readExamples, withLiveValues } from "./examples.ts";
import type { ApiDescription, DocumentedCode, JsonSchema } from "./model.ts";
import { describeApi, type OpenApiDocument } from "./operations.ts";

const examples = readExamples(DEFAULT_VENUES);
let app: App;
let document: OpenApiDocument;
let api: ApiDescription;
before(async () => {
  app = await openDocsApp();
  document = app.http.swagger() as OpenApiDocument;
  api = describeApi(document);
});
after(() => app.http.close());

/** Fails with the schema errors. References in the schema point to the components of the document. */
function assertMatches(schema: JsonSchema, value: unknown, name: string): void {
  const rooted = { ...schema, components: document.components } as object;
  if (!Check(rooted, value)) assert.fail(`${name}: ${JSON.stringify(Errors(rooted, value))}`);
}

test("the check finds a schema error in an example, also behind a reference", () => {
  assert.throws(() => assertMatches({ type: "object", required: ["a"] }, {}, "missing"));
  const problem = { $ref: "#/components/schemas/Problem" };
  assertMatches(problem, { detail: "text", code: "not_found" }, "problem");
  assert.throws(() => assertMatches(problem, { detail: "text", code: "other" }, "code"));
});

test("every operation has an example, and every example has an operation", () => {
  assert.deepEqual([...examples.keys()].sort(), api.operations.map(({ id }) => id).sort());
});

test("every example response matches the schema of its operation", () => {
  for (const { id, success } of api.operations) assertMatches(success.schema, examples.get(id)?.response, id);
});

test("every example request has all required parameters, no unknown one, and valid values", () => {
  for (const { id, parameters, body } of api.operations) {
    const request = examples.get(id)?.request;
    const values = { path: { ...request?.path }, query: { ...request?.query }, header: {} };
    for (const parameter of parameters) {
      const place: Record<string, unknown> = values[parameter.in];
      if (parameter.isRequired) assert.ok(parameter.name in place, `${id}: ${parameter.name}`);
      if (!(parameter.name in place)) continue;
      const value =
        parameter.schema.items === undefined ? place[parameter.name] : String(place[parameter.name]).split(",");
      assertMatches(parameter.schema, value, `${id}.${parameter.name}`);
      delete place[parameter.name];
    }
    assert.deepEqual(values, { path: {}, query: {}, header: {} }, `${id} has no such parameters`);
    assert.equal(request?.body === null, body === null, id);
    if (body !== null) assertMatches(body.schema, request?.body, `${id} body`);
  }
});

test("every error code has a description, an action and an example of its body", () => {
  assert.deepEqual(Object.keys(ERROR_DESCRIPTIONS).sort(), [...Object.keys(STATUSES), "invalid_request"].sort());
  for (const [code, { meaning, action }] of Object.entries(ERROR_DESCRIPTIONS)) {
    assert.match(meaning, /^[A-Z].*\.$/, code);
    assert.match(action, /^[A-Z].*\.$/, code);
    const schema =
      code === "invalid_request" ? "HTTPValidationError" : code === "payment_required" ? "PaymentRequired" : "Problem";
    assertMatches({ $ref: `#/components/schemas/${schema}` }, createErrorBody(code as DocumentedCode), code);
  }
});

test("errors are listed in the order of their status", () => {
  const statuses = Object.keys(ERROR_DESCRIPTIONS).map((code) => STATUSES[code as ErrorCode] ?? 422);
  assert.deepEqual(
    statuses,
    statuses.toSorted((a, b) => a - b),
  );
});

test("live values replace the stored ids of samples, and nothing else", () => {
  const stored = examples.get("get_market_history");
  assert.ok(stored !== undefined);
  const live = { platform: "alpha", market_id: "M-1", slug: "alpha:e", market_ids: ["M-1", "M-2"] };
  const { request, response } = withLiveValues(stored, live);
  assert.deepEqual(request, { ...stored.request, path: { platform: "alpha", market_id: "M-1" } });
  assert.equal(response, stored.response);
  assert.deepEqual(withLiveValues(stored, null), stored);
  const withBody = { request: { ...stored.request, body: { platform: "stored", side: "yes" } }, response };
  assert.deepEqual(withLiveValues(withBody, live).request.body, { platform: "alpha", side: "yes" });
});
