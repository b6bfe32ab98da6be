import { createEmptyRequest, type LiveValues, withLiveValues } from "./examples.ts";
import { fillGuide, GUIDES, type Guide } from "./guides.ts";
import { renderMarkdown } from "./markdown.ts";
import type { ApiDescription, DocumentedCode, Example, Examples, Operation, Site } from "./model.ts";
import { writeOperation } from "./operation-markdown.ts";

export interface DocPage {
  readonly path: string;
  readonly title: string;
  /** Heading in the navigation: "Guides" or a tag of the API. */
  readonly group: string;
  /** One or two sentences about the content. */
  readonly summary: string;
  /** The operation that the page describes; null for guides. */
  readonly operation: Operation | null;
  /** Writes the page as Markdown. */
  readonly write: (context: PageContext) => string;
}

/** The parts of a page's content that differ between requests. */
export interface PageContext {
  readonly site: Site;
  /** Values of an open market for samples; null shows the stored ones. */
  readonly live: LiveValues | null;
}

export interface PageSources {
  readonly api: ApiDescription;
  readonly guides: ReadonlyMap<Guide, string>;
  readonly examples: Examples;
  readonly venues: readonly string[];
  readonly statusOf: (code: DocumentedCode) => number;
}

/** Lists the pages: the guides in reading order, then the operations by tag. */
export function listPages(sources: PageSources): readonly DocPage[] {
  const { api } = sources;
  const operations = api.tags.flatMap((tag) => api.operations.filter((operation) => operation.tag === tag));
  return [
    ...GUIDES.map((guide) => createGuidePage(guide, sources)),
    ...operations.map((operation) => createOperationPage(operation, sources)),
  ];
}

/** Returns the example of an operation with live values, or null if none is stored. */
function findExample({ examples }: PageSources, { id }: Operation, live: LiveValues | null): Example | null {
  const example = examples.get(id);
  return example === undefined ? null : withLiveValues(example, live);
}

/** Returns the request that prefills the form of an operation. */
export const findRequest = (sources: PageSources, operation: Operation, live: LiveValues | null) =>
  findExample(sources, operation, live)?.request ?? createEmptyRequest(operation);

function createGuidePage(guide: Guide, sources: PageSources): DocPage {
  const text = sources.guides.get(guide) ?? "";
  const { api, venues, statusOf } = sources;
  return {
    path: guide === "introduction" ? "/docs" : `/docs/${guide}`,
    title: /^# (.+)/.exec(text)?.[1] ?? guide,
    group: "Guides",
    summary: firstSentence(text),
    operation: null,
    write: ({ site, live }) =>
      fillGuide(text, { api, venues, statusOf, site, exampleOf: (operation) => findExample(sources, operation, live) }),
  };
}

function createOperationPage(operation: Operation, sources: PageSources): DocPage {
  const { slug, summary: title, tag, method, path, description } = operation;
  return {
    path: `/docs/api/${slug}`,
    title,
    group: tag,
    summary: `${method} ${path}. ${firstSentence(description)}`.trim(),
    operation,
    write: ({ site, live }) => writeOperation(operation, findExample(sources, operation, live), sources.api, site),
  };
}

/** Returns the first sentence of the first paragraph, without markup and placeholders. */
function firstSentence(markdown: string): string {
  const paragraph = markdown.split("\n\n").find((block) => /^[A-Z]/.test(block)) ?? "";
  const plain = paragraph.replaceAll("\n", " ").replace(/[`*]|\[|\]\([^)]*\)/g, "");
  return /^.*?[.:!?](?= |$)/.exec(plain)?.[0]?.replace(/:$/, ".") ?? plain;
}

/** Writes the list of all pages for programs (llmstxt.org). */
export function writeIndex(pages: readonly DocPage[], { origin }: Site): string {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const lists = groups.map((group) => {
    const lines = pages
      .filter((page) => page.group === group)
      .map(({ title, path, summary }) => `- [${title}](${origin}${path}.md): ${summary}`);
    return `## ${group}\n\n${lines.join("\n")}`;
  });
  const intro = `# Parallax\n\n> ${pages[0]?.summary ?? ""}`;
  const optional = `## Optional\n\n- [OpenAPI description](${origin}/openapi.json): the whole API for tools`;
  return `${[intro, ...lists, optional].join("\n\n")}\n`;
}

/** Renders a page and returns the parts that the search indexes. */
export const renderPageContent = (page: DocPage, context: PageContext) => renderMarkdown(page.write(context));
