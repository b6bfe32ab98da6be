import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Type, { type Static, type TObject, type TSchema } from "typebox";
import { AppError, InvalidRequestError } from "../../domain/errors.ts";
import { METERING } from "../../domain/metering.ts";
import { compileRequestValidator } from "../validation/index.ts";

type Nothing = TObject<Record<never, TSchema>>;

/** A page, and whose script and frame it may hold beside; none, usually. */
export interface PageAnswer {
  readonly html: string;
  readonly scriptOrigin?: string;
}

/** What a person is told of a failure; null where it is told as JSON. */
export type ProblemPage = (status: number, error: unknown, request: FastifyRequest) => PageAnswer | null;

/** A page for people, or what a form on one does. No part of the interface that programs see, nor of its description. */
export interface PageDefinition<Params extends TSchema, Query extends TSchema, Body extends TSchema> {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly problemPage: ProblemPage;
  readonly handler: (context: {
    readonly params: Static<Params>;
    readonly query: Static<Query>;
    readonly body: Static<Body>;
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
  }) => FastifyReply | Promise<FastifyReply>;
}

/** Installs a page; a GET also answers HEAD. Anyone may ask, limited by address; who is signed in, the handler judges. */
export function definePage<
  Params extends TSchema = Nothing,
  Query extends TSchema = Nothing,
  Body extends TSchema = Nothing,
>(app: FastifyInstance, definition: PageDefinition<Params, Query, Body>): void {
  const { method, url, params, query, body, problemPage, handler } = definition;
  const nothing = Type.Object({});
  const validate = compileRequestValidator({
    params: params ?? nothing,
    query: query ?? nothing,
    ...(body === undefined ? {} : { body }),
  });
  app.route({
    method: method === "GET" ? ["GET", "HEAD"] : method,
    url,
    config: { access: "public", metering: METERING.FREE, cacheControl: "no-store", validate, problemPage },
    schema: { hide: true },
    handler: (request, reply) => handler(contextOf(request, reply)),
  });
}

/** Holds because the validator put values of exactly these schemas there. */
function contextOf<Params, Query, Body>(request: FastifyRequest, reply: FastifyReply) {
  const { params, query, body } = request as { params: Params; query: Query; body: Body };
  return { params, query, body, request, reply };
}

/** Our own style file, forms to ourselves, nothing inline, and nobody frames it. */
function pagePolicy({ scriptOrigin }: Pick<PageAnswer, "scriptOrigin">): string {
  const scripts = scriptOrigin === undefined ? [] : [`script-src ${scriptOrigin}`, `frame-src ${scriptOrigin}`];
  const fixed = ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"];
  return ["default-src 'none'", "style-src 'self'", ...scripts, ...fixed].join("; ");
}

/** Sends a page that holds or leads to what is one person's: nobody keeps it, and its address goes to nobody else. */
export function sendPage(reply: FastifyReply, status: number, page: string | PageAnswer): FastifyReply {
  const answer = typeof page === "string" ? { html: page } : page;
  setPrivateHeaders(reply);
  return (
    reply
      .code(status)
      // Tells the site and no more. Without it, forms would come with `Origin: null`, like those of a stranger.
      .header("referrer-policy", "strict-origin")
      .header("content-security-policy", pagePolicy(answer))
      .header("content-type", "text/html; charset=utf-8")
      .send(answer.html)
  );
}

/** What holds a token or a key stays with whom it was sent to. */
export function setPrivateHeaders(reply: FastifyReply): void {
  reply.header("cache-control", "no-store").header("referrer-policy", "no-referrer");
}

/** What a person is told of a failure, in words that show nothing internal; null where there are none of its own. */
export function errorText(error: unknown): string | null {
  if (error instanceof AppError) return error.message;
  if (!(error instanceof InvalidRequestError)) return null;
  const texts = error.errors.map(({ loc, msg }) => `${String(loc.at(-1))}: ${msg.replace(/^Value error, /, "")}`);
  return texts.join("; ");
}
