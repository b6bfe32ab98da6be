import assert from "node:assert/strict";
import { analysisTest, marketPath, VENUE } from "../../../../test/support/analyses/analysis-harness.ts";
import { ScriptedResearch, sampleOutcome } from "../../../../test/support/analyses/scripted-research.ts";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { describeDetail } from "../../../../test/support/markets/market-api.ts";
import { testServer } from "../../../../test/support/test-app.ts";
import { analysisRoutes } from "./index.ts";

analysisTest("202, then 200: a run is found under both poll paths, and its result is read and listed", async (open) => {
  const { app, listMarket, createCaller, ended } = await open();
  listMarket("m 1/a");
  const caller = await createCaller();
  const posted = await caller.analyze("m 1/a");
  const { analysis_id: id, poll_url: pollUrl, ...others } = posted.json;
  assert.equal(posted.status, 202);
  assert.match(id, /^plx-[a-z2-7]{26}$/);
  assert.deepEqual(others, { status: "running", estimated_seconds: 60, error_message: null });
  assert.equal(pollUrl, `${marketPath("m 1/a")}/analyze/${id}/status`);
  assert.equal((await caller.get(pollUrl)).json.status, "running");
  assert.equal((await caller.get(`${marketPath("m 1/a")}/analysis`)).json.code, "analysis_not_found");
  app.analyses.start();
  await ended(id);
  const expected = {
    analysis_id: id,
    status: "complete",
    poll_url: pollUrl,
    estimated_seconds: 0,
    error_message: null,
  };
  assert.deepEqual((await caller.get(pollUrl)).json, expected);
  assert.deepEqual((await caller.get(`/v1/analyses/${id}/status`)).json, expected);

  const other = await createCaller("free");
  const { status, json } = await other.get(`${marketPath("m 1/a")}/analysis?expand=causal,scenarios,meta`);
  assert.equal(status, 200);
  const { causal, scenarios, meta, ...analysis } = json;
  assert.deepEqual([analysis.analysis_id, analysis.title, analysis.analysis_type], [id, "Question m 1/a", "light"]);
  assert.equal(analysis.model_probability, analysis.probability);
  assertNear(analysis.edge, analysis.probability - analysis.market_price);
  assert.deepEqual([analysis.market_price, analysis.freshness], [0.41, "fresh"]);
  assertNear(causal.overall_probability, analysis.probability);
  assertNear(causal.factors.at(-1).posterior, analysis.probability);
  for (const [index, factor] of causal.factors.entries())
    if (index > 0) assertNear(factor.prior, causal.factors[index - 1].posterior);
  const sumOf = <Item>(items: readonly Item[], read: (item: Item) => number) =>
    items.reduce((sum, item) => sum + read(item), 0);
  assertNear(
    sumOf(causal.factors, ({ weight }: { weight: number }) => weight),
    1,
  );
  type Scenario = { readonly probability: number; readonly conditional_probability: number };
  assertNear(
    sumOf(scenarios, ({ probability }: Scenario) => probability),
    1,
  );
  assertNear(
    sumOf(scenarios, (scenario: Scenario) => scenario.probability * scenario.conditional_probability),
    analysis.probability,
  );
  assert.match(meta.method, /No language model is configured/);
  assert.ok(meta.interval.low <= analysis.probability && analysis.probability <= meta.interval.high);
  assert.deepEqual([meta.models_used, meta.cost_usd, meta.ensemble_disagreement], [[], 0, null]);

  const [listed] = (await caller.get("/v1/analyses")).json;
  // The confidence decreases with the age of the quote, also between two calls.
  assert.deepEqual({ ...listed, confidence: analysis.confidence }, analysis);
  assert.deepEqual((await other.get("/v1/analyses")).json, [], "only those that the caller started or joined");
});

analysisTest("200: lists the newest analyses first, up to the limit", async (open) => {
  const { app, listMarket, createCaller, ended } = await open();
  const caller = await createCaller();
  app.analyses.start();
  for (const marketId of ["m-1", "m-2", "m-3"]) {
    listMarket(marketId);
    await ended((await caller.analyze(marketId)).json.analysis_id);
  }
  const { json } = await caller.get("/v1/analyses?limit=2");
  assert.deepEqual(
    json.map((analysis: { market_id: string }) => analysis.market_id),
    ["m-3", "m-2"],
  );
});

analysisTest("202: a second request joins the running run, and with force queues one run behind it", async (open) => {
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const researchRunner = new ScriptedResearch(async ({ asOf }) => {
    started.resolve();
    await gate.promise;
    return sampleOutcome(asOf);
  });
  const { app, listMarket, createCaller, ended } = await open({ analyses: { researchRunner } });
  listMarket("m-1");
  const [first, second] = [await createCaller(), await createCaller("free")];
  const idOf = async (request: ReturnType<typeof first.analyze>) => (await request).json.analysis_id;
  const id = await idOf(first.analyze("m-1"));
  assert.equal(await idOf(second.analyze("m-1", "?force=true")), id, "a run that has not started uses newer data");
  app.analyses.start();
  await started.promise;
  assert.equal(await idOf(second.analyze("m-1")), id);
  const follower = await idOf(first.analyze("m-1", "?force=true"));
  assert.notEqual(follower, id);
  assert.equal(await idOf(second.analyze("m-1", "?force=true")), follower);
  gate.resolve();
  assert.equal((await ended(id)).status, "complete");
  assert.equal((await ended(follower)).status, "complete");
  assert.equal(researchRunner.calls.length, 2);
  for (const caller of [first, second]) {
    const { json } = await caller.get("/v1/analyses");
    assert.deepEqual(
      json.map((analysis: { analysis_id: string }) => analysis.analysis_id),
      [follower, id],
    );
  }
  const { json } = await first.get(`${marketPath("m-1")}/analysis?expand=meta`);
  assert.deepEqual([json.analysis_type, json.source_count, json.risks.at(-1)], ["full", 4, "The sources are few."]);
  assert.deepEqual([json.meta.models_used, json.meta.cost_usd], [["scripted"], 0.01]);
  assertNear(json.meta.ensemble_disagreement, 0.05);
});

analysisTest(
  "404, 502, 401 and 422: rejects unknown markets and ids, no price, a missing key, invalid parameters",
  async (open) => {
    const { app, call, listMarket, createCaller } = await open();
    listMarket("m-1");
    listMarket("m-2");
    const { get, analyze } = await createCaller();
    const { json } = await analyze("m-1");
    const codeOf = async (response: ReturnType<typeof get>) => {
      const { status, json } = await response;
      return [status, json.code];
    };
    assert.deepEqual(await codeOf(analyze("none")), [404, "market_not_found"]);
    assert.deepEqual(await codeOf(get(`${marketPath("none")}/analysis`)), [404, "market_not_found"]);
    listMarket("no-price", { quote: { bid: null, ask: null, lastPrice: null } });
    assert.deepEqual(await codeOf(analyze("no-price")), [502, "venue_unavailable"]);
    listMarket("closed", { listing: { status: "closed" } });
    assert.deepEqual(await codeOf(get(`${marketPath("m-2")}/analysis`)), [404, "analysis_not_found"]);
    const unknownIds = [`plx-${"a".repeat(26)}`, "plx-a%00", "x".repeat(600), json.analysis_id.toUpperCase()];
    for (const id of unknownIds)
      assert.deepEqual(await codeOf(get(`/v1/analyses/${id}/status`)), [404, "analysis_not_found"], id);
    const otherMarket = `${marketPath("m-2")}/analyze/${json.analysis_id}/status`;
    assert.deepEqual(await codeOf(get(otherMarket)), [404, "analysis_not_found"]);
    for (const [method, path] of [
      ["POST", `${marketPath("m-1")}/analyze`],
      ["GET", json.poll_url],
      ["GET", `/v1/analyses/${json.analysis_id}/status`],
      ["GET", `${marketPath("m-1")}/analysis`],
      ["GET", "/v1/analyses"],
    ] as const)
      assert.equal((await call(method, path)).status, 401, path);
    const errorsOf = async (response: ReturnType<typeof get>) => describeDetail((await response).json);
    assert.deepEqual(await errorsOf(analyze("m-1", "?force=maybe")), ["bool_parsing at query.force"]);
    assert.deepEqual(await errorsOf(analyze("closed")), ["value_error at path.market_id"]);
    assert.deepEqual(await errorsOf(get(`${marketPath("m-1")}/analysis?expand=causal,all`)), [
      "literal_error at query.expand",
    ]);
    assert.deepEqual(await errorsOf(get("/v1/analyses?limit=0")), ["greater_than_equal at query.limit"]);
    assert.deepEqual(await errorsOf(get("/v1/analyses?limit=51")), ["less_than_equal at query.limit"]);
    assert.deepEqual(await errorsOf(get("/v1/markets/nowhere/m-1/analysis")), ["literal_error at path.platform"]);
    assert.equal(app.analyses.latest.size, 0);
  },
);

analysisTest("429: accepted requests and reads count towards the quota, polls and 404 do not", async (open) => {
  const { listMarket, createCaller } = await open();
  const caller = await createCaller("free");
  let pollUrl = "";
  for (let request = 0; request < 10; request++) {
    listMarket(`m-${request}`);
    const { status, json } = await caller.analyze(`m-${request}`);
    assert.equal(status, 202);
    pollUrl = json.poll_url;
  }
  const refused = await caller.analyze("m-1");
  assert.deepEqual([refused.status, refused.json.code], [429, "quota_exceeded"]);
  assert.equal((await caller.get(pollUrl)).status, 200);
  const { json } = await caller.get("/v1/customers/me");
  assert.equal(json.usage.insight, 10);
});

analysisTest("503 and 429: the queue and the waiting runs of one customer are bounded", async (open) => {
  const limits = { waitingMax: 4, waitingPerCustomerMax: 3 };
  const { listMarket, createCaller } = await open({ analyses: { limits } });
  for (const number of [1, 2, 3, 4, 5, 6]) listMarket(`m-${number}`);
  const [first, second] = [await createCaller(), await createCaller()];
  const statusOf = async (response: ReturnType<typeof first.analyze>) => {
    const { status, json, headers } = await response;
    return status === 202 ? 202 : [status, json.code, headers["retry-after"] !== undefined];
  };
  for (const number of [1, 2, 3]) assert.equal(await statusOf(first.analyze(`m-${number}`)), 202);
  assert.deepEqual(await statusOf(first.analyze("m-4")), [429, "rate_limited", true]);
  assert.equal(await statusOf(first.analyze("m-1")), 202, "a running run can be joined");
  assert.equal(await statusOf(second.analyze("m-5")), 202);
  assert.deepEqual(await statusOf(second.analyze("m-6")), [503, "overloaded", true]);
  const { json } = await second.get("/v1/customers/me");
  assert.equal(json.usage.insight, 1, "a 503 does not count");
});

analysisTest("200: the estimated time is the 80% quantile of the type's last runs", async (open, database) => {
  const { listMarket, createCaller } = await open();
  await database.query(
    `insert into analysis_runs (analysis_id, venue, market_id, status, analysis_type, turn, requested_at, finished_at)
     select n::text, $1, 'm', case when n <= 10 then 'complete' else 'error' end,
       case when n <= 10 then 'light' else 'full' end, 0, now(), now() + make_interval(secs => n)
     from generate_series(1, 20) as n`,
    [VENUE],
  );
  listMarket("m-1");
  const { json } = await (await createCaller()).analyze("m-1");
  assert.equal(json.estimated_seconds, 8);
});

analysisTest("200: if payments are accepted, a caller with the id of a run can poll it without a key", async (open) => {
  const { app, listMarket } = await open();
  listMarket("m-1");
  const { service } = app.analyses;
  const { analysisId } = await service.analyse(VENUE, "m-1", { customerId: "payer-1", isForced: false });
  for (const acceptsPayments of [true, false]) {
    const { app: http } = await testServer();
    const venues = { trading: [VENUE], all: [VENUE] };
    const unused = () => Promise.reject(new Error("unused"));
    analysisRoutes(http, { service, venues, acceptsPayments, getMarket: unused, getHistory: unused });
    for (const path of [`/v1/analyses/${analysisId}/status`, `/v1/markets/${VENUE}/m-1/analyze/${analysisId}/status`])
      assert.equal((await http.inject(path)).statusCode, acceptsPayments ? 200 : 401);
    assert.equal((await http.inject("/v1/analyses")).statusCode, 401);
    const { metering } = http.routeTable.entries.find(({ operationId }) => operationId === "analyze_market") ?? {};
    assert.deepEqual([metering?.priceTier, metering?.settles], ["INSIGHT", "before"]);
  }
});
