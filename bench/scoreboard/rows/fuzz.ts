import { Compile } from "typebox/schema";
import { seededUniform } from "../../../test/support/research/sample-web.ts";
import {
  type FuzzedRequest,
  type KnownIds,
  type OpenApiDocument,
  REQUEST_KINDS,
  RequestGenerator,
} from "../../harness/fuzzed-requests.ts";
import { type BenchService, openService } from "../../harness/service.ts";
import type { ScoreboardRow } from "../row.ts";

const REQUESTS = 100_000;
const REQUESTS_QUICK = 2_000;
const CONCURRENT_REQUESTS = 16;
const REQUEST_MS_MAX = 60_000;
const EXAMPLES_SHOWN = 5;
/** The event stream does not end, and after a rotation all later requests would be rejected. */
const SKIPPED_OPERATIONS = new Set(["stream_events", "rotate_key"]);
/** Minimum share of 2xx responses. With fewer, most requests would not reach the handlers. */
const ACCEPTED_SHARE_MIN = 0.1;

interface FuzzCounts {
  serverErrors: number;
  /** Declared 502 and 503 with `Retry-After`, such as a venue whose requests are used up. */
  readonly refusals: Map<string, number>;
  undeclared: number;
  invalid: number;
  accepted: number;
  readonly kinds: Map<string, number>;
  readonly operations: Set<string>;
  readonly examples: string[];
}

export const fuzzedRequestsRow: ScoreboardRow = {
  id: "S10",
  figure:
    "5xx, undeclared statuses and responses against their schema, for requests generated from the OpenAPI document",
  target: `0 of ${REQUESTS.toLocaleString("en-US")} requests: valid, near-valid and hostile`,
  mutations: [
    {
      defence: "an id in a path with a NUL character is answered before the store is asked",
      file: "src/http/request-pipeline.ts",
      find: 'if (raw.url?.includes("%00") !== true) return;',
      replace: "if (raw.url !== null) return;",
    },
  ],
  async measure({ quick, seed, print }) {
    const service = await openService({});
    try {
      const requests = quick ? REQUESTS_QUICK : REQUESTS;
      const counts = await sendAll(service, requests, seededUniform(seed), print);
      const { serverErrors, refusals, undeclared, invalid, accepted, kinds, operations, examples } = counts;
      if (kinds.size < REQUEST_KINDS.length || accepted < requests * ACCEPTED_SHARE_MIN)
        throw new Error(`only ${accepted} of ${requests} requests were accepted`);
      const refused = [...refusals].map(([code, count]) => `${count} ${code}`).join(", ");
      const shown = examples.length === 0 ? "" : `; ${examples.join(" | ")}`;
      return {
        isMet: serverErrors === 0 && undeclared === 0 && invalid === 0,
        value: `${serverErrors} 5xx, ${undeclared} undeclared statuses, ${invalid} invalid responses of ${requests} requests to ${operations.size} operations; ${accepted} accepted, refused with Retry-After: ${refused === "" ? 0 : refused}${shown}`,
      };
    } finally {
      await service.close();
    }
  },
};

async function sendAll(
  service: BenchService,
  requests: number,
  uniform: () => number,
  print: (line: string) => void,
): Promise<FuzzCounts> {
  const document: OpenApiDocument = (await service.get("/openapi.json")).json;
  const key = service.keys.enterprise;
  const known = await readKnownIds(service);
  const generator = new RequestGenerator({ document, uniform, known, key, skipped: SKIPPED_OPERATIONS });
  const check = createChecker(document);
  const counts: FuzzCounts = {
    serverErrors: 0,
    refusals: new Map(),
    undeclared: 0,
    invalid: 0,
    accepted: 0,
    kinds: new Map(),
    operations: new Set(),
    examples: [],
  };
  let sent = 0;
  const sendNext = async () => {
    while (sent < requests) {
      sent += 1;
      if (sent % 10_000 === 0) print(`${sent} of ${requests} requests`);
      const request = generator.next();
      counts.operations.add(request.operation.operationId);
      counts.kinds.set(request.kind, (counts.kinds.get(request.kind) ?? 0) + 1);
      const problem = await sendOne(service.url, request, check, counts);
      if (problem !== null && counts.examples.length < EXAMPLES_SHOWN)
        counts.examples.push(`${problem}: ${request.method} ${request.path.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, sendNext));
  return counts;
}

/** Sends a request and counts its result. Returns what is wrong with the response, or null. */
async function sendOne(
  url: string,
  { operation, method, path, headers, body }: FuzzedRequest,
  check: ReturnType<typeof createChecker>,
  counts: FuzzCounts,
): Promise<string | null> {
  const signal = AbortSignal.timeout(REQUEST_MS_MAX);
  const response = await fetch(`${url}${path}`, { method, headers, body, signal, redirect: "manual" });
  const text = await response.text();
  const { status } = response;
  if (status < 300) counts.accepted += 1;
  if (operation.responses[status] === undefined) {
    counts.undeclared += 1;
    return `undeclared ${status}`;
  }
  if (status >= 500) {
    if (status > 500 && response.headers.has("retry-after")) {
      const { code }: { readonly code: string } = JSON.parse(text);
      counts.refusals.set(code, (counts.refusals.get(code) ?? 0) + 1);
    } else {
      counts.serverErrors += 1;
      return `${status} ${text.slice(0, 100)}`;
    }
  }
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  const problem = isJson ? check(operation.operationId, status, JSON.parse(text)) : null;
  if (problem !== null) counts.invalid += 1;
  return problem;
}

/** Returns a function that compares a response with its declared schema. It returns what is wrong, or null. */
function createChecker({ paths, components }: OpenApiDocument) {
  const schemas = new Map<string, ReturnType<typeof Compile>>();
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const schema = content?.["application/json"]?.schema;
      // The references of the schema point to the components of the document.
      if (schema !== undefined) schemas.set(`${operation.operationId} ${status}`, Compile({ ...schema, components }));
    }
  return (operationId: string, status: number, value: unknown): string | null => {
    const schema = schemas.get(`${operationId} ${status}`);
    if (schema === undefined) return `${status} has no schema for JSON`;
    if (schema.Check(value)) return null;
    const [, errors] = schema.Errors(value);
    return `${status} ${errors[0]?.instancePath ?? ""} ${errors[0]?.message ?? "does not match"}`;
  };
}

async function readKnownIds(service: BenchService): Promise<KnownIds> {
  const { json: markets } = await service.get("/v1/markets?limit=100", service.headers);
  const { json: events } = await service.get("/v1/events?limit=50", service.headers);
  const slugs = events.map(({ slug }: { slug: string }) => slug);
  if (markets.length === 0 || slugs.length === 0) throw new Error("the service lists no markets or events");
  return {
    markets: markets.map(({ platform, market_id }: KnownIds["markets"][number]) => ({ platform, market_id })),
    slugs,
  };
}
