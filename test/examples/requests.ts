import { readdirSync, readFileSync } from "node:fs";
import { eventually, type ServiceProcess } from "../support/service-process.ts";
import { startReceiver } from "../support/webhooks/receiver.ts";

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

type LiveValues = Readonly<Record<string, string | readonly string[] | readonly object[]>>;

/**
 * Returns the ids of the most traded market that belongs to an event, of another market of this event, and of an analysis of
 * the first one, and a position in the second one. The event has a fixed date, so a sandbox that starts months later lists both.
 */
export async function readLiveValues(service: ServiceProcess) {
  const { json: markets } = await service.get("/v1/markets?limit=100");
  const { platform, market_id, event_slug } = markets.find((market: { event_slug?: string }) => market.event_slug);
  const other = markets.find(
    (market: Readonly<Record<string, string>>) => market.event_slug === event_slug && market.market_id !== market_id,
  );
  const analysis_id = await analyse(service, `/v1/markets/${platform}/${encodeURIComponent(market_id)}/analyze`);
  const portfolio = [{ platform, market_id: other.market_id, side: "yes", size_usd: 50, entry_price: 0.5 }];
  return { platform, market_id, slug: event_slug, market_ids: [market_id, other.market_id], analysis_id, portfolio };
}

/** Starts an analysis, waits for its end and returns its id. */
export async function analyse(service: ServiceProcess, path: string): Promise<string> {
  const authorization = `Bearer ${service.keys.enterprise}`;
  const response = await fetch(`${service.url}${path}`, { method: "POST", headers: { authorization } });
  const { analysis_id } = (await response.json()) as { readonly analysis_id: string };
  await eventually(async () => {
    const { json } = await service.get(`/v1/analyses/${analysis_id}/status`);
    return json.status === "running" ? null : true;
  }, "the analysis");
  return analysis_id;
}

/** URL of the receiver in the published examples of webhooks. */
export const WEBHOOK_URL = "https://example.com/events";

/** Starts a receiver of webhooks on this machine. The requests of the examples name its URL instead of `WEBHOOK_URL`. */
export async function startWebhookReceiver() {
  const { port, requests, close } = await startReceiver((_request, response) => response.end("ok"));
  return { url: `http://127.0.0.1:${port}/events`, requests, close };
}

/** Registers a webhook for finished analyses and returns its id. */
export async function registerWebhook(service: ServiceProcess, url: string, key: string): Promise<string> {
  const response = await fetch(`${service.url}/v1/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ url, events: ["analysis_complete"] }),
  });
  const { webhook_id } = (await response.json()) as { readonly webhook_id: string };
  return webhook_id;
}

/** Waits until a webhook has this number of deliveries. */
export async function waitForDeliveries(service: ServiceProcess, webhookId: string, count: number): Promise<void> {
  await eventually(async () => {
    const { json } = await service.get(`/v1/webhooks/${webhookId}/deliveries`);
    return json.length >= count ? true : null;
  }, "the deliveries of a webhook");
}

/** A sandbox sends no e-mail, so the token of this example does not exist. */
const WITHOUT_TOKEN = "verify_email";
/** They end the webhook and the keys that other examples use. */
const LAST = ["delete_webhook", "revoke_key", "rotate_key"];

export interface ExampleReply {
  readonly id: string;
  /** Whether the request is the one of the example. Others come from `addRequests`. */
  readonly isExample: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON
  readonly example: any;
  readonly status: number;
  readonly body: unknown;
}

/**
 * Sends the request of every example, in an order in which all of them succeed. They use a new account as far as the free
 * plan allows them, but not for webhooks: `values` names one of the enterprise account.
 *
 * @param addRequests  returns more requests of an operation, which the enterprise account sends
 */
export async function* callExamples(
  service: ServiceProcess,
  paths: Parameters<typeof send>[1],
  values: LiveValues,
  addRequests: (id: string, request: StoredRequest) => readonly StoredRequest[] = () => [],
): AsyncGenerator<ExampleReply> {
  const isFirst = (id: string) => id === "sign_up";
  const others = listExampleIds().filter((id) => !isFirst(id) && !LAST.includes(id) && id !== WITHOUT_TOKEN);
  let key = "";
  let keyId = "";
  for (const id of ["sign_up", ...others, ...LAST]) {
    const example = JSON.parse(readFileSync(new URL(`${id}.json`, EXAMPLES_FOLDER), "utf8"));
    if (isFirst(id)) example.request.body.email = "hedy@example.org";
    if (id === "create_key") example.request.body.name = "shape";
    const [path, method] = findOperation(paths, id);
    const isFree = (paths[path]?.[method]?.["x-minimum-plan"] ?? "free") === "free" && !id.includes("webhook");
    for (const request of [example.request, ...addRequests(id, example.request)]) {
      const isExample = request === example.request;
      const options = {
        values: { ...values, key_id: keyId },
        key: isFree && isExample ? key : service.keys.enterprise,
      };
      const { status, body } = await send(service, paths, id, request, options);
      if (isFirst(id)) key = (body as { api_key: string }).api_key;
      if (id === "create_key") keyId = (body as { key_id: string }).key_id;
      yield { id, isExample, example, status, body };
    }
  }
}

/** Calls an operation of the OpenAPI document with the values of a request; `values` replace those of path and body. */
export async function send(
  service: ServiceProcess,
  paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly "x-minimum-plan"?: string }>>>
  >,
  operationId: string,
  stored: StoredRequest,
  options: { readonly values: LiveValues; readonly key: string },
): Promise<{ readonly status: number; readonly body: unknown; readonly request: StoredRequest }> {
  const [path, method] = findOperation(paths, operationId);
  const replace = (values: object) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, options.values[name] ?? value]));
  const pathValues = replace(stored.path);
  const body = typeof stored.body === "object" && stored.body !== null ? replace(stored.body) : stored.body;
  const request = { ...stored, path: pathValues, body };
  const target = path.replace(/\{(\w+)\}/g, (_match, name) => encodeURIComponent(pathValues[name] ?? ""));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(stored.query)) query.set(name, String(value));
  const response = await fetch(`${service.url}${target}?${query}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${options.key}`,
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    body: body === null ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: await readBody(response), request };
}

function readBody(response: Response): Promise<unknown> {
  const contentType = response.headers.get("content-type") ?? "";
  if (contentType.startsWith("application/json")) return response.json();
  return contentType.startsWith("text/event-stream") ? readFirstEvent(response) : response.text();
}

/** Returns a stream up to the end of its first event, and closes it. */
async function readFirstEvent({ body }: Response): Promise<string> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const [upToFirst] = /^.*?\ndata: .*?\n\n/s.exec(text) ?? [];
    if (upToFirst !== undefined) return upToFirst;
  }
  return text;
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
