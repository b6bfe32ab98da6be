import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  analyse,
  callExamples,
  EXAMPLES_FOLDER,
  listExampleIds,
  readLiveValues,
  registerWebhook,
  startWebhookReceiver,
  WEBHOOK_URL,
  waitForDeliveries,
} from "../examples/requests.ts";
import { compareShapes } from "../support/compare-shapes.ts";
import {
  eventually,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const PROJECT = new URL("../..", import.meta.url).pathname;
/** Revokes the key that the other samples use, so it runs last. */
const ENDS_KEY = "rotate_key";
/** A sandbox sends no e-mail, so the token of the sample does not exist. */
const NOT_FOUND = "verify_email";
/** The samples of this endpoint run until they are stopped, so they have tests of their own. */
const ENDLESS = "stream_events";
const PROCESSES_MAX = 3;
const WEBHOOK_ID = /wh-[a-z0-9]{26}/;
const GUIDES = ["get-a-key", "first-call", "pagination", "events", "prices"];

/** Each language uses another account, because two calls cannot create the same key. */
const LANGUAGES = [
  { name: "sh", file: "sample.sh", command: "sh", plan: "free" },
  { name: "ts", file: "sample.ts", command: process.execPath, plan: "pro" },
  { name: "python", file: "sample.py", command: "python3", plan: "enterprise" },
] as const;
type Language = (typeof LANGUAGES)[number];
type Plan = Language["plan"];

const hasPython = spawnSync("python3", ["--version"]).status === 0;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;
// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
let document: any;
/** Ids of an open market and its event. Read before the samples rotate the demo keys. */
let live: Awaited<ReturnType<typeof readLiveValues>>;
/** Id of an analysis of the market that the samples name. */
let sampleAnalysisId = "";
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;
/** Id of a webhook that has a delivery. */
let webhookId = "";
before(async () => {
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: join(folder.path, "data") });
  document = (await service.get("/openapi.json", {})).json;
  receiver = await startWebhookReceiver();
  webhookId = await registerWebhook(service, receiver.url, service.keys.enterprise);
  live = await readLiveValues(service);
  await waitForDeliveries(service, webhookId, 1);
  sampleAnalysisId = await analyseSampleMarket();
  // curl prints the status after the body.
  await writeFile(join(folder.path, ".curlrc"), 'silent\nwrite-out = "\\n%{http_code}"\n');
});
after(async () => {
  await service.end();
  await receiver.close();
  await folder.release();
});

async function analyseSampleMarket(): Promise<string> {
  const { text } = await service.get("/docs/api/get-analysis.md", {});
  const path = /(\/v1\/markets\/[^/\s"'{]+\/[^/\s"'{]+)\/analysis/.exec(text)?.[1];
  assert.ok(path !== undefined);
  return analyse(service, `${path}/analyze`);
}

const readStoredPath = (id: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${id}.json`, EXAMPLES_FOLDER), "utf8")).request.path;

interface DocumentedOperation {
  readonly operationId: string;
  readonly responses: object;
  readonly "x-minimum-plan"?: string;
}

/** Returns the operations in an order in which their samples can run. */
function listOperations(): readonly {
  readonly id: string;
  readonly status: number;
  readonly isFree: boolean;
}[] {
  const operations = Object.values(document.paths as Record<string, Record<string, DocumentedOperation>>)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId: id, responses, "x-minimum-plan": plan = "free" }) => ({
      id,
      status: id === NOT_FOUND ? 404 : Number(Object.keys(responses)[0]),
      isFree: plan === "free",
    }));
  return operations.sort((a, b) => Number(a.id === ENDS_KEY) - Number(b.id === ENDS_KEY));
}

/** Returns whether a sample can run on the free plan. Samples of webhooks need the account that has a webhook. */
const isFree = (id: string): boolean =>
  !id.includes("webhook") && listOperations().some((operation) => operation.id === id && operation.isFree);

/** Returns the code blocks of a page in a language. */
async function readSamples(page: string, language: Language): Promise<readonly string[]> {
  const { status, text } = await service.get(`/docs/${page}.md`, {});
  assert.equal(status, 200, page);
  return [...text.matchAll(new RegExp(`^\`\`\`${language.name}\\n(.*?)\\n\`\`\`$`, "gms"))].map(
    (match) => match[1] ?? "",
  );
}

/** Replaces the values of a sample that differ between accounts. */
async function adapt(sample: string, language: Language, plan: Plan): Promise<string> {
  const key = service.keys[plan];
  const adapted = sample
    .replaceAll(service.keys.enterprise, key)
    .replaceAll(readStoredPath("get_analysis_status").analysis_id ?? "", sampleAnalysisId)
    .replaceAll(readStoredPath("get_analysis_status_by_id").analysis_id ?? "", sampleAnalysisId)
    .replaceAll(WEBHOOK_URL, receiver.url)
    .replaceAll("ada@example.org", `ada.${language.name}.${samplesRun}@example.org`);
  samplesRun += 1;
  if (WEBHOOK_ID.test(sample)) return adapted.replace(WEBHOOK_ID, await registerWebhook(service, receiver.url, key));
  const { key_id: storedKeyId } = readStoredPath("revoke_key");
  if (storedKeyId === undefined || !sample.includes(storedKeyId)) return adapted;
  const response = await fetch(`${service.url}/v1/customers/me/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "to revoke" }),
  });
  return adapted.replaceAll(storedKeyId, ((await response.json()) as { key_id: string }).key_id);
}
let samplesRun = 0;

/** Runs a sample and asserts that it gets the status: a program reports a status of 400 or above as an error. */
async function assertRuns(sample: string, language: Language, status: number, name: string, plan: Plan): Promise<void> {
  const runFolder = await mkdtemp(join(folder.path, "sample-"));
  await writeFile(join(runFolder, language.file), await adapt(sample, language, plan));
  const program = run(language.command, [join(runFolder, language.file)], {
    CURL_HOME: folder.path,
    HOME: folder.path,
  });
  const exitCode = await program.ended;
  const message = `${name} in ${language.name}:\n${sample}\n${program.output()}`;
  assert.equal(exitCode, language.name === "sh" || status < 400 ? 0 : 1, message);
  if (language.name === "sh") assert.equal(program.output().split("\n").at(-1), String(status), message);
  else if (status >= 400) assert.match(program.output(), new RegExp(`\\b${status}\\b`), message);
  assert.notEqual(program.output().trim(), "", message);
}

/** Deletes all webhooks, because an account can have ten and the samples register more. */
async function deleteWebhooks(plan: Plan): Promise<void> {
  const headers = { authorization: `Bearer ${service.keys[plan]}` };
  const response = await fetch(`${service.url}/v1/webhooks`, { headers });
  for (const { webhook_id: id } of (await response.json()) as { readonly webhook_id: string }[])
    await fetch(`${service.url}/v1/webhooks/${id}`, { method: "DELETE", headers });
}

/** Runs the samples of every operation, some at a time, and returns how many there are. */
async function runSamples(language: Language): Promise<number> {
  const operations = listOperations();
  // The minute limit of the free plan is lower than the number of samples.
  const largePlan = language.plan === "free" ? "enterprise" : language.plan;
  const last = operations.filter(({ id }) => id === ENDS_KEY);
  const queue = operations.filter(({ id }) => id !== ENDS_KEY && id !== ENDLESS);
  const runOne = async ({ id, status }: (typeof operations)[number]) => {
    const samples = await readSamples(`api/${id.replaceAll("_", "-")}`, language);
    assert.equal(samples.length, 1, `${id} has no sample in ${language.name}`);
    await assertRuns(samples[0] ?? "", language, status, id, isFree(id) ? language.plan : largePlan);
  };
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await runOne(next);
  };
  await Promise.all(Array.from({ length: PROCESSES_MAX }, worker));
  await deleteWebhooks(largePlan);
  for (const guide of GUIDES)
    for (const sample of await readSamples(guide, language)) await assertRuns(sample, language, 200, guide, largePlan);
  for (const operation of last) await runOne(operation);
  return operations.length;
}

// Runs before the samples, which replace the keys.
test("every example has the shape of a real response", async () => {
  const values = { ...live, url: receiver.url, webhook_id: webhookId };
  for await (const { id, example, status, body } of callExamples(service, document.paths, values)) {
    assert.equal(
      status,
      ["analyze_market", "analyze_event"].includes(id) ? 202 : 200,
      `${id}: ${JSON.stringify(body)}`,
    );
    if (typeof body === "string") assert.equal(example.response.split("\n")[0], body.split("\n")[0]);
    else assert.deepEqual(compareShapes(example.response, body, schemaOf(id), resolve), [], id);
  }
});

for (const language of LANGUAGES)
  test(`the ${language.name} sample of the stream prints an event as it arrives`, {
    skip: language.name === "python" && !hasPython ? "python3 is not installed" : false,
  }, async () => {
    const [sample, ...others] = await readSamples(`api/${ENDLESS.replaceAll("_", "-")}`, language);
    assert.ok(sample !== undefined && others.length === 0);
    const runFolder = await mkdtemp(join(folder.path, "stream-"));
    const text = await adapt(sample, language, "enterprise");
    // Otherwise only the shell would end with the program.
    await writeFile(join(runFolder, language.file), language.name === "sh" ? `exec ${text}` : text);
    const program = run(language.command, [join(runFolder, language.file)], {
      CURL_HOME: folder.path,
      HOME: folder.path,
      PYTHONUNBUFFERED: "1",
    });
    try {
      const data = await eventually(
        () => /^event: analysis_complete\ndata: (\{.*\})$/m.exec(program.output())?.[1] ?? null,
        `an event in ${language.name}:\n${text}`,
      );
      const { type, analysis_id: analysisId } = JSON.parse(data);
      assert.equal(type, "analysis_complete");
      assert.equal(typeof analysisId, "string");
      assert.equal(program.child.exitCode, null, "the program still runs");
    } finally {
      program.child.kill();
      await program.ended;
    }
  });

test("the request of the guide for events opens a stream, which says that events before it are missing", async () => {
  const { text } = await service.get("/docs/events.md", {});
  const [, path = "", lastEventId = ""] = /^GET (\/v1\/stream\S*)\nLast-Event-ID: (\d+)$/m.exec(text) ?? [];
  const abort = new AbortController();
  const response = await fetch(`${service.url}${path}`, {
    headers: { authorization: `Bearer ${service.keys.enterprise}`, "last-event-id": lastEventId },
    signal: abort.signal,
  });
  assert.equal(response.status, 200);
  let received = "";
  for await (const chunk of response.body ?? []) {
    received += Buffer.from(chunk).toString();
    if (/^event: /m.test(received)) break;
  }
  assert.match(received, /^event: reset$/m);
  abort.abort();
});

for (const language of LANGUAGES)
  test(`every ${language.name} sample gets the documented status from a sandbox`, {
    skip: language.name === "python" && !hasPython ? "python3 is not installed" : false,
  }, async () => {
    const count = await runSamples(language);
    assert.equal(count, listExampleIds().length);
  });

test("the TypeScript samples compile in strict mode", async () => {
  const typescript = LANGUAGES[1];
  const compileFolder = await mkdtemp(join(folder.path, "types-"));
  await writeFile(join(compileFolder, "package.json"), '{ "type": "module" }');
  await symlink(join(PROJECT, "node_modules"), join(compileFolder, "node_modules"));
  const pages = [...listOperations().map(({ id }) => `api/${id.replaceAll("_", "-")}`), ...GUIDES];
  const files: string[] = [];
  for (const page of pages)
    for (const sample of await readSamples(page, typescript)) {
      files.push(`sample-${files.length}.ts`);
      await writeFile(join(compileFolder, files.at(-1) ?? ""), `${sample}\nexport {};\n`);
    }
  const options = ["--noEmit", "--strict", "--target", "esnext", "--module", "nodenext", "--types", "node"];
  const paths = files.map((file) => join(compileFolder, file));
  const compiler = run(join(PROJECT, "node_modules/.bin/tsc"), ["--ignoreConfig", ...options, ...paths]);
  assert.equal(await compiler.ended, 0, compiler.output());
});

function schemaOf(operationId: string) {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods as object));
  const { responses } = operations.find((operation) => operation.operationId === operationId);
  return (responses[200] ?? responses[202]).content["application/json"].schema;
}

const resolve = (reference: string) => document.components.schemas[reference.split("/").at(-1) ?? ""];

test("a difference in shape is found", () => {
  const schema = {
    properties: { a: {}, list: { items: { properties: { b: {} }, required: ["b"] } } },
    required: ["a"],
  };
  const compare = (example: unknown, real: unknown) => compareShapes(example, real, schema, resolve).length;
  assert.equal(compare({ a: 1, list: [{ b: 1 }] }, { a: 2, list: [{ b: 3 }, { b: 4 }] }), 0);
  assert.equal(compare({ a: 1 }, { a: 1, list: [] }), 0);
  assert.equal(compare({ a: 1 }, { a: "1" }), 1);
  assert.equal(compare({}, { a: 1 }), 1);
  assert.equal(compare({ a: 1, other: 1 }, { a: 1 }), 1);
  assert.equal(compare({ a: 1, list: [{}] }, { a: 1, list: [{ b: 1 }] }), 1);
});
