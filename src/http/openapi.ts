import swagger from "@fastify/swagger";
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from "fastify";
import Type from "typebox";
import type { ErrorCode } from "../domain/errors.ts";
import { METERING, type Metering } from "../domain/metering.ts";
import { TIER_PRICES_USD } from "../domain/plan.ts";
import { extractNamedSchemas } from "./named-schemas.ts";
import {
  BEARER_SCHEME,
  ERROR_SCHEMAS,
  MARKETPLACE_SCHEMES,
  OPENAPI_HEADERS,
  PAYMENT_SCHEME,
  SECURITY_SCHEMES,
  STATUS_DESCRIPTIONS,
  SUCCESS_DESCRIPTIONS,
} from "./openapi-components.ts";
import { describeWebhooks } from "./openapi-webhooks.ts";
import { STATUSES } from "./problem.ts";
import { keepCompressed } from "./response/compression.ts";
import { sendPreserialised } from "./response/preserialised.ts";
import { defineRoute, TAGS } from "./route.ts";

const API_VERSION = "1.0.0";
declare module "fastify" {
  interface FastifyInstance {
    /** Events that the service sends, by type, for the `webhooks` of the OpenAPI document. */
    readonly documentedEvents: Map<string, { readonly summary: string; readonly schema: object }>;
  }
}

interface Response {
  description?: string;
  content?: unknown;
  headers?: Record<string, unknown>;
  /** The error codes with this status. */
  "x-codes"?: readonly ErrorCode[];
}

interface Operation {
  responses: Record<string, Response>;
  security?: readonly Record<string, unknown>[];
  "x-rate-class"?: string;
  requestBody?: { required?: boolean; content: Record<string, { schema: unknown }> };
}

/** Serves `/openapi.json`. Must be called before the routes are registered. */
export async function installOpenApi(
  app: FastifyInstance,
  options: { readonly publicUrl: string | null },
): Promise<void> {
  const errorsByOperationId = new Map<string, readonly ErrorCode[]>();
  const optionalBodies = new Set<string>();
  app.decorate("documentedEvents", new Map());
  app.addHook("onRoute", (route) => {
    const { operationId } = (route.schema ?? {}) as { operationId?: string };
    if (operationId === undefined || route.method === "HEAD") return;
    if (errorsByOperationId.has(operationId)) throw new Error(`Two routes have the operation id "${operationId}"`);
    errorsByOperationId.set(operationId, listDocumentedErrors(route));
    if (route.config?.bodyOptional === true) optionalBodies.add(operationId);
  });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Parallax",
        description:
          "Prediction markets of several venues in one format: markets, order books, trades, history, resolution, execution, screening, correlation and consensus.",
        version: API_VERSION,
      },
      servers: [{ url: options.publicUrl ?? "/" }],
      tags: TAGS.map((name) => ({ name })),
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...schema,
        security: listSecurity(route.config),
        ...(route.config?.deprecation === undefined ? {} : { deprecated: true }),
        ...describeMetering(route.config?.metering),
      },
      url,
    }),
    transformObject: (documents) => {
      const document = "openapiObject" in documents ? documents.openapiObject : documents.swaggerObject;
      const described = { paths: document.paths, webhooks: describeWebhooks(app.documentedEvents) };
      const { document: references, schemas } = extractNamedSchemas(described);
      const named = {
        ...document,
        ...(references as typeof described),
        components: { ...("components" in document && document.components), schemas },
      };
      addErrorResponses(named as never, errorsByOperationId, optionalBodies);
      return named as typeof document;
    },
  });
  serveDocument(app);
}

/** Returns the ways to authenticate, any of which is enough. Each lists the headers that a request must have. */
function listSecurity(config: FastifyContextConfig | undefined): Record<string, string[]>[] {
  if (config?.access !== "key") return [];
  const hasAccount = config.metering?.needsAccount === true;
  return [
    [BEARER_SCHEME],
    ...(hasAccount ? [] : [MARKETPLACE_SCHEMES]),
    ...(isPayable(config) ? [[PAYMENT_SCHEME]] : []),
  ].map((names) => Object.fromEntries(names.map((name) => [name, []])));
}

/** Returns tier, plan and rate class as extension fields; an empty object for free routes. */
function describeMetering(metering: Metering | undefined): Readonly<Record<`x-${string}`, unknown>> {
  if (metering === undefined || metering.rateClass === null) return {};
  const { quotaTier, priceTier, minimumPlan, rateClass } = metering;
  return {
    "x-quota-tier": quotaTier,
    "x-price-tier": priceTier,
    "x-price-usd": priceTier === null ? null : TIER_PRICES_USD[priceTier],
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
    summary: "Retrieve the OpenAPI document",
    operationId: "get_openapi",
    responses: { 200: Type.Record(Type.String(), Type.Unknown()) },
    handler: ({ reply }) => {
      bytes ??= keepCompressed(Buffer.from(JSON.stringify(app.swagger())));
      return sendPreserialised(reply, bytes);
    },
  });
}

/** Returns the error codes that the route declares and those implied by its access, metering and body. */
function listDocumentedErrors(route: RouteOptions): readonly ErrorCode[] {
  const { config, schema } = route;
  return [
    ...(config?.errors ?? []),
    // Routes that report an unavailable venue also report a rate-limited venue.
    ...(config?.errors?.includes("venue_unavailable") === true ? (["venue_busy"] as const) : []),
    "bad_request",
    "internal_error",
    ...(config?.access === "key" ? (["unauthorized"] as const) : []),
    ...(config?.metering?.isProbe === true ? [] : (["rate_limited"] as const)),
    ...(isPayable(config) ? PAYMENT_ERRORS : []),
    ...(config?.metering?.needsAccount === true ? (["account_required"] as const) : []),
    ...(config?.metering?.minimumPlan === "free" ? [] : (["plan_required"] as const)),
    ...(config?.metering?.quotaTier === null ? [] : (["quota_exceeded", "store_unavailable"] as const)),
    ...(schema?.body === undefined ? [] : (["body_too_large", "unsupported_media_type"] as const)),
  ];
}

/** Whether callers can pay for a single call, if pay per request is enabled. */
function isPayable(config: FastifyContextConfig | undefined): boolean {
  return (config?.metering?.priceTier ?? null) !== null;
}

const PAYMENT_ERRORS = [
  "malformed_payment",
  "payment_required",
  "payment_in_progress",
  "payment_unavailable",
  "settlement_unknown",
] as const;

function addErrorResponses(
  document: {
    paths: Record<string, Record<string, unknown>>;
    components: { schemas?: Record<string, unknown>; headers?: Record<string, unknown> };
  },
  errorsByOperationId: ReadonlyMap<string, readonly ErrorCode[]>,
  optionalBodies: ReadonlySet<string>,
): void {
  document.components.schemas = { ...document.components.schemas, ...ERROR_SCHEMAS };
  document.components.headers = OPENAPI_HEADERS;
  for (const path of Object.values(document.paths)) {
    for (const value of Object.values(path)) {
      const operation = value as Operation & { operationId?: string; parameters?: Parameter[] };
      const id = operation.operationId ?? "";
      describeSuccesses(operation);
      for (const parameter of operation.parameters ?? []) normaliseParameter(parameter);
      for (const [status, codes] of groupByStatus(errorsByOperationId.get(id) ?? [])) {
        const schema = status === "402" ? "PaymentRequired" : "Problem";
        operation.responses[status] = createErrorResponse(Number(status), schema, codes);
      }
      if (operation.parameters !== undefined || operation.requestBody !== undefined) {
        operation.responses["422"] = createErrorResponse(422, "HTTPValidationError", []);
      }
      describeHeaders(operation);
      if (operation.requestBody !== undefined) normaliseBody(operation.requestBody, optionalBodies.has(id));
    }
  }
}

function describeHeaders({ responses, security = [], "x-rate-class": rateClass }: Operation): void {
  const acceptsPayment = security.some((scheme) => PAYMENT_SCHEME in scheme);
  for (const [status, response] of Object.entries(responses)) {
    const isSuccess = status.startsWith("2");
    const headerNames: (keyof typeof OPENAPI_HEADERS)[] = [
      ...(["409", "429", "503"].includes(status) ? (["Retry-After"] as const) : []),
      ...(rateClass !== undefined && (isSuccess || status === "429")
        ? (["RateLimit-Policy", "RateLimit"] as const)
        : []),
      ...(status === "402" ? (["PAYMENT-REQUIRED"] as const) : []),
      ...(acceptsPayment && (isSuccess || status === "402") ? (["PAYMENT-RESPONSE"] as const) : []),
    ];
    if (headerNames.length === 0) continue;
    const references = Object.fromEntries(headerNames.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
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

/** Moves extension keywords from the schema to OpenAPI fields of the parameter. */
function normaliseParameter(parameter: Parameter): void {
  const {
    style: _style,
    explode: _explode,
    "x-comma-list": isList,
    "x-empty-is-absent": allowsEmpty,
    ...schema
  } = parameter.schema;
  if (isList === true) Object.assign(parameter, { style: "form", explode: false });
  if (allowsEmpty === true) parameter.allowEmptyValue = true;
  if (Object.hasOwn(schema, "default")) parameter.required = false;
  parameter.schema = schema;
}

function normaliseBody(body: NonNullable<Operation["requestBody"]>, isOptional: boolean): void {
  if (isOptional) body.required = false;
  for (const media of Object.values(body.content)) media.schema = removeRequiredDefaults(media.schema);
}

/** Removes fields with a default from `required`, because clients may omit them. */
function removeRequiredDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(removeRequiredDefaults);
  if (typeof schema !== "object" || schema === null) return schema;
  const node = schema as { properties?: Record<string, object>; required?: readonly string[] };
  const entries = Object.entries(node).map(([key, value]) => [key, removeRequiredDefaults(value)]);
  if (!Array.isArray(node.required) || node.properties === undefined) return Object.fromEntries(entries);
  const { properties } = node;
  const required = node.required.filter((name) => !Object.hasOwn(properties[name] ?? {}, "default"));
  return { ...Object.fromEntries(entries), required };
}

/** The description that @fastify/swagger sets for responses without one. */
const DEFAULT_DESCRIPTION = "Default Response";

function describeSuccesses(operation: Operation): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === DEFAULT_DESCRIPTION) response.description = SUCCESS_DESCRIPTIONS[status] ?? "Success";
  }
}

function groupByStatus(codes: readonly ErrorCode[]): ReadonlyMap<string, readonly ErrorCode[]> {
  const result = new Map<string, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const status = String(STATUSES[code]);
    result.set(status, [...(result.get(status) ?? []), code]);
  }
  return result;
}

function createErrorResponse(status: number, schema: string, codes: readonly ErrorCode[]): Response {
  const text = STATUS_DESCRIPTIONS[status] ?? "Error";
  return {
    description: codes.length === 0 ? text : `${text} Codes: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
    ...(codes.length === 0 ? {} : { "x-codes": codes }),
  };
}
