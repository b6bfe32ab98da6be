import assert from "node:assert/strict";
import { analysisTest, openHarness } from "../../../../test/support/analyses/analysis-harness.ts";
import { ScriptedResearch, sampleOutcome, slowResearch } from "../../../../test/support/analyses/scripted-research.ts";
import { unmoved } from "../../../../test/support/analyses/unmoved.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { interruptible } from "../../../../test/support/interruptible-database.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import type { Quote } from "../../../domain/market.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { presentMeta } from "./present.ts";

/** Sets back the last sign of life of all workers, as if they had been killed. */
async function expireHeartbeats(database: Database): Promise<void> {
  const [schema] = await database.query<{ name: string }>(
    `select quote_ident(schemaname) as name from pg_tables
     where tablename = 'job' and schemaname in ('parallax_jobs', current_schema() || '_jobs')`,
  );
  await database.query(`update ${schema?.name}.job set heartbeat_on = now() - interval '1 minute'`);
}

const readEvents = (database: Database) =>
  database.query<{ analysis_id: string; status: string }>(
    `select payload::json ->> 'analysis_id' as analysis_id, payload::json ->> 'status' as status from event_log
     where type = 'analysis_complete' order by id`,
  );

analysisTest("each of 60 runs on two nodes ends with exactly one event", async (open, database) => {
  const researchRunner = slowResearch(100);
  const nodes = [await open({ analyses: { researchRunner, concurrency: 8 } })];
  nodes.push(await open({ analyses: { researchRunner, concurrency: 8 } }));
  const [first] = nodes;
  assert.ok(first !== undefined);
  const marketIds = Array.from({ length: 60 }, (_, number) => `m-${number}`);
  for (const { listMarket } of nodes) for (const marketId of marketIds) listMarket(marketId);
  const requested: string[] = [];
  for (const [index, marketId] of marketIds.entries()) {
    const options = { customerId: `cus-${index % 7}`, isForced: false };
    requested.push((await first.app.analyses.service.analyse("venue_a", marketId, options)).analysisId);
  }
  for (const { app } of nodes) app.analyses.start();
  for (const id of requested) assert.equal((await first.ended(id)).status, "complete");
  const events = await readEvents(database);
  assert.deepEqual(new Set(events.map(({ analysis_id }) => analysis_id)), new Set(requested));
  assert.equal(events.length, 60);
  assert.equal(new Set(researchRunner.calls.map(({ question }) => question.marketId)).size, 60);
});

analysisTest(
  "an analysis stores the normalised category of its market, or null if it has none",
  async (open, database) => {
    const { app, listMarket, ended } = await open();
    app.analyses.start();
    for (const [marketId, category] of [
      ["m-1", "US Elections"],
      ["m-2", "Knitting"],
      ["m-3", null],
    ] as const) {
      listMarket(marketId, { listing: { category } });
      const request = { customerId: "cus-1", isForced: false };
      await ended((await app.analyses.service.analyse("venue_a", marketId, request)).analysisId);
    }
    assert.deepEqual(await database.query("select market_id, category from analyses order by market_id"), [
      { market_id: "m-1", category: "Politics" },
      { market_id: "m-2", category: "Other" },
      { market_id: "m-3", category: null },
    ]);
  },
);

analysisTest("a customer with many waiting runs does not delay another customer's run", async (open, database) => {
  const { app, listMarket } = await open({ analyses: { concurrency: 1 } });
  const request = async (customerId: string, marketId: string) => {
    listMarket(marketId);
    return (await app.analyses.service.analyse("venue_a", marketId, { customerId, isForced: false })).analysisId;
  };
  for (let number = 0; number < 20; number++) await request("cus-many", `many-${number}`);
  await request("cus-one", "one");
  await request("cus-two", "two-1");
  await request("cus-two", "two-2");
  app.analyses.start();
  await eventually(async () => ((await readEvents(database)).length === 23 ? true : null), "all runs");
  const rows = await database.query<{ market_id: string }>("select market_id from analysis_runs order by started_at");
  const order = rows.map(({ market_id }) => market_id);
  assert.deepEqual(order.slice(0, 5), ["many-0", "one", "two-1", "many-1", "two-2"]);
});

analysisTest(
  "a run of a dead worker is taken over with its state, and the dead worker cannot end it",
  async (open, database) => {
    const zombieGate = Promise.withResolvers<void>();
    const hasSaved = Promise.withResolvers<void>();
    const researchRunner = new ScriptedResearch(async ({ asOf }, { savedState, onState }) => {
      if (savedState !== null) return sampleOutcome(asOf);
      await onState({ stage: "read" });
      hasSaved.resolve();
      await zombieGate.promise;
      await onState({ stage: "judged" });
      return sampleOutcome(asOf);
    });
    const { app, listMarket, ended } = await open({ analyses: { researchRunner } });
    listMarket("m-1");
    const request = { customerId: "cus-1", isForced: false };
    const { analysisId } = await app.analyses.service.analyse("venue_a", "m-1", request);
    app.analyses.start();
    await hasSaved.promise;
    const isTakenOver = async () => {
      await expireHeartbeats(database);
      return researchRunner.calls.length === 2 ? true : null;
    };
    await eventually(isTakenOver, "the take-over");
    assert.equal((await ended(analysisId)).status, "complete");
    assert.deepEqual(researchRunner.calls[1]?.savedState, { stage: "read" });
    zombieGate.resolve();
    await app.analyses.stop();
    assert.deepEqual(await readEvents(database), [{ analysis_id: analysisId, status: "complete" }]);
  },
);

analysisTest("a run that fails repeatedly, and one that is too old, end with an error", async (open, database) => {
  const researchRunner = new ScriptedResearch(async () => {
    throw new Error("The model is broken.");
  });
  const { app, listMarket, ended } = await open({ analyses: { researchRunner } });
  const request = async (marketId: string, changes: string, quote: Partial<Quote> = {}) => {
    listMarket(marketId, { quote });
    const options = { customerId: "cus-1", isForced: false };
    const { analysisId } = await app.analyses.service.analyse("venue_a", marketId, options);
    await database.query(`update analysis_runs set ${changes} where analysis_id = $1`, [analysisId]);
    return analysisId;
  };
  const failing = await request("m-1", "attempts = 5");
  const old = await request("m-2", "requested_at = now() - interval '61 minutes'");
  const noPrice = await request("m-3", "analysis_type = 'light'", { lastPrice: null });
  listMarket("m-3", { quote: { bid: null, ask: null, lastPrice: null } });
  app.analyses.start();
  assert.match((await ended(failing)).errorMessage ?? "", /^The analysis failed 5 times/);
  assert.match((await ended(old)).errorMessage ?? "", /within an hour/);
  assert.match((await ended(noPrice)).errorMessage ?? "", /no price/);
  const events = await readEvents(database);
  assert.deepEqual(
    events.map(({ status }) => status),
    ["error", "error", "error"],
  );
});

analysisTest("a customer's request during a run without research adds research to it", async (open, database) => {
  const researchRunner = slowResearch(0);
  const { app, listMarket, ended } = await open({ analyses: { researchRunner } });
  const market = listMarket("m-1");
  const options = { customerId: "cus-1", isForced: false };
  const { analysisId } = await app.analyses.service.analyse("venue_a", market.listing.marketId, options);
  await database.query("update analysis_runs set analysis_type = 'light', customer_id = null");
  const joined = await app.analyses.service.analyse("venue_a", "m-1", options);
  assert.equal(joined.analysisId, analysisId);
  app.analyses.start();
  assert.equal((await ended(analysisId)).type, "full");
  assert.equal((await app.analyses.service.latest("venue_a", "m-1"))?.type, "full");
});

analysisTest("a run without research reuses the latest analysis's for 72 hours, at no cost", async (open) => {
  const researchRunner = new ScriptedResearch(async ({ asOf, marketId }) =>
    sampleOutcome(marketId === "old" ? asOf - 73 * HOUR_MS : asOf),
  );
  const { app, listMarket, ended } = await open({ analyses: { researchRunner } });
  const { service } = app.analyses;
  app.analyses.start();
  const [recent, old] = await Promise.all(
    ["recent", "old"].map(async (marketId) => {
      const market = listMarket(marketId);
      const request = { customerId: "cus-1", isForced: false };
      await ended((await service.analyse("venue_a", marketId, request)).analysisId);
      const first = await service.latest("venue_a", marketId);
      await ended((await service.analyseLightly(market, "cus-2")).analysisId);
      const second = await service.latest("venue_a", marketId);
      assert.ok(first !== null && second !== null && first.analysisId !== second.analysisId);
      assert.equal(first.type, "full");
      return { first, second };
    }),
  );
  assert.equal(recent?.second.type, "full");
  const { research } = recent.first.result;
  assert.deepEqual(recent.second.result.research, { ...research, isReused: true, costUsd: 0 });
  assert.ok(
    presentMeta(unmoved(recent.second)).method.endsWith(new Date(research.view?.at ?? 0).toISOString().concat(".")),
  );
  assert.equal(old?.second.type, "light");
  assert.equal(researchRunner.calls.length, 2);
});

analysisTest("research that fails or exceeds the budget of the day does not replace earlier research", async (open) => {
  let call = 0;
  const researchRunner = new ScriptedResearch(async ({ asOf }) => {
    call += 1;
    const failure = { research: null, reason: "model_failed" as const, reasonText: "The model is down." };
    return sampleOutcome(asOf, call === 1 ? { costUsd: 0.25 } : { ...failure, costUsd: 0.05 });
  });
  const { app, listMarket, ended } = await open({ analyses: { researchRunner } });
  const { service } = app.analyses;
  app.analyses.start();
  const analyse = async (marketId: string) => {
    const request = { customerId: "cus-1", isForced: false };
    await ended((await service.analyse("venue_a", marketId, request)).analysisId);
    return (await service.latest("venue_a", marketId))?.result.research;
  };
  for (const id of ["m-1", "m-2"]) listMarket(id);
  const first = await analyse("m-1");
  const second = await analyse("m-1");
  assert.deepEqual(second?.view, first?.view);
  assert.deepEqual([second?.isReused, second?.costUsd], [true, 0.05]);
  assert.equal(second?.risks.at(-1), "New research failed, so earlier research is used. The model is down.");
  researchRunner.dailyBudgetUsd = 0.3;
  const third = await analyse("m-1");
  assert.deepEqual([third?.isReused, third?.costUsd], [true, 0]);
  assert.match((await analyse("m-2"))?.missingReason ?? "", /budget for research in 24 hours is spent/);
  assert.equal(call, 2);
});

analysisTest(
  "one customer uses at most half of the daily budget, so that others can use the rest",
  async (open, database) => {
    const researchRunner = new ScriptedResearch(async ({ asOf }) => sampleOutcome(asOf, { costUsd: 0.1 }));
    researchRunner.dailyBudgetUsd = 0.4;
    const { app, listMarket, ended } = await open({ analyses: { researchRunner } });
    const { service } = app.analyses;
    let count = 0;
    const request = async (customerId: string) => {
      count += 1;
      const marketId = `m-${count}`;
      listMarket(marketId);
      return { marketId, ...(await service.analyse("venue_a", marketId, { customerId, isForced: false })) };
    };
    const missingReason = async ({
      marketId,
      analysisId,
    }: {
      readonly marketId: string;
      readonly analysisId: string;
    }) => {
      await ended(analysisId);
      return (await service.latest("venue_a", marketId))?.result.research.missingReason;
    };
    // The service's own run becomes the customer's when the customer asks for research.
    const joined = await request("cus-1");
    await database.query("update analysis_runs set analysis_type = 'light', customer_id = null");
    await service.analyse("venue_a", joined.marketId, { customerId: "cus-1", isForced: false });
    app.analyses.start();
    assert.equal(await missingReason(joined), null);
    assert.equal(await missingReason(await request("cus-1")), null);
    const customerSpent = /^Your share of the operator's budget for research in 24 hours is spent/;
    assert.match((await missingReason(await request("cus-1"))) ?? "", customerSpent);
    assert.equal(await missingReason(await request("cus-2")), null);
    // The research of a deleted customer counts towards the whole budget, but towards nobody's share.
    await database.query("update analysis_runs set customer_id = null where customer_id = 'cus-1'");
    assert.equal(await missingReason(await request("cus-3")), null);
    const daySpent = /^The operator's budget for research in 24 hours is spent/;
    assert.match((await missingReason(await request("cus-4"))) ?? "", daySpent);
    assert.equal(researchRunner.calls.length, 4);
  },
);

analysisTest("a shutdown returns active runs to the queue without counting their attempts", async (open, database) => {
  const isRunning = Promise.withResolvers<void>();
  const researchRunner = new ScriptedResearch(async ({ asOf }, { signal }) => {
    isRunning.resolve();
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return sampleOutcome(asOf);
  });
  const first = await open({ analyses: { researchRunner } });
  first.listMarket("m-1");
  const options = { customerId: "cus-1", isForced: false };
  const { analysisId } = await first.app.analyses.service.analyse("venue_a", "m-1", options);
  first.app.analyses.start();
  await isRunning.promise;
  await first.app.analyses.stop();
  const [run] = await database.query("select attempts, status from analysis_runs");
  assert.deepEqual({ ...run }, { attempts: 0, status: "running" });
  const second = await open({ analyses: { researchRunner: slowResearch(0) } });
  second.listMarket("m-1");
  second.app.analyses.start();
  assert.equal((await second.ended(analysisId)).status, "complete");
});

eachDatabase(
  "the worker and its runs continue after a store outage, and stopping the worker during an outage completes",
  async (real) => {
    const { state, database } = interruptible(real);
    const researchRunner = slowResearch(50);
    const { app, listMarket, ended } = await openHarness(database, { analyses: { researchRunner } });
    listMarket("m-1");
    listMarket("m-2");
    const request = async (marketId: string) =>
      (await app.analyses.service.analyse("venue_a", marketId, { customerId: "cus-1", isForced: false })).analysisId;
    const first = await request("m-1");
    app.analyses.start();
    await eventually(() => (researchRunner.calls.length > 0 ? true : null), "the research");
    state.isUp = false;
    await assert.rejects(request("m-2"), { code: "store_unavailable" });
    await eventually(() => (app.analyses.failingJobs.includes("analysis_queue") ? true : null), "the report");
    state.isUp = true;
    await eventually(async () => {
      await expireHeartbeats(real);
      return (await app.analyses.service.getStatus(first, null)).run.status === "complete" ? true : null;
    }, "the run after the outage");
    assert.equal((await ended(await request("m-2"))).status, "complete");
    assert.equal((await readEvents(real)).length, 2);
    await eventually(() => (app.analyses.failingJobs.length === 0 ? true : null), "the recovery");
    state.isUp = false;
    await app.analyses.stop();
  },
);
