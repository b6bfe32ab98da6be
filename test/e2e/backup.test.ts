import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  eventually,
  type ServiceProcess,
  type ServiceResponse,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const ENVIRONMENT = { PARALLAX_SANDBOX_MARKETS: "20", PARALLAX_LOG_LEVEL: "warn" };

let folder: { path: string; release(): Promise<void> };
let receiver: http.Server;
let webhookUrl: string;
/** Ids of the events that the receiver got, in the order of the attempts. */
const receivedIds: string[] = [];
let answerStatus = 500;
const running = new Set<ServiceProcess>();
before(async () => {
  folder = await temporaryFolder();
  receiver = http.createServer((request, response) => {
    receivedIds.push(String(request.headers["webhook-id"]));
    request.resume();
    response.writeHead(answerStatus).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
after(async () => {
  for (const service of running) await service.end("SIGKILL");
  receiver.close();
  await folder.release();
});

async function start(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  const service = await startServiceProcess({ dataDir, env: { ...ENVIRONMENT, ...env } });
  running.add(service);
  return service;
}

async function stop(service: ServiceProcess): Promise<void> {
  await service.end();
  running.delete(service);
}

async function post(service: ServiceProcess, path: string, body: unknown = {}): Promise<ServiceResponse> {
  const response = await fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.keys.enterprise}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

/** Analyses the first market again, which appends an event. */
async function appendEvent(service: ServiceProcess): Promise<void> {
  const { json: markets } = await service.get("/v1/markets?limit=1");
  const { status, text } = await post(
    service,
    `/v1/markets/${markets[0].platform}/${encodeURIComponent(markets[0].market_id)}/analyze?force=true`,
  );
  assert.equal(status, 202, text);
}

test("checking and restoring a backup resends no event and reuses no event id", async () => {
  const original = join(folder.path, "original");
  const restored = join(folder.path, "restored");
  const first = await start(original);
  const { json: webhook, status } = await post(first, "/v1/webhooks", {
    url: webhookUrl,
    events: ["analysis_complete"],
  });
  assert.equal(status, 200);
  await appendEvent(first);
  await eventually(() => (receivedIds.length > 0 ? true : null), "a delivery that fails");
  const deliveriesPath = `/v1/webhooks/${webhook.webhook_id}/deliveries`;
  await eventually(async () => {
    const { json } = await first.get(deliveriesPath);
    return json[0]?.status === "retrying" ? true : null;
  }, "a retry that waits");
  await stop(first);
  await cp(original, restored, { recursive: true, preserveTimestamps: true });

  const sentIds = new Set(receivedIds);
  const attempts = receivedIds.length;
  const check = await start(restored, { PARALLAX_READ_ONLY: "1" });
  assert.equal((await check.get("/v1/markets?limit=1")).json.length, 1);
  assert.equal((await check.get("/v1/customers/me")).json.plan, "enterprise");
  assert.equal((await check.get(deliveriesPath)).json[0].status, "retrying");
  const refused = await post(check, `/v1/webhooks/${webhook.webhook_id}/test`);
  assert.deepEqual([refused.status, refused.json.code], [503, "read_only"]);
  assert.equal((await check.get("/v1/health")).json.checks.store.status, "ok");
  await stop(check);
  assert.equal(receivedIds.length, attempts);

  answerStatus = 200;
  const third = await start(restored);
  assert.match(third.output(), /the store was restored from a backup or copied/);
  const waiting = (await third.get(deliveriesPath)).json;
  assert.deepEqual([...new Set(waiting.map((delivery: { status: string }) => delivery.status))], ["canceled"]);
  await appendEvent(third);
  await eventually(() => (receivedIds.length > attempts ? true : null), "an event of the restored service");
  const [newId] = receivedIds.slice(attempts);
  assert.ok(newId !== undefined && !sentIds.has(newId));
  for (const id of sentIds)
    assert.ok(Number(newId.replace(/\D/g, "")) > Number(id.replace(/\D/g, "")), `${newId} is not above ${id}`);
  await stop(third);
});
