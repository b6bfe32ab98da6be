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
import type { ProblemPage } from "./html/define-page.ts";
import { compileRequestValidator, type RequestValidator } from "./validation/index.ts";

/** The groups of the interface description, in the order in which they are shown. */
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
    /** Who may call; a route without it stops the start. */
    access?: Access;
    /** What a call counts as; a route without it stops the start. */
    metering?: Metering;
    /** Told in the headers of every answer. */
    deprecation?: Deprecation;
    /** Errors of its own that the route can answer with, for the interface description. */
    errors?: readonly ErrorCode[];
    validate?: RequestValidator;
    /** Cache-Control of successes, where not the default. */
    cacheControl?: string;
    bodyOptional?: boolean;
    /** People come here too: what goes wrong is told on a page. */
    problemPage?: ProblemPage;
  }
  interface FastifyRequest {
    /** The proven caller; null on public routes. */
    principal: Principal | null;
    /** `routeOptions.config`, read once: the framework makes that object anew whenever it is asked. */
    routeConfig: FastifyContextConfig;
    /** Header values by the route's `headers` schema. */
    checkedHeaders: unknown;
  }
}

type Nothing = TObject<Record<never, TSchema>>;

type ReadonlyDeep<Value> = Value extends readonly (infer Entry)[]
  ? readonly ReadonlyDeep<Entry>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
    : Value;

type SuccessBody<Responses> = Static<Extract<Responses[keyof Responses], TSchema>>;

/** What a handler gets: checked values, the caller, and the server's own request and reply for what is rare. */
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
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Fastify's pattern, for example `/v1/markets/:platform/:market_id`. */
  readonly url: string;
  readonly access: A;
  /** Tier, price, plan and limit: one of `METERING`, or one's own. */
  readonly metering: Metering;
  /** Left out while the route is to stay. */
  readonly deprecation?: Deprecation;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Unique, snake_case: the SDK's and the agents' name for it. */
  readonly operationId: string;
  readonly params?: Params;
  readonly query?: Query;
  /** Lower-case names. */
  readonly headers?: Headers;
  readonly body?: Body;
  readonly bodyOptional?: boolean;
  /** Media types of the body and of successes, where they are not JSON alone; for the interface description. */
  readonly consumes?: string[];
  readonly produces?: string[];
  /** Where browsers come too: how they are told what went wrong. */
  readonly problemPage?: ProblemPage;
  /** Success bodies by status; what they do not declare is not sent. */
  readonly responses: Responses;
  /** Error codes beyond those that follow from access, parameters and body. */
  readonly errors?: readonly ErrorCode[];
  readonly cacheControl?: string;
  /**
   * Gives the body, or the reply after sending through it (`sendPreserialised`, a stream). Status 200 unless it says
   * `reply.code(202)`.
   */
  handler(
    context: RouteContext<Params, Query, Headers, Static<Body>, A>,
  ): ReadonlyDeep<SuccessBody<Responses>> | FastifyReply | Promise<ReadonlyDeep<SuccessBody<Responses>> | FastifyReply>;
}

/**
 * Installs a route; a GET also answers HEAD. Its schemas are the one source of types, validation, serialisation and
 * the interface description.
 */
export function defineRoute<
  const A extends Access,
  Params extends TSchema = Nothing,
  Query extends TSchema = Nothing,
  Headers extends TSchema = Nothing,
  Body extends TSchema = Nothing,
  Responses extends Readonly<Record<number, TSchema>> = Readonly<Record<number, TSchema>>,
>(app: FastifyInstance, definition: RouteDefinition<A, Params, Query, Headers, Body, Responses>): void {
  const { method, url, access, metering, deprecation, tag, summary, description, operationId } = definition;
  const { params, query, headers, body } = definition;
  const config: FastifyContextConfig = {
    access,
    metering,
    ...(deprecation === undefined ? {} : { deprecation }),
    errors: definition.errors ?? [],
    validate: compileRequestValidator(definition),
    ...(definition.cacheControl === undefined ? {} : { cacheControl: definition.cacheControl }),
    ...(definition.bodyOptional === undefined ? {} : { bodyOptional: definition.bodyOptional }),
    ...(definition.problemPage === undefined ? {} : { problemPage: definition.problemPage }),
  };
  const schema: FastifySchema = {
    tags: [tag],
    summary,
    operationId,
    ...(description === undefined ? {} : { description }),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(definition.consumes === undefined ? {} : { consumes: definition.consumes }),
    ...(definition.produces === undefined ? {} : { produces: definition.produces }),
    response: definition.responses,
  };
  const handler: RouteHandlerMethod = (request, reply) => definition.handler(contextOf(request, reply));
  app.route({ method, url, config, schema, handler });
  if (method === "GET") app.route({ method: "HEAD", url, config, schema: { ...schema, hide: true }, handler });
}

/** Holds because the validator put values of exactly these schemas there, and authentication the caller. */
function contextOf<Params extends TSchema, Query extends TSchema, Headers extends TSchema, Body, A>(
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
