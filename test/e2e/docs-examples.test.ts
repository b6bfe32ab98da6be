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
  type ExampleReply,
  listExampleIds,
  readLiveValues,
  registerWebhook,
  startWebhookReceiver,
  WEBHOOK_URL,
  waitForDeliveries,
} from "../examples/requests.ts";
import { findNumberNoise, readUsdFields } from "../support/asserts/number-noise.ts";
import { compareShapes } from "../support/compare-shapes.ts";
import {
  eventually,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
type Json = any;

const PROJECT = new URL("../..", import.meta.url).pathname;
/** Revokes the key that the other samples use, so it runs last. */
const ENDS_KEY = "rotate_key";
/** A sandbox sends no e-mail, so the token of the sample does not exist. */
const NOT_FOUND = "verify_email";
/** The samples of this endpoint run until they are stopped, so they have a test of their own. */
const ENDLESS = "stream_events";
const WEBHOOK_ID = /wh-[a-z0-9]{26}/;
const GUIDES = ["get-a-key", "first-call", "pagination", "events", "prices"];
/** Precedes the exit code that a runner prints after each sample. */
const EXIT_MARK = "@exit ";

/**
 * Each language uses another account, because two calls cannot create the same key. A runner executes the files that its
 * arguments name, and prints the exit code of each.
 */
const SAMPLE_LANGUAGES = [
  {
    name: "sh",
    command: "sh",
    plan: "free",
    runner: `for file in "$@"; do sh "$file" 2>&1; printf '\\n${EXIT_MARK}%s\\n' $?; done`,
  },
  {
    name: "ts",
    command: process.execPath,
    plan: "pro",
    runner: `for (const file of process.argv.slice(2)) {
  const code = await import(file).then(() => 0, (error) => (console.log(String(error)), 1));
  console.log("\\n${EXIT_MARK}" + code);
}`,
  },
  {
    name: "py",
    command: "python3",
    plan: "enterprise",
    runner: `import runpy, sys, traceback
for file in sys.argv[1:]:
    code = 0
    try:
        runpy.run_path(file, run_name="__main__")
    except Exception:
        traceback.print_exc(file=sys.stdout)
        code = 1
    print("\\n${EXIT_MARK}%d" % code)`,
  },
] as const;
type Language = (typeof SAMPLE_LANGUAGES)[number];
type Plan = Language["plan"];

const skipReason = ({ name }: Language) =>
  name === "py" && spawnSync("python3", ["--version"]).status !== 0 ? "python3 is not installed" : false;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;
let document: Json;
/** Responses to the requests of all examples, and to these requests with all expansions and kinds. */
const replies: ExampleReply[] = [];
/** Id of an analysis of the market that the samples name. */
let sampleAnalysisId = "";
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;
before(async () => {
  folder = await temporaryFolder();
  service = await startServiceProcess({
    dataDir: join(folder.path, "data"),
    // The samples need no trading, and would wait for the rate limits of the venues.
    env: { PARALLAX_SANDBOX_SPEED: "1", PARALLAX_SANDBOX_LIMITS: "off" },
  });
  document = (await service.get("/openapi.json", {})).json;
  receiver = await startWebhookReceiver();
  const webhookId = await registerWebhook(service, receiver.url, service.keys.enterprise);
  const live = { ...(await readLiveValues(service)), url: receiver.url, webhook_id: webhookId };
  await waitForDeliveries(service, webhookId, 1);
  sampleAnalysisId = await analyseSampleMarket();
  for await (const reply of callExamples(service, document.paths, live, expand)) replies.push(reply);
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

const listDocumented = (): Json[] =>
  Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
const findDocumented = (id: string): Json => listDocumented().find(({ operationId }) => operationId === id);

/** Requests with all expansions and kinds of an operation, besides the one of its example. */
function expand(id: string, request: Json): Json[] {
  const { parameters = [] } = findDocumented(id);
  const schemaOf = (name: string): Json => parameters.find((parameter: Json) => parameter.name === name)?.schema;
  const words: string[] = schemaOf("expand")?.items.enum ?? [];
  const kinds: string[] = schemaOf("kind")?.enum ?? [];
  const query = words.length === 0 ? request.query : { ...request.query, expand: words.join(",") };
  const all = words.length === 0 ? [] : [{ ...request, query }];
  return [...all, ...kinds.map((kind) => ({ ...request, query: { ...query, kind } }))];
}

test("every example has the shape of a real response", () => {
  const resolve = (reference: string) => document.components.schemas[reference.split("/").at(-1) ?? ""];
  for (const { id, isExample, example, status, body } of replies) {
    const expectedStatus = ["analyze_market", "analyze_event"].includes(id) ? 202 : 200;
    assert.equal(status, expectedStatus, `${id}: ${JSON.stringify(body)}`);
    if (!isExample) continue;
    const { responses } = findDocumented(id);
    if (typeof body === "string") assert.equal(example.response.split("\n")[0], body.split("\n")[0]);
    else {
      const { schema } = (responses[200] ?? responses[202]).content["application/json"];
      assert.deepEqual(compareShapes(example.response, body, schema, resolve), [], id);
    }
  }
});

test("no number of a response, of a stream or of a webhook has a binary rounding error", async () => {
  const isUsd = readUsdFields(document);
  for (const field of ["size_usd", "cost_usd", "volume_24h", "flow", "max_drawdown", "total_pnl"])
    assert.ok(isUsd(field), field);
  const called = new Set(replies.map(({ id }) => id));
  const missing = listDocumented().flatMap(({ operationId: id }) => (called.has(id) ? [] : [id]));
  assert.deepEqual(missing, [NOT_FOUND], "its token exists only in an e-mail");
  const bodies = [
    ...replies.map(({ id, body }) => [id, body] as const),
    ["stream", JSON.parse(/^data: (.*)$/m.exec(await readStream("last_event_id=1", /^data: /m))?.[1] ?? "")] as const,
    ...receiver.requests.map(({ body }) => ["webhook", JSON.parse(body)] as const),
  ];
  assert.ok(receiver.requests.length > 0);
  assert.deepEqual(
    bodies.flatMap(([place, body]) => findNumberNoise(body, isUsd, "", place)),
    [],
  );
});

/** Reads a stream until its text matches the pattern at the end of a line. */
async function readStream(query: string, pattern: RegExp, headers: Readonly<Record<string, string>> = {}) {
  const abort = new AbortController();
  const response = await fetch(`${service.url}/v1/stream?${query}`, {
    headers: { authorization: `Bearer ${service.keys.enterprise}`, ...headers },
    signal: abort.signal,
  });
  assert.equal(response.status, 200);
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (pattern.test(text) && text.endsWith("\n")) break;
  }
  abort.abort();
  return text;
}

test("the guide's request for events opens a stream that reports missing earlier events", async () => {
  const { text } = await service.get("/docs/events.md", {});
  const [, query = "", lastEventId = ""] = /^GET \/v1\/stream\?(\S*)\nLast-Event-ID: (\d+)$/m.exec(text) ?? [];
  assert.match(await readStream(query, /^event: reset$/m, { "last-event-id": lastEventId }), /^event: reset$/m);
});

const readStoredPath = (id: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${id}.json`, EXAMPLES_FOLDER), "utf8")).request.path;

/** Returns the operations in an order in which their samples can run. */
function listOperations(): readonly { readonly id: string; readonly status: number; readonly isFree: boolean }[] {
  const operations = listDocumented().map(
    ({ operationId: id, responses, "x-minimum-plan": plan = "free" }): ReturnType<typeof listOperations>[number] => ({
      id,
      status: id === NOT_FOUND ? 404 : Number(Object.keys(responses)[0]),
      // Samples of webhooks need the account that has a webhook.
      isFree: plan === "free" && !id.includes("webhook"),
    }),
  );
  return operations.sort((a, b) => Number(a.id === ENDS_KEY) - Number(b.id === ENDS_KEY));
}

/** Returns the code blocks of a page in a language. */
async function readSamples(page: string, { name }: Pick<Language, "name">): Promise<readonly string[]> {
  const { status, text } = await service.get(`/docs/${page}.md`, {});
  assert.equal(status, 200, page);
  const blocks = text.matchAll(new RegExp(`^\`\`\`${name === "py" ? "python" : name}\\n(.*?)\\n\`\`\`$`, "gms"));
  return [...blocks].map(([, code = ""]) => code);
}
const pageOf = (id: string) => `api/${id.replaceAll("_", "-")}`;

/** Replaces the values of a sample that differ between accounts. */
async function adapt(sample: string, language: Language, plan: Plan): Promise<string> {
  const key = service.keys[plan];
  const adapted = sample
    .replaceAll(service.keys.enterprise, key)
    .replaceAll(readStoredPath("get_analysis_status").analysis_id ?? "", sampleAnalysisId)
    .replaceAll(readStoredPath("get_analysis_status_by_id").analysis_id ?? "", sampleAnalysisId)
    .replaceAll(WEBHOOK_URL, receiver.url)
    .replaceAll("ada@example.org", `ada.${language.name}.${adaptedCount}@example.org`);
  adaptedCount += 1;
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
let adaptedCount = 0;

interface Sample {
  readonly name: string;
  readonly text: string;
  /** Documented status. */
  readonly status: number;
}

/** Writes the files into a new folder and starts the program of the language with the first one. */
async function runFiles({ command }: Language, texts: Readonly<Record<string, string>>) {
  const runFolder = await mkdtemp(join(folder.path, "run-"));
  for (const [name, text] of Object.entries(texts)) await writeFile(join(runFolder, name), text);
  const files = Object.keys(texts).map((name) => join(runFolder, name));
  return run(command, files, { CURL_HOME: folder.path, HOME: folder.path, PYTHONUNBUFFERED: "1" });
}

/** Runs samples in order. Asserts that each gets its status: a program reports a status of 400 or above as an error. */
async function assertRun(language: Language, samples: readonly Sample[]): Promise<void> {
  const files = samples.map(({ text }, index) => [`sample-${index}.${language.name}`, text]);
  const extension = language.name === "ts" ? "mjs" : language.name;
  const program = await runFiles(language, { [`run.${extension}`]: language.runner, ...Object.fromEntries(files) });
  assert.equal(await program.ended, 0, program.output());
  const outputs = [...program.output().matchAll(new RegExp(`(.*?)\\n${EXIT_MARK}(\\d+)\\n`, "gs"))];
  assert.equal(outputs.length, samples.length, program.output());
  for (const [index, { name, text, status }] of samples.entries()) {
    const [, output = "", code] = outputs[index] ?? [];
    const message = `${name} in ${language.name}:\n${text}\n${output}`;
    assert.equal(code, language.name === "sh" || status < 400 ? "0" : "1", message);
    if (language.name === "sh") assert.equal(output.split("\n").at(-1), String(status), message);
    else if (status >= 400) assert.match(output, new RegExp(`\\b${status}\\b`), message);
    assert.notEqual(output.trim(), "", message);
  }
}

/** Returns the adapted samples of all operations, then those of the guides, then the one that ends the key. */
async function prepareSamples(language: Language): Promise<readonly Sample[]> {
  // The minute limit of the free plan is lower than the number of samples.
  const largePlan = language.plan === "free" ? "enterprise" : language.plan;
  const prepareAll = async (name: string, page: string, status: number, plan: Plan) => {
    const texts = await readSamples(page, language);
    return Promise.all(texts.map(async (text) => ({ name, text: await adapt(text, language, plan), status })));
  };
  const samples: Sample[] = [];
  const operations = listOperations().filter(({ id }) => id !== ENDLESS);
  for (const { id, status, isFree } of operations) {
    if (id === ENDS_KEY) for (const guide of GUIDES) samples.push(...(await prepareAll(guide, guide, 200, largePlan)));
    const ofOperation = await prepareAll(id, pageOf(id), status, isFree ? language.plan : largePlan);
    assert.equal(ofOperation.length, 1, `${id} has no sample in ${language.name}`);
    samples.push(...ofOperation);
  }
  assert.equal(operations.length + 1, listExampleIds().length);
  return samples;
}

/** Deletes all webhooks, because an account can have ten and the samples register more. */
async function deleteWebhooks(): Promise<void> {
  const headers = { authorization: `Bearer ${service.keys.enterprise}` };
  const response = await fetch(`${service.url}/v1/webhooks`, { headers });
  for (const { webhook_id: id } of (await response.json()) as { readonly webhook_id: string }[])
    await fetch(`${service.url}/v1/webhooks/${id}`, { method: "DELETE", headers });
}

for (const language of SAMPLE_LANGUAGES)
  test(`the ${language.name} sample of the stream prints an event as it arrives`, {
    skip: skipReason(language),
  }, async () => {
    const [sample, ...others] = await readSamples(pageOf(ENDLESS), language);
    assert.ok(sample !== undefined && others.length === 0);
    const text = await adapt(sample, language, "enterprise");
    // Otherwise only the shell would end with the program.
    const program = await runFiles(language, {
      [`sample.${language.name}`]: language.name === "sh" ? `exec ${text}` : text,
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

for (const language of SAMPLE_LANGUAGES)
  test(`every ${language.name} sample gets the documented status from a sandbox`, {
    skip: skipReason(language),
  }, async () => {
    await assertRun(language, await prepareSamples(language));
    if (language.name === "sh") await deleteWebhooks();
  });

test("the TypeScript samples compile in strict mode", async () => {
  const compileFolder = await mkdtemp(join(folder.path, "types-"));
  await writeFile(join(compileFolder, "package.json"), '{ "type": "module" }');
  await symlink(join(PROJECT, "node_modules"), join(compileFolder, "node_modules"));
  const files: string[] = [];
  for (const page of [...listOperations().map(({ id }) => pageOf(id)), ...GUIDES])
    for (const sample of await readSamples(page, { name: "ts" })) {
      files.push(join(compileFolder, `sample-${files.length}.ts`));
      await writeFile(files.at(-1) ?? "", `${sample}\nexport {};\n`);
    }
  const options = ["--noEmit", "--strict", "--target", "esnext", "--module", "nodenext", "--types", "node"];
  const compiler = run(join(PROJECT, "node_modules/.bin/tsc"), ["--ignoreConfig", ...options, ...files]);
  assert.equal(await compiler.ended, 0, compiler.output());
});

test("the checks report a difference in shape and a number with too many decimals", () => {
  const schema = {
    properties: { a: {}, list: { items: { properties: { b: {} }, required: ["b"] } } },
    required: ["a"],
  };
  const compare = (example: unknown, real: unknown) =>
    compareShapes(example, real, schema, () => assert.fail("no reference")).length;
  assert.equal(compare({ a: 1, list: [{ b: 1 }] }, { a: 2, list: [{ b: 3 }, { b: 4 }] }), 0);
  assert.equal(compare({ a: 1 }, { a: 1, list: [] }), 0);
  assert.equal(compare({ a: 1 }, { a: "1" }), 1);
  assert.equal(compare({}, { a: 1 }), 1);
  assert.equal(compare({ a: 1, other: 1 }, { a: 1 }), 1);
  assert.equal(compare({ a: 1, list: [{}] }, { a: 1, list: [{ b: 1 }] }), 1);

  const isUsd = (field: string) => field === "cost_usd";
  const noisy = { price: 0.1 + 0.2, tiny: 1e-13, cost_usd: 0.1234567, list: [{ edge: 1 - 0.9 }] };
  assert.deepEqual(
    findNumberNoise(noisy, isUsd).map((place) => place.split(":")[0]),
    ["$.price", "$.tiny", "$.cost_usd", "$.list[0].edge"],
  );
  const exact = { probability: 1 / 3, causal: { weight: 1 / 3 }, price: 0.123456789012, cost_usd: 1.000001 };
  assert.deepEqual(findNumberNoise(exact, isUsd), []);
});
