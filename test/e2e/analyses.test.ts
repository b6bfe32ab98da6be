import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { sumOf } from "../../src/lib/numbers.ts";
import { assertNear } from "../support/asserts/assert-near.ts";
import { quietLog } from "../support/quiet-log.ts";
import { COMPLETION_TOKENS, type startLocalServer } from "../support/research/local-server.ts";
import { type Script, startScriptedServer } from "../support/research/scripted-server.ts";
import {
  eventually,
  type ServiceProcess,
  type ServiceResponse,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const MODEL = "scripted-model";
const API_KEY = "sk-e2e-4f9a27c1d0";
/** Cost of a call of the scripted model at the default price. */
const CALL_USD = (COMPLETION_TOKENS.prompt * 5 + COMPLETION_TOKENS.completion * 25) / 1e6;
/** Pays for the plan and two trials of a costly model. An estimate requires three. */
const SMALL_BUDGET_USD = 0.08;

interface Market {
  readonly path: string;
  readonly title: string;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let model: Awaited<ReturnType<typeof startLocalServer>>;
let service: ServiceProcess;
/** The market and the run of the first test. */
let first: { readonly market: Market; readonly id: string };
let markets: Awaited<ReturnType<typeof chooseMarkets>>;
/** Everything that a client or an operator has seen. */
let seen = "";
/** How the model answers about each market, by title. The default is good. */
const scripts = new Map<string, () => Script>();
const requested: string[] = [];

const promptOf = ({ body }: { readonly body: string }): string => JSON.parse(body).messages[1].content;
const requestsAbout = ({ title }: Market): string[] =>
  model.requests.map(promptOf).filter((prompt) => prompt.includes(title));
const isPlan = (prompt: string): boolean => prompt.includes('"queries": [string]');

const startService = (budgetUsd: number) =>
  startServiceProcess({
    dataDir: folder.path,
    env: {
      PARALLAX_LLM_MODEL: MODEL,
      PARALLAX_LLM_BASE_URL: `${model.origin}/v1`,
      PARALLAX_LLM_API_KEY: API_KEY,
      PARALLAX_LLM_BUDGET_USD: String(budgetUsd),
      PARALLAX_SEARCH_ENGINES: "none",
      PARALLAX_LOG_LEVEL: "debug",
    },
  });

async function get(path: string): Promise<ServiceResponse> {
  const response = await service.get(path);
  seen += response.text;
  return response;
}

/**
 * Chooses markets of all venues in turn, of which no title contains another one, so that a prompt is about one of them. The
 * least liquid ones of the lists come first: the service analyses the most liquid ones by itself at the same time.
 */
async function chooseMarkets(): Promise<{ next(): Market }> {
  const venues = ["kalshi", "polymarket", "limitless"];
  const lists = await Promise.all(
    venues.map(async (venue) => (await get(`/v1/markets?source=${venue}&sort=liquidity&limit=100`)).json.toReversed()),
  );
  const markets: Market[] = [];
  for (let rank = 0; rank < 10; rank++)
    for (const list of lists) {
      const { platform, market_id: id, title } = list[rank];
      if (!markets.some((other) => other.title.includes(title) || title.includes(other.title)))
        markets.push({ path: `/v1/markets/${platform}/${encodeURIComponent(id)}`, title });
    }
  return {
    next() {
      const market = markets.shift();
      if (market === undefined) throw new Error("there are too few markets");
      return market;
    },
  };
}

async function requestAnalysis({ path }: Market): Promise<string> {
  const headers = { authorization: `Bearer ${service.keys.enterprise}` };
  const response = await fetch(`${service.url}${path}/analyze`, { method: "POST", headers });
  const text = await response.text();
  seen += text;
  assert.equal(response.status, 202);
  const { analysis_id: id, status, poll_url: pollUrl } = JSON.parse(text);
  assert.deepEqual([status, pollUrl], ["running", `${path}/analyze/${id}/status`]);
  requested.push(id);
  return id;
}

/** Polls both addresses until the run is complete, and returns the analysis with all expansions. */
async function readAnalysis({ path }: Market, id: string) {
  for (const pollPath of [`${path}/analyze/${id}/status`, `/v1/analyses/${id}/status`])
    await eventually(async () => {
      const { json } = await get(pollPath);
      assert.deepEqual([json.analysis_id, json.error_message], [id, null]);
      return json.status === "complete" ? json : null;
    }, `the analysis ${id}`);
  const { json } = await get(`${path}/analysis?expand=causal,scenarios,meta,history`);
  assert.equal(json.analysis_id, id);
  assert.ok(json.history.points.length > 0);
  return json;
}

// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
function assertIdentities({ probability, causal, scenarios }: any): void {
  const { factors } = causal;
  for (const [index, { prior }] of factors.entries()) if (index > 0) assertNear(prior, factors[index - 1].posterior);
  assertNear(sumOf(factors.map(({ weight }: { weight: number }) => weight)), 1);
  assertNear(factors.at(-1).posterior, probability);
  assertNear(causal.overall_probability, probability);
  assertNear(sumOf(scenarios.map((scenario: { probability: number }) => scenario.probability)), 1);
  type Branch = { readonly probability: number; readonly conditional_probability: number };
  assertNear(
    sumOf(scenarios.map((branch: Branch) => branch.probability * branch.conditional_probability)),
    probability,
  );
}

before(async () => {
  folder = await temporaryFolder();
  model = await startScriptedServer(
    (prompt) => [...scripts].find(([title]) => prompt.includes(title))?.[1]() ?? "good",
  );
  service = await startService(SMALL_BUDGET_USD);
  markets = await chooseMarkets();
});

after(async () => {
  await service.end();
  await model.close();
  await folder.release();
});

test("a run with too small a budget ends without research, states this in its result, and spends at most the budget", async () => {
  const market = markets.next();
  scripts.set(market.title, () => "costly");
  first = { market, id: await requestAnalysis(market) };
  const { analysis_type: type, meta, ...analysis } = await readAnalysis(market, first.id);
  assert.equal(type, "light");
  assert.match(meta.method, /The budget of the run did not suffice for the research\.$/);
  assert.ok(meta.cost_usd > SMALL_BUDGET_USD / 2 && meta.cost_usd <= SMALL_BUDGET_USD);
  assert.deepEqual(meta.ensemble_estimates, []);
  assertIdentities(analysis);
});

test("after a kill, results remain and research continues from its stored stages, even if other runs get bad answers", async () => {
  const [slow, good, nonsense, hostile] = [markets.next(), markets.next(), markets.next(), markets.next()];
  let isSlow = true;
  // The plan is answered. The kill finds the trials without an answer.
  scripts.set(slow.title, () => (isSlow && requestsAbout(slow).length > 1 ? "silent" : "good"));
  scripts.set(nonsense.title, () => "nonsense");
  scripts.set(hostile.title, () => "hostile");
  const slowId = await requestAnalysis(slow);
  await eventually(() => (requestsAbout(slow).length > 1 ? true : null), "the trials of the slow run");
  await service.end("SIGKILL");
  seen += service.output();
  const requestsBefore = requestsAbout(slow).length;
  isSlow = false;
  service = await startService(0.15);
  await readAnalysis(first.market, first.id);
  const ids = await Promise.all([good, nonsense, hostile].map(requestAnalysis));
  const [full, light, certain] = await Promise.all(
    [good, nonsense, hostile].map((market, index) => readAnalysis(market, ids[index] ?? "")),
  );

  const { meta } = full;
  assert.equal(full.analysis_type, "full");
  assert.deepEqual(meta.models_used, [MODEL]);
  assertNear(meta.cost_usd, 6 * CALL_USD);
  assert.equal(meta.ensemble_estimates.length, 5);
  assert.ok(meta.ensemble_disagreement > 0);
  assertIdentities(full);
  // The estimate moves with the price, so that the responses agree only between two moves.
  await eventually(async () => {
    const paths = [`${good.path}/analysis`, good.path, `${good.path}/consensus`];
    const responses = await Promise.all(paths.map((path) => get(path)));
    const [probability, ...others] = responses.map(({ json }) => json.model_probability);
    return typeof probability === "number" && others.every((other) => other === probability) ? true : null;
  }, "the probability on the market and in the consensus");

  assert.equal(light.analysis_type, "light");
  assert.match(light.meta.method, /The language model gave no usable answers, so there is no research\.$/);
  assertIdentities(light);
  assert.equal(certain.analysis_type, "full");
  assertIdentities(certain);

  const continued = await readAnalysis(slow, slowId);
  assert.equal(continued.analysis_type, "full");
  assertIdentities(continued);
  assert.equal(requestsAbout(slow).filter(isPlan).length, 1);
  assert.equal(requestsAbout(slow).length - requestsBefore, 5);
  assertNear(continued.meta.cost_usd, 6 * CALL_USD);
});

test("an analysis with an unreachable model has no research and states this", async () => {
  await model.close();
  const market = markets.next();
  const { analysis_type: type, meta, ...analysis } = await readAnalysis(market, await requestAnalysis(market));
  assert.equal(type, "light");
  assert.match(
    meta.method,
    /The language model could not be reached or rejected the requests, so there is no research\.$/,
  );
  assertIdentities(analysis);
});

test("each requested analysis has one completion event, and no response, log line or stored transcript has the key", async () => {
  await service.end();
  seen += service.output();
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  try {
    const events = await database.query<{ id: string; status: string }>(
      `select payload::json ->> 'analysis_id' as id, payload::json ->> 'status' as status from event_log
       where type = 'analysis_complete'`,
    );
    for (const id of requested)
      assert.deepEqual(
        events.filter((event) => event.id === id).map(({ status }) => status),
        ["complete"],
      );
    const transcripts = await database.query<{ text: string }>(
      "select transcript as text from analysis_results where transcript is not null",
    );
    assert.equal(transcripts.length, requested.length);
    seen += transcripts.map(({ text }) => text).join("\n");
  } finally {
    await database.close();
  }
  assert.ok(model.requests.every(({ headers }) => headers.authorization === `Bearer ${API_KEY}`));
  assert.match(seen, /\[redacted\]/, "the hostile answers repeat the headers of their requests");
  assert.ok(!seen.includes(API_KEY));
});
