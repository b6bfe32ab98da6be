import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from "fastify";
import Type from "typebox";
import type { ErrorCode } from "../domain/errors.ts";
import { METERING, type Metering } from "../domain/metering.ts";
import { STATUS } from "./problem.ts";
import { sendPreserialised } from "./response/preserialised.ts";
import { defineRoute, TAGS } from "./route.ts";

const INTERFACE_VERSION = "1.0.0";
export const DOCS_PREFIX = "/docs";
const BEARER_SCHEME = "bearer";
const PAYMENT_SCHEME = "payment";

/** What each error status means, in the words of the interface specification. */
const STATUS_MEANING: Readonly<Record<number, string>> = {
  400: "Malformed request",
  401: "Missing or invalid API key",
  402: "Payment required, where calls can be paid for one by one",
  403: "Refused: the key's plan is too low for this endpoint, or the bot check failed",
  404: "Not found",
  409: "Conflict with what exists",
  413: "Body too large",
  415: "The body is not JSON",
  422: "Validation error",
  429: "Rate limit or monthly quota exceeded",
  500: "Internal error",
  502: "Upstream venue unavailable",
  503: "Not available at the moment",
};

interface Answer {
  description?: string;
  content?: unknown;
  headers?: Record<string, unknown>;
}

interface Operation {
  responses: Record<string, Answer>;
  security?: readonly Record<string, unknown>[];
  "x-rate-class"?: string;
  requestBody?: { required?: boolean; content: Record<string, { schema: unknown }> };
}

/** Collects every route registered after it and serves `/openapi.json` and, where wanted, `/docs`. */
export async function installOpenApi(
  app: FastifyInstance,
  options: { readonly publicUrl: string | null; readonly docs: boolean },
): Promise<void> {
  const errorsOf = new Map<string, readonly ErrorCode[]>();
  const optionalBodies = new Set<string>();
  app.addHook("onRoute", (route) => {
    const { operationId } = (route.schema ?? {}) as { operationId?: string };
    if (operationId === undefined || route.method === "HEAD") return;
    if (errorsOf.has(operationId)) throw new Error(`Two routes have the operation id "${operationId}"`);
    errorsOf.set(operationId, documentedErrors(route));
    if (route.config?.bodyOptional === true) optionalBodies.add(operationId);
  });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Parallax",
        description: "Intelligence for prediction markets: listings, analyses, signals, arbitrage, consensus, events.",
        version: INTERFACE_VERSION,
      },
      ...(options.publicUrl === null ? {} : { servers: [{ url: options.publicUrl }] }),
      tags: TAGS.map((name) => ({ name })),
      components: {
        securitySchemes: {
          [BEARER_SCHEME]: { type: "http", scheme: "bearer" },
          [PAYMENT_SCHEME]: {
            ...{ type: "apiKey", in: "header", name: "PAYMENT-SIGNATURE" },
            description: "Pay for one call (x402), where the operator has turned that on: a 402 tells what to pay.",
          },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...schema,
        security:
          route.config?.access !== "key"
            ? []
            : [BEARER_SCHEME, ...(isForSale(route.config) ? [PAYMENT_SCHEME] : [])].map((name) => ({ [name]: [] })),
        ...(route.config?.deprecation === undefined ? {} : { deprecated: true }),
        ...describeMetering(route.config?.metering),
      },
      url,
    }),
    transformObject: (documents) => {
      const document = "openapiObject" in documents ? documents.openapiObject : documents.swaggerObject;
      addErrorResponses(document as never, errorsOf, optionalBodies);
      return document;
    },
  });
  serveDocument(app);
  if (options.docs) await installDocs(app);
}

/** What a call counts as, for programs; free routes have none of it. */
function describeMetering(metering: Metering | undefined): Readonly<Record<`x-${string}`, unknown>> {
  if (metering === undefined || metering.rateClass === null) return {};
  const { quotaTier, priceTier, minimumPlan, rateClass } = metering;
  return {
    "x-quota-tier": quotaTier,
    "x-price-tier": priceTier,
    "x-minimum-plan": minimumPlan,
    "x-rate-class": rateClass,
  };
}

function serveDocument(app: FastifyInstance): void {
  let bytes: Buffer | null = null;
  defineRoute(app, {
    method: "GET",
    url: "/openapi.json",
    access: "public",
    metering: METERING.FREE,
    tag: "Analytics",
    summary: "This description of the interface",
    operationId: "get_openapi",
    responses: { 200: Type.Record(Type.String(), Type.Unknown()) },
    handler: ({ reply }) => {
      bytes ??= Buffer.from(JSON.stringify(app.swagger()));
      return sendPreserialised(reply, bytes);
    },
  });
}

/** The rendered description; its pages load nothing from elsewhere. */
async function installDocs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: DOCS_PREFIX,
    staticCSP: true,
    transformStaticCSP: (policy) =>
      policy
        .replace(/ https:(?=[ ;])/g, "")
        .replace(" validator.swagger.io", "")
        .replace("frame-ancestors 'self'", "frame-ancestors 'none'")
        .replace(/\s*upgrade-insecure-requests;?/, ""),
    uiConfig: { validatorUrl: null, docExpansion: "list" } as never,
    theme: { title: "Parallax", css: [{ filename: "parallax.css", content: ".swagger-ui .topbar { display: none }" }] },
  });
}

/** The codes a caller may meet: the route's own and those that follow from what every route of its kind does. */
function documentedErrors(route: RouteOptions): readonly ErrorCode[] {
  const { config, schema } = route;
  return [
    ...(config?.errors ?? []),
    "bad_request",
    "internal_error",
    ...(config?.access === "key" ? (["unauthorized"] as const) : []),
    ...(config?.metering?.isProbe === true ? [] : (["rate_limited"] as const)),
    ...(isForSale(config) ? PAYMENT_ERRORS : []),
    ...(config?.metering?.needsAccount === true ? (["account_required"] as const) : []),
    ...(config?.metering?.minimumPlan === "free" ? [] : (["plan_required"] as const)),
    ...(config?.metering?.quotaTier === null ? [] : (["quota_exceeded", "store_unavailable"] as const)),
    ...(schema?.body === undefined ? [] : (["body_too_large", "unsupported_media_type"] as const)),
  ];
}

/** Whether a call can be paid for by itself, where the operator has turned that on. */
function isForSale(config: FastifyContextConfig | undefined): boolean {
  const { priceTier = null, needsAccount = false } = config?.metering ?? {};
  return priceTier !== null && !needsAccount;
}

const PAYMENT_ERRORS = [
  ...(["malformed_payment", "payment_required", "payment_in_progress"] as const),
  ...(["payment_unavailable", "settlement_unknown"] as const),
];

function addErrorResponses(
  document: {
    paths: Record<string, Record<string, unknown>>;
    components: { schemas?: Record<string, unknown>; headers?: Record<string, unknown> };
  },
  errorsOf: ReadonlyMap<string, readonly ErrorCode[]>,
  optionalBodies: ReadonlySet<string>,
): void {
  document.components.schemas = { ...document.components.schemas, ...ERROR_SCHEMAS };
  document.components.headers = HEADERS;
  for (const path of Object.values(document.paths)) {
    for (const value of Object.values(path)) {
      const operation = value as Operation & { operationId?: string; parameters?: Parameter[] };
      const id = operation.operationId ?? "";
      describeSuccesses(operation);
      for (const parameter of operation.parameters ?? []) tidyParameter(parameter);
      for (const [status, codes] of byStatus(errorsOf.get(id) ?? [])) {
        const schema = status === "402" ? "PaymentRequired" : "Problem";
        operation.responses[status] = errorResponse(Number(status), schema, codes);
      }
      if (operation.parameters !== undefined || operation.requestBody !== undefined) {
        operation.responses["422"] = errorResponse(422, "HTTPValidationError", []);
      }
      describeHeaders(operation);
      if (operation.requestBody !== undefined) tidyBody(operation.requestBody, optionalBodies.has(id));
    }
  }
}

/** Headers that many answers share, each described once. */
const HEADERS = {
  "Retry-After": {
    description: "Seconds to wait, or with a monthly quota the day on which it starts anew",
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description: "The caller's minute limit and monthly quota (IETF draft): name, `q` units, `w` window in seconds",
    schema: { type: "string", examples: ['"general";q=300;w=60, "listing";q=10000'] },
  },
  RateLimit: {
    description: "What is left of them: name, `r` units, `t` seconds until there are more",
    schema: { type: "string", examples: ['"general";r=299;t=0, "listing";r=9999;t=864000'] },
  },
  "PAYMENT-REQUIRED": {
    description: "What the call costs (x402 version 2): base64 of JSON; the body tells it in version 1's words",
    schema: { type: "string", contentEncoding: "base64", contentMediaType: "application/json" },
  },
  "PAYMENT-RESPONSE": {
    description: "To a paid call: what became of its payment, base64 of JSON; to version 1 as X-PAYMENT-RESPONSE",
    schema: { type: "string", contentEncoding: "base64", contentMediaType: "application/json" },
  },
} as const;

function describeHeaders({ responses, security = [], "x-rate-class": rateClass }: Operation): void {
  const isSold = security.some((way) => PAYMENT_SCHEME in way);
  for (const [status, response] of Object.entries(responses)) {
    const isSuccess = status.startsWith("2");
    const names: (keyof typeof HEADERS)[] = [
      ...(["409", "429", "503"].includes(status) ? (["Retry-After"] as const) : []),
      ...(rateClass !== undefined && (isSuccess || status === "429")
        ? (["RateLimit-Policy", "RateLimit"] as const)
        : []),
      ...(status === "402" ? (["PAYMENT-REQUIRED"] as const) : []),
      ...(isSold && (isSuccess || status === "402") ? (["PAYMENT-RESPONSE"] as const) : []),
    ];
    if (names.length === 0) continue;
    const references = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
    response.headers = { ...response.headers, ...references };
  }
}

interface Parameter {
  style?: string;
  explode?: boolean;
  allowEmptyValue?: boolean;
  required?: boolean;
  schema: Record<string, unknown>;
}

/** Says in the description's own words what our marks on a schema mean. */
function tidyParameter(parameter: Parameter): void {
  const {
    style: _style,
    explode: _explode,
    "x-comma-list": isList,
    "x-empty-is-absent": mayBeEmpty,
    ...schema
  } = parameter.schema;
  if (isList === true) Object.assign(parameter, { style: "form", explode: false });
  if (mayBeEmpty === true) parameter.allowEmptyValue = true;
  if (Object.hasOwn(schema, "default")) parameter.required = false;
  parameter.schema = schema;
}

function tidyBody(body: NonNullable<Operation["requestBody"]>, isOptional: boolean): void {
  if (isOptional) body.required = false;
  for (const media of Object.values(body.content)) media.schema = withoutRequiredDefaults(media.schema);
}

/** A field that has a default need not be sent, though its type inside is never absent. */
function withoutRequiredDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutRequiredDefaults);
  if (typeof schema !== "object" || schema === null) return schema;
  const node = schema as { properties?: Record<string, object>; required?: readonly string[] };
  const entries = Object.entries(node).map(([key, value]) => [key, withoutRequiredDefaults(value)]);
  if (!Array.isArray(node.required) || node.properties === undefined) return Object.fromEntries(entries);
  const { properties } = node;
  const required = node.required.filter((name) => !Object.hasOwn(properties[name] ?? {}, "default"));
  return { ...Object.fromEntries(entries), required };
}

/** Stands where a response schema has no description of its own. */
const UNDESCRIBED = "Default Response";

function describeSuccesses(operation: Operation): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === UNDESCRIBED) response.description = SUCCESS_MEANING[status] ?? "Success";
  }
}

const SUCCESS_MEANING: Readonly<Record<string, string>> = { 201: "Created", 202: "Accepted; the work goes on" };

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<string, readonly ErrorCode[]> {
  const result = new Map<string, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const status = String(STATUS[code]);
    result.set(status, [...(result.get(status) ?? []), code]);
  }
  return result;
}

function errorResponse(status: number, schema: string, codes: readonly ErrorCode[]): Answer {
  const meaning = STATUS_MEANING[status] ?? "Error";
  return {
    description: codes.length === 0 ? meaning : `${meaning} (${codes.map((code) => `\`${code}\``).join(", ")})`,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

/** Error bodies; the validation pair is named and shaped as FastAPI does, which generated clients know. */
const ERROR_SCHEMAS = {
  Problem: {
    type: "object",
    title: "Problem",
    properties: {
      detail: { type: "string", description: "What went wrong, for people" },
      code: { type: "string", enum: Object.keys(STATUS), description: "Stable code, for programs" },
      retry_after_seconds: { type: "number", minimum: 0 },
      resets_on: { type: "string", format: "date" },
      payment: {
        type: "object",
        description: "Of a call that is charged and has failed: the same payment is good for one answer",
        properties: {
          settled: { type: "boolean" },
          transaction: { type: "string" },
          redeemable: { type: "boolean" },
        },
        required: ["settled", "transaction", "redeemable"],
      },
    },
    required: ["detail", "code"],
  },
  PaymentRequired: {
    title: "PaymentRequired",
    description: "What the call costs, in the words of x402 version 1; the header PAYMENT-REQUIRED has version 2's",
    allOf: [{ $ref: "#/components/schemas/Problem" }],
    type: "object",
    properties: {
      x402Version: { const: 1 },
      error: { type: "string", description: "Why the payment that came was not taken, or `payment_required`" },
      accepts: {
        type: "array",
        items: {
          type: "object",
          properties: {
            scheme: { const: "exact" },
            network: { type: "string" },
            maxAmountRequired: { type: "string", description: "Atomic units of the asset" },
            resource: { type: "string", format: "uri" },
            description: { type: "string" },
            mimeType: { type: "string" },
            outputSchema: { type: "null" },
            payTo: { type: "string" },
            maxTimeoutSeconds: { type: "integer" },
            asset: { type: "string", description: "The token's contract" },
            extra: {
              type: "object",
              properties: { name: { type: "string" }, version: { type: "string" } },
              required: ["name", "version"],
            },
          },
          required: [
            "scheme",
            "network",
            "maxAmountRequired",
            "resource",
            "payTo",
            "maxTimeoutSeconds",
            "asset",
            "extra",
          ],
        },
      },
    },
    required: ["x402Version", "error", "accepts"],
  },
  HTTPValidationError: {
    type: "object",
    title: "HTTPValidationError",
    properties: { detail: { type: "array", title: "Detail", items: { $ref: "#/components/schemas/ValidationError" } } },
  },
  ValidationError: {
    type: "object",
    title: "ValidationError",
    properties: {
      loc: { type: "array", title: "Location", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
      msg: { type: "string", title: "Message" },
      type: { type: "string", title: "Error Type" },
      input: { title: "Input" },
      ctx: { type: "object", title: "Context" },
    },
    required: ["loc", "msg", "type"],
  },
} as const;
