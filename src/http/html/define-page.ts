import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TSchema } from "typebox";
import { METERING, type Metering } from "../../domain/metering.ts";
import { compileRequestValidator } from "../validation/index.ts";
import { createPagePolicy, type Page, renderDocument } from "./page.ts";
import { createProblemPage, type ProblemPage } from "./problem-pages.ts";

type EmptyObject = TObject<Record<never, TSchema>>;

/** An HTML page or the target of a form. It is not part of the JSON API and not in the OpenAPI document. */
interface PageDefinition<Params extends TSchema, Query extends TSchema, Body extends TSchema> {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /**
   * How the submissions of a form count towards the limits of the signed-in customer; omitted for public pages.
   */
  readonly metering?: Metering;
  /** The default is `createProblemPage`. */
  readonly problemPage?: ProblemPage;
  /** Returns a page, which is sent with the status 200, or the reply after sending it. */
  readonly handler: (context: {
    readonly params: Static<Params>;
    readonly query: Static<Query>;
    readonly body: Static<Body>;
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
  }) => PageResult | Promise<PageResult>;
}

export type PageResult = Page | FastifyReply;

/**
 * Registers a page; a GET route also serves HEAD. Access is public and rate-limited by IP address, and the handler
 * checks whether the user is signed in. With `metering`, only forms of signed-in browsers are accepted, and
 * `request.principal` is the customer.
 */
export function definePage<
  Params extends TSchema = EmptyObject,
  Query extends TSchema = EmptyObject,
  Body extends TSchema = EmptyObject,
>(app: FastifyInstance, definition: PageDefinition<Params, Query, Body>): void {
  const { method, url, metering, problemPage = createProblemPage, handler } = definition;
  app.route({
    method: method === "GET" ? ["GET", "HEAD"] : method,
    url,
    config: {
      access: metering === undefined ? "public" : "session",
      metering: metering ?? METERING.FREE,
      cacheControl: "no-store",
      validate: compileRequestValidator(definition),
      problemPage,
    },
    schema: { hide: true },
    async handler(request, reply) {
      // The cast is safe because the validator has replaced these values with values of exactly these schemas.
      const { params, query, body } = request as Pick<Parameters<typeof handler>[0], "params" | "query" | "body">;
      // Awaiting a reply gives undefined, which its type does not say.
      const page: Page | undefined = await handler({ params, query, body, request, reply });
      return page === undefined ? reply : sendPage(reply, 200, page);
    },
  });
}

/** Sends a page with private content: it is not cached, and only the site's origin is sent as referrer. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return sendDocument(reply.header("cache-control", "no-store"), status, page);
}

/** Sends a page without private content. Caches may store it but must revalidate it with its entity tag. */
export function sendPublicPage(reply: FastifyReply, page: Page): FastifyReply {
  return sendDocument(reply.header("cache-control", "public, no-cache"), 200, page);
}

function sendDocument(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const { data, publicUrl } = reply.server;
  return (
    reply
      .code(status)
      // With `no-referrer`, browsers would submit forms with `Origin: null`, like cross-site forms.
      .header("referrer-policy", "strict-origin")
      .header("content-security-policy", createPagePolicy(page))
      .header("content-type", "text/html; charset=utf-8")
      .send(renderDocument(page, { isSandbox: data === "sandbox", publicUrl }))
  );
}

/** Uses status 303, so that reloading the page does not resubmit the form. */
export const redirectTo = (reply: FastifyReply, path: string): FastifyReply =>
  reply.code(303).header("location", path).send();

/** Disables caching and referrers, for responses that contain a token or a key. */
export function setPrivateHeaders(reply: FastifyReply): void {
  reply.header("cache-control", "no-store").header("referrer-policy", "no-referrer");
}
