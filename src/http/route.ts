import type {} from "@fastify/swagger";
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RouteHandlerMethod,
} from "fastify";
import type { Static, TObject, TSchema } from "typebox";
import type { ErrorCode } from "../domain/errors.ts";
import type { Deprecation, Metering } from "../domain/metering.ts";
import type { Access, Principal } from "./auth.ts";
import type { ProblemPage } from "./html/problem-pages.ts";
import { compileRequestValidator, type RequestValidator } from "./validation/index.ts";

/** The tags of the OpenAPI document, in display order. */
export const TAGS = [
  "Markets",
  "Insights",
  "Strategy",
  "Portfolio",
  "Arbitrage",
  "Analytics",
  "Streaming",
  "Consensus",
  "Account",
] as const;

type Tag = (typeof TAGS)[number];

declare module "fastify" {
  interface FastifyContextConfig {
    /** The permitted callers. Required: the server does not start if a route has no access setting. */
    access?: Access;
    /** Tier, plan and limits. Required: the server does not start if a route has no metering. */
    metering?: Metering;
    /** Sent as headers of every response. */
    deprecation?: Deprecation;
    /** Error codes in addition to those implied by access, parameters and body, for the OpenAPI document. */
    errors?: readonly ErrorCode[];
    validate?: RequestValidator;
    /** Overrides the default Cache-Control header of successful responses. */
    cacheControl?: string;
    bodyOptional?: boolean;
    /** HTML error page, for routes that browsers open. */
    problemPage?: ProblemPage;
  }
  interface FastifyRequest {
    /** The authenticated caller; null on public routes. */
    principal: Principal | null;
    /** Cached `routeOptions.config`, because Fastify creates the object on every access. */
    routeConfig: FastifyContextConfig;
    /**
     * Set by a handler if its response only refers to work in progress. The call is then not counted, and its payment
     * can be used again.
     */
    isDeferred: boolean;
    /** Header values, validated by the route's `headers` schema. */
    checkedHeaders: unknown;
  }
}

type EmptySchema = TObject<Record<never, TSchema>>;

type ReadonlyDeep<Value> = Value extends readonly (infer Entry)[]
  ? readonly ReadonlyDeep<Entry>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
    : Value;

type SuccessBody<Responses> = Static<Extract<Responses[keyof Responses], TSchema>>;

/** Handler input: validated values, the caller, and Fastify's request and reply. */
interface RouteContext<Params extends TSchema, Query extends TSchema, Headers extends TSchema, Body, A> {
  readonly params: Static<Params>;
  readonly query: Static<Query>;
  readonly headers: Static<Headers>;
  readonly body: Body;
  readonly principal: A extends "key" ? Principal : null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface RouteDefinition<
  A extends Access,
  Params extends TSchema,
  Query extends TSchema,
  Headers extends TSchema,
  Body extends TSchema,
  Responses extends Readonly<Record<number, TSchema>>,
> extends Pick<FastifyContextConfig, "deprecation" | "errors" | "cacheControl" | "bodyOptional" | "problemPage"> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Fastify's pattern, for example `/v1/markets/:platform/:market_id`. */
  readonly url: string;
  readonly access: A;
  /** Tier, price, plan and limit: an entry of `METERING` or a custom one. */
  readonly metering: Metering;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Unique, snake_case. SDK methods and agent tools use it as their name. */
  readonly operationId: string;
  readonly params?: Params;
  readonly query?: Query;
  /** Schema of the headers, with lower-case names. */
  readonly headers?: Headers;
  readonly body?: Body;
  /** Media types of the request body and of successful responses if not JSON; for the OpenAPI document. */
  readonly consumes?: string[];
  readonly produces?: string[];
  /** Success bodies by status. Undeclared fields are not sent. */
  readonly responses: Responses;
  /**
   * Returns the body, or the reply after sending it (`sendPreserialised`, a stream). The status is 200 unless set with
   * `reply.code`.
   */
  handler(
    context: RouteContext<Params, Query, Headers, Static<Body>, A>,
  ): ReadonlyDeep<SuccessBody<Responses>> | FastifyReply | Promise<ReadonlyDeep<SuccessBody<Responses>> | FastifyReply>;
}

/**
 * Registers a route; a GET route also handles HEAD. Its schemas are the single source of types, validation,
 * serialisation and the OpenAPI document.
 */
export function defineRoute<
  const A extends Access,
  Params extends TSchema = EmptySchema,
  Query extends TSchema = EmptySchema,
  Headers extends TSchema = EmptySchema,
  Body extends TSchema = EmptySchema,
  Responses extends Readonly<Record<number, TSchema>> = Readonly<Record<number, TSchema>>,
>(app: FastifyInstance, definition: RouteDefinition<A, Params, Query, Headers, Body, Responses>): void {
  const {
    method,
    url,
    access,
    metering,
    deprecation,
    errors = [],
    cacheControl,
    bodyOptional,
    problemPage,
  } = definition;
  const { tag, summary, operationId, description, params, query, headers, body, consumes, produces } = definition;
  const validate = compileRequestValidator(definition);
  const config = { access, metering, deprecation, errors, validate, cacheControl, bodyOptional, problemPage };
  const schema: FastifySchema = withoutUndefined({
    tags: [tag],
    summary,
    operationId,
    description,
    params,
    querystring: query,
    headers,
    body,
    consumes,
    produces,
    response: definition.responses,
  });
  const handler: RouteHandlerMethod = (request, reply) => definition.handler(createContext(request, reply));
  app.route({ method, url, config, schema, handler });
  if (method === "GET") app.route({ method: "HEAD", url, config, schema: { ...schema, hide: true }, handler });
}

/** Fastify warns about schema keys whose value is undefined. */
function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as Value;
}

/** The cast is safe: the validator has set values of these schemas, and authentication has set the caller. */
function createContext<Params extends TSchema, Query extends TSchema, Headers extends TSchema, Body, A>(
  request: FastifyRequest,
  reply: FastifyReply,
): RouteContext<Params, Query, Headers, Body, A> {
  return {
    params: request.params,
    query: request.query,
    headers: request.checkedHeaders,
    body: request.body,
    principal: request.principal,
    request,
    reply,
  } as RouteContext<Params, Query, Headers, Body, A>;
}
