import { readdirSync } from "node:fs";
import type { ServiceProcess } from "../support/service-process.ts";

export const EXAMPLES_FOLDER = new URL("../../docs/examples/", import.meta.url);

interface StoredRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | boolean>>;
  readonly body: unknown;
}

/** Returns the ids of the operations with an example. */
export const listExampleIds = (): readonly string[] =>
  readdirSync(EXAMPLES_FOLDER)
    .filter((name) => name !== "venues.json")
    .map((name) => name.replace(/\.json$/, ""));

/** Returns the ids of the most traded market that belongs to an event. */
export async function readLiveValues(service: ServiceProcess): Promise<Readonly<Record<string, string>>> {
  const { json: markets } = await service.get("/v1/markets?limit=50");
  const { platform, market_id, event_slug } = markets.find((market: { event_slug?: string }) => market.event_slug);
  return { platform, market_id, slug: event_slug };
}

/** Calls an operation of the OpenAPI document with the values of a request; `values` replace path values. */
export async function send(
  service: ServiceProcess,
  paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>,
  operationId: string,
  stored: StoredRequest,
  options: { readonly values: Readonly<Record<string, string>>; readonly key: string },
): Promise<{ readonly status: number; readonly body: unknown; readonly request: StoredRequest }> {
  const [path, method] = findOperation(paths, operationId);
  const pathValues = Object.fromEntries(
    Object.entries(stored.path).map(([name, value]) => [name, options.values[name] ?? value]),
  );
  const request = { ...stored, path: pathValues };
  const target = path.replace(/\{(\w+)\}/g, (_match, name) => encodeURIComponent(pathValues[name] ?? ""));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(stored.query)) query.set(name, String(value));
  const response = await fetch(`${service.url}${target}?${query}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${options.key}`,
      ...(stored.body === null ? {} : { "content-type": "application/json" }),
    },
    body: stored.body === null ? undefined : JSON.stringify(stored.body),
  });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? await response.json() : await response.text(), request };
}

function findOperation(
  paths: Parameters<typeof send>[1],
  operationId: string,
): readonly [path: string, method: string] {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId === operationId) return [path, method];
  throw new Error(`There is no operation ${operationId}`);
}
