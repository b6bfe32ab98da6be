import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";
import type { MarketBoard } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { METERING } from "../../../domain/metering.ts";
import { assetRoutes, createBrowserProblemPage, definePage, resolveExampleSite } from "../../../http/html/index.ts";
import { STATUSES } from "../../../http/problem.ts";
import { keepCompressed } from "../../../http/response/compression.ts";
import { weakEntityTag } from "../../../http/response/conditional.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { readExamples } from "./examples.ts";
import { readGuides } from "./guides.ts";
import { createLibrary, DOCS_SCRIPT, DOCS_STYLESHEET, type DocsLibrary } from "./library.ts";
import { createLiveValues } from "./live-values.ts";
import type { DocumentedCode, Site } from "./model.ts";
import { SEARCH_LENGTH_MAX } from "./navigation.ts";
import { describeApi, type OpenApiDocument } from "./operations.ts";
import type { PageContext } from "./pages.ts";

const KEY_PLACEHOLDER = "YOUR_API_KEY";

export interface DocsRoutesOptions extends Pick<AreaPorts, "data" | "publicUrl"> {
  /** Public ids of the venues in the order of the configuration. */
  readonly venues: { readonly trading: readonly VenueId[]; readonly all: readonly VenueId[] };
  /** Key in the samples that users of this machine see. null shows a placeholder. */
  readonly demoKey: string | null;
  readonly board: MarketBoard;
}

/** Registers the documentation: `/docs`, its pages as HTML and Markdown, the search, and `/llms.txt`. */
export function docsRoutes(app: FastifyInstance, options: DocsRoutesOptions): void {
  const { board, venues } = options;
  const readLiveValues = createLiveValues(board, venues.trading);
  const guides = readGuides();
  const examples = readExamples(venues.all);
  let library: DocsLibrary | null = null;
  // Created at the first request, because all routes are registered by then.
  const openLibrary = (): DocsLibrary => {
    library ??= createLibrary(
      { api: describeApi(app.swagger() as OpenApiDocument), guides, examples, venues: venues.trading, statusOf },
      { site: { isSandbox: options.data === "sandbox", publicUrl: options.publicUrl }, keep: keepCompressed },
    );
    return library;
  };
  const contextOf = (request: FastifyRequest): PageContext => ({
    site: selectSite(request, options),
    live: readLiveValues(),
  });
  assetRoutes(app, [DOCS_STYLESHEET, DOCS_SCRIPT]);
  pageRoutes(app, (path, request) => openLibrary().find(path, contextOf(request)));
  definePage(app, {
    method: "GET",
    url: "/docs/search",
    query: Type.Object({ q: Type.String({ default: "", maxLength: SEARCH_LENGTH_MAX }) }),
    handler: ({ query }) => openLibrary().createSearchPage(query.q),
  });
}

const statusOf = (code: DocumentedCode): number => (code === "invalid_request" ? 422 : STATUSES[code]);

function pageRoutes(
  app: FastifyInstance,
  find: (path: string, request: FastifyRequest) => ReturnType<DocsLibrary["find"]>,
): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const path = (request.url.split("?", 1)[0] ?? "").replace(/\/$/, "");
    const page = find(path, request);
    if (page === null) throw new AppError("not_found", "Not Found");
    if (page.policy !== null) reply.header("content-security-policy", page.policy);
    return reply.header("etag", entityTagOf(page.body)).type(page.contentType).send(page.body);
  };
  for (const url of ["/docs", "/docs/", "/docs.md", "/docs/:guide", "/docs/api/:operation", "/llms.txt"])
    app.route({
      method: ["GET", "HEAD"],
      url,
      config: { access: "public", metering: METERING.FREE, problemPage: createBrowserProblemPage },
      schema: { hide: true },
      handler,
    });
}

const entityTags = new WeakMap<Buffer, string>();

function entityTagOf(body: Buffer): string {
  const tag = entityTags.get(body) ?? weakEntityTag(body);
  entityTags.set(body, tag);
  return tag;
}

function selectSite(request: FastifyRequest, options: Pick<DocsRoutesOptions, "publicUrl" | "demoKey">): Site {
  const { origin, demoKey } = resolveExampleSite(request, options);
  return { origin, key: demoKey ?? KEY_PLACEHOLDER };
}
