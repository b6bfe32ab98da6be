import { readdirSync, readFileSync } from "node:fs";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import { ENGINE_COEFFICIENTS } from "../../../engine/index.ts";
import { createErrorBody } from "./error-descriptions.ts";
import { writeErrorTable, writeOperationList, writePlansTable, writeTiersTable } from "./formats.ts";
import type { ApiDescription, DocumentedCode, Example, Operation, Site } from "./model.ts";
import { writeSamples } from "./operation-markdown.ts";
import { writeSample } from "./samples.ts";

const GUIDES_FOLDER = new URL("../../../../docs/guides/", import.meta.url);

/** The guides in reading order. Each is a file in `docs/guides`. */
export const GUIDES = [
  "introduction",
  "get-a-key",
  "first-call",
  "authentication",
  "plans-and-quotas",
  "errors",
  "pagination",
  "events",
  "webhooks",
  "prices",
  "arbitrage",
  "analyses",
  "signals",
  "track-record",
] as const;

export type Guide = (typeof GUIDES)[number];

/** The data that replaces the placeholders of a guide. */
export interface GuideContext {
  readonly api: ApiDescription;
  readonly exampleOf: (operation: Operation) => Example | null;
  readonly statusOf: (code: DocumentedCode) => number;
  readonly venues: readonly string[];
  readonly site: Site;
}

/** Reads the texts of all guides. They are read at the start, so that requests open no files. */
export function readGuides(): ReadonlyMap<Guide, string> {
  const files = readdirSync(GUIDES_FOLDER).filter((name) => name.endsWith(".md"));
  const unlisted = files.filter((name) => !GUIDES.some((guide) => `${guide}.md` === name));
  if (unlisted.length > 0) throw new Error(`GUIDES does not list ${unlisted.join(", ")}`);
  return new Map(GUIDES.map((guide) => [guide, readFileSync(new URL(`${guide}.md`, GUIDES_FOLDER), "utf8")]));
}

/**
 * Replaces the placeholders of a guide, for example `{{plans}}` or `{{samples list_markets}}`.
 *
 * @throws Error if a placeholder or the operation in it does not exist
 */
export function fillGuide(text: string, context: GuideContext): string {
  return text.replace(/\{\{(\w+)((?: \w+)*)\}\}/g, (_match, name: string, argumentText: string) => {
    const fill = PLACEHOLDERS[name];
    if (fill === undefined) throw new Error(`There is no placeholder {{${name}}}`);
    return fill(context, ...argumentText.trim().split(" "));
  });
}

type Placeholder = (context: GuideContext, ...names: readonly string[]) => string;

const PLACEHOLDERS: Readonly<Record<string, Placeholder>> = {
  version: ({ api }) => api.version,
  origin: ({ site }) => site.origin,
  key: ({ site }) => site.key,
  venues: ({ venues }) => venues.map((venue) => `\`${venue}\``).join(", "),
  plans: () => writePlansTable(),
  free_listing: () => String(PLAN_ALLOWANCES.free.quotas.LISTING),
  free_rate: () => String(PLAN_ALLOWANCES.free.rateLimits.general),
  tiers: ({ api }) => writeTiersTable(api.operations),
  errors: ({ statusOf }) => writeErrorTable(statusOf),
  error: (_context, code = "") => writeBody(createErrorBody(code as DocumentedCode)),
  operations: ({ api }) => writeOperationList(api),
  public_operations: ({ api }) =>
    api.operations
      .filter(({ needsKey, method }) => !needsKey && method === "GET")
      .map(({ path, slug }) => `[\`${path}\`](/docs/api/${slug})`)
      .join(", "),
  summary: (context, id) => findOperation(context, id).summary,
  weight: (_context, factor) => findWeight(factor),
  maximum: (context, id, name) =>
    String(findOperation(context, id).parameters.find((parameter) => parameter.name === name)?.schema.maximum),
  samples: (context, id) => writeSamples(findOperation(context, id), findExample(context, id), context.site),
  curl: (context, id) =>
    writeSample("curl", findOperation(context, id), findExample(context, id).request, context.site),
  response: (context, id) => writeBody(findExample(context, id).response),
};

const writeBody = (value: unknown): string => JSON.stringify(value, null, 2);

function findWeight(factor: string | undefined): string {
  const [, weight] = Object.entries(ENGINE_COEFFICIENTS.weights).find(([name]) => name === factor) ?? [];
  if (weight === undefined) throw new Error(`There is no factor ${factor}`);
  return String(weight);
}

function findOperation({ api }: GuideContext, id: string | undefined): Operation {
  const operation = api.operations.find((candidate) => candidate.id === id);
  if (operation === undefined) throw new Error(`There is no operation ${id}`);
  return operation;
}

function findExample(context: GuideContext, id: string | undefined): Example {
  const example = context.exampleOf(findOperation(context, id));
  if (example === null) throw new Error(`Operation ${id} has no example`);
  return example;
}
