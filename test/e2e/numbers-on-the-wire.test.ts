import assert from "node:assert/strict";
import { test } from "node:test";
import { callExamples, readLiveValues, registerWebhook, waitForDeliveries } from "../examples/requests.ts";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";
import { openReceiver } from "../support/webhooks/event-receiver.ts";

// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
type Json = any;

/** Probabilities, and the confidence in them, are exact. So are all numbers of these objects. */
const EXACT_FIELDS = /(^|_)(probability|prior|posterior|confidence)(_|$)/;
const EXACT_OBJECTS = ["causal", "scenarios"];
const DECIMALS_MAX = 12;
const USD_DECIMALS_MAX = 6;

/** Number of decimals of the shortest decimal number that is this double. */
function decimalsOf(value: number): number {
  const [, fraction = "", exponent = "0"] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** Returns the places of the numbers with too many decimals. @param isUsd  whether a field is an amount in USD */
function findNoise(value: unknown, isUsd: (field: string) => boolean, field = "", path = "$"): string[] {
  if (typeof value === "number") {
    const most = isUsd(field) ? USD_DECIMALS_MAX : DECIMALS_MAX;
    return EXACT_FIELDS.test(field) || decimalsOf(value) <= most ? [] : [`${path}: ${value}`];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => findNoise(item, isUsd, field, `${path}[${index}]`));
  if (typeof value !== "object" || value === null || EXACT_OBJECTS.includes(field)) return [];
  return Object.entries(value).flatMap(([name, item]) => findNoise(item, isUsd, name, `${path}.${name}`));
}

/** Returns whether the name or a description of a field says that its value is in USD. */
function readUsdFields(document: Json): (field: string) => boolean {
  const fields = new Set<string>();
  const walk = (schema: Json): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [name, property] of Object.entries<Json>(schema.properties ?? {}))
      if (name.endsWith("_usd") || /\b(?:in USD|amount in USD)\b|^USD\b/i.test(property.description ?? ""))
        fields.add(name);
    for (const child of Object.values(schema)) walk(child);
  };
  walk(document);
  // The descriptions of these fields name USD, but their values are per contract, or scores.
  const others = ["payout", "rounds_up_to", "fee_rounds_up_to", "score", "liquidity_score"];
  return (field) => fields.has(field) && !others.includes(field);
}

/** Requests with all expansions and kinds of an operation, besides the one of its example. */
function expand(document: Json, id: string, request: Json): Json[] {
  const operations = Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
  const { parameters = [] } = operations.find(({ operationId }) => operationId === id);
  const schemaOf = (name: string): Json => parameters.find((parameter: Json) => parameter.name === name)?.schema;
  const words: string[] = schemaOf("expand")?.items.enum ?? [];
  const kinds: string[] = schemaOf("kind")?.enum ?? [];
  const query = words.length === 0 ? request.query : { ...request.query, expand: words.join(",") };
  const all = words.length === 0 ? [] : [{ ...request, query }];
  return [...all, ...kinds.map((kind) => ({ ...request, query: { ...query, kind } }))];
}

/** Reads the data of this many events of a stream, from the oldest one. */
async function readEvents(service: ServiceProcess, count: number): Promise<Json[]> {
  const controller = new AbortController();
  const { body } = await fetch(`${service.url}/v1/stream?last_event_id=1`, {
    headers: { authorization: `Bearer ${service.keys.enterprise}` },
    signal: controller.signal,
  });
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.split("\ndata: ").length > count) break;
  }
  controller.abort();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

test("no number of a response, of a stream or of a webhook has a binary rounding error", async () => {
  const folder = await temporaryFolder();
  const service = await startServiceProcess({ dataDir: folder.path });
  try {
    const receiver = await openReceiver();
    const webhookId = await registerWebhook(service, receiver.url, service.keys.enterprise);
    const live = { ...(await readLiveValues(service)), url: receiver.url, webhook_id: webhookId };
    await waitForDeliveries(service, webhookId, 1);
    const document = (await service.get("/openapi.json", {})).json;
    const isUsd = readUsdFields(document);
    for (const field of ["size_usd", "cost_usd", "volume_24h", "flow", "max_drawdown", "total_pnl"])
      assert.ok(isUsd(field), field);
    const called = new Set<string>();
    const noise: string[] = [];
    const addRequests = (id: string, request: Json) => expand(document, id, request);
    for await (const { id, status, body } of callExamples(service, document.paths, live, addRequests)) {
      assert.ok(status < 300, `${id}: ${status} ${JSON.stringify(body)}`);
      called.add(id);
      noise.push(...findNoise(body, isUsd, "", id));
    }
    const documented = Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
    const missing = documented.map(({ operationId }) => operationId).filter((id) => !called.has(id));
    assert.deepEqual(missing, ["verify_email"], "its token exists only in an e-mail");
    for (const event of await readEvents(service, 1)) noise.push(...findNoise(event, isUsd, "", "stream"));
    for (const { body } of receiver.requests) noise.push(...findNoise(JSON.parse(body), isUsd, "", "webhook"));
    assert.deepEqual(noise, []);
  } finally {
    await service.end();
    await folder.release();
  }
});

test("the check finds too many decimals, also in numbers with an exponent", () => {
  const isUsd = (field: string) => field === "cost_usd";
  const noise = findNoise({ price: 0.1 + 0.2, tiny: 1e-13, cost_usd: 0.1234567, list: [{ edge: 1 - 0.9 }] }, isUsd);
  assert.deepEqual(noise.map((place) => place.split(":")[0]).sort(), [
    "$.cost_usd",
    "$.list[0].edge",
    "$.price",
    "$.tiny",
  ]);
  assert.deepEqual(
    findNoise({ probability: 1 / 3, causal: { weight: 1 / 3 }, price: 0.123456789012, cost_usd: 1.000001 }, isUsd),
    [],
  );
});
