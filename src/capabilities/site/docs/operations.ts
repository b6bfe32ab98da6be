import type { RouteRateClass } from "../../../domain/metering.ts";
import type { Plan, Tier } from "../../../domain/plan.ts";
import type { ApiDescription, DocumentedCode, JsonSchema, Operation, Parameter } from "./model.ts";

const JSON_TYPE = "application/json";
const BEARER_SCHEME = "bearer";

interface ResponseObject {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>;
  readonly "x-codes"?: readonly DocumentedCode[];
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: Parameter["in"];
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly "x-quota-tier"?: Tier | null;
  readonly "x-price-tier"?: Tier | null;
  readonly "x-minimum-plan"?: Plan;
  readonly "x-rate-class"?: RouteRateClass | null;
}

/** The parts of the OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly version: string };
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: unknown;
}

/** Reads the operations of an OpenAPI document. */
export function describeApi(document: OpenApiDocument): ApiDescription {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      readOperation(document, path, method, operation as OperationObject),
    ),
  );
  const tags = [...(document.tags ?? []).map(({ name }) => name), ...operations.map(({ tag }) => tag)];
  return {
    version: document.info.version,
    tags: [...new Set(tags)].filter((tag) => operations.some((operation) => operation.tag === tag)),
    operations,
    resolve: (reference) => resolveReference(document, reference) as JsonSchema,
  };
}

/** Returns the name of a schema that a reference points to, for example "Market". */
export const nameOfReference = (reference: string): string => reference.split("/").at(-1) ?? "";

/** Returns the value at a local reference such as `#/components/schemas/Market`. */
function resolveReference(document: OpenApiDocument, reference: string): unknown {
  let value: unknown = document;
  for (const part of reference.replace(/^#\//, "").split("/")) value = (value as Record<string, unknown>)?.[part];
  if (value === undefined) throw new Error(`The OpenAPI document has no ${reference}`);
  return value;
}

function readOperation(document: OpenApiDocument, path: string, method: string, operation: OperationObject): Operation {
  const { operationId: id, security = [] } = operation;
  const responses = Object.entries(operation.responses).map(([status, response]) => ({
    status: Number(status),
    response,
  }));
  const success = responses.find(({ status }) => status < 400);
  if (success === undefined) throw new Error(`Operation ${id} documents no successful response`);
  return {
    id,
    slug: id.replaceAll("_", "-"),
    method: method.toUpperCase(),
    path,
    tag: operation.tags[0] ?? "",
    summary: operation.summary,
    description: operation.description ?? "",
    isDeprecated: operation.deprecated === true,
    needsKey: security.some((scheme) => BEARER_SCHEME in scheme),
    quotaTier: operation["x-quota-tier"] ?? null,
    priceTier: operation["x-price-tier"] ?? null,
    minimumPlan: operation["x-minimum-plan"] ?? "free",
    rateClass: operation["x-rate-class"] ?? null,
    parameters: (operation.parameters ?? []).map(({ required = false, description = "", ...parameter }) => ({
      ...parameter,
      isRequired: required,
      description,
    })),
    body: readBody(operation),
    success: {
      status: success.status,
      ...readContent(success.response),
      headers: readHeaders(document, success.response),
    },
    errors: responses
      .filter(({ status }) => status >= 400)
      .map(({ status, response }) => ({
        status,
        codes: status === 422 ? (["invalid_request"] as const) : (response["x-codes"] ?? []),
      })),
  };
}

function readBody({ requestBody }: OperationObject): Operation["body"] {
  const schema = requestBody?.content[JSON_TYPE]?.schema;
  return schema === undefined ? null : { isRequired: requestBody?.required !== false, schema };
}

function readContent({ content = {} }: ResponseObject): { contentType: string; schema: JsonSchema } {
  const [contentType = JSON_TYPE, media] = Object.entries(content)[0] ?? [];
  return { contentType, schema: media?.schema ?? {} };
}

function readHeaders(document: OpenApiDocument, { headers = {} }: ResponseObject): Operation["success"]["headers"] {
  return Object.entries(headers).map(([name, header]) => {
    const { description = "" } =
      header.$ref === undefined ? header : (resolveReference(document, header.$ref) as { description?: string });
    return { name, description };
  });
}
