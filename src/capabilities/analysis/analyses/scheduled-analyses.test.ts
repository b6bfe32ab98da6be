import assert from "node:assert/strict";
import { test } from "node:test";
import { analysisTest, VENUE } from "../../../../test/support/analyses/analysis-harness.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { toLatestEstimate } from "./current-estimates.ts";
import { selectMostTraded } from "./scheduled-analyses.ts";

/** A board with markets of a venue: name of the market, 24-hour volume and open interest in USD. */
function fillBoard(markets: Readonly<Record<string, readonly (readonly [string, number | null, number | null])[]>>) {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (const [venue, listed] of Object.entries(markets))
    for (const [marketId, volume24hUsd, openInterestUsd] of listed)
      board.apply(
        sampleMarket(marketId, { listing: { venue }, activity: { volume24hUsd, openInterestUsd } }),
        SAMPLE_AT,
      );
  return board;
}
const idsOf = (markets: readonly BoardMarket[]) => markets.map(({ listing }) => `${listing.venue}/${listing.marketId}`);

test("the most traded markets of each venue are selected by volume plus open interest; an unknown value counts as 0", () => {
  const board = fillBoard({
    alpha: [
      ["a1", 100, null],
      ["a2", 900, null],
      ["a3", 500, 500],
      ["a4", null, null],
    ],
    beta: [
      ["b1", null, 10],
      ["b2", null, 5],
    ],
    gamma: [["c1", null, null]],
  });
  const select = (max: number) => idsOf(selectMostTraded(board, ["alpha", "beta", "gamma"], max));
  assert.deepEqual(select(3), ["alpha/a3", "beta/b1", "gamma/c1"], "the best of each venue first");
  assert.deepEqual(select(100), ["alpha/a3", "beta/b1", "gamma/c1", "alpha/a2", "beta/b2", "alpha/a1", "alpha/a4"]);
});

test("half of the places are split equally, half by the venues' numbers of markets; unused places go to other venues", () => {
  const many = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index, null] as const);
  const countOf = (board: MarketBoard) => {
    const counts: Record<string, number> = {};
    for (const { listing } of selectMostTraded(board, ["alpha", "beta"], 100))
      counts[listing.venue] = (counts[listing.venue] ?? 0) + 1;
    return counts;
  };
  assert.deepEqual(countOf(fillBoard({ alpha: many("a", 900), beta: many("b", 100) })), { alpha: 70, beta: 30 });
  assert.deepEqual(countOf(fillBoard({ alpha: many("a", 900), beta: many("b", 5) })), { alpha: 95, beta: 5 });
  assert.deepEqual(countOf(fillBoard({ alpha: many("a", 3) })), { alpha: 3 });
});

const listRuns = async (database: Database) => {
  const rows = await database.query<{ market_id: string }>(
    "select market_id from analysis_runs order by turn, market_id",
  );
  return rows.map(({ market_id }) => market_id);
};

analysisTest("the service analyses the most traded markets in batches, for no customer", async (open, database) => {
  const { app, listMarket } = await open({ analyses: { hasScheduledAnalyses: true } });
  for (let number = 0; number < 22; number++) listMarket(`m-${number}`, { activity: { volume24hUsd: 1_000 * number } });
  listMarket("closed", { listing: { status: "closed" }, activity: { volume24hUsd: 1e9 } });
  listMarket("paused", { listing: { paused: true }, activity: { volume24hUsd: 1e9 } });
  listMarket("no-price", { quote: { bid: null, ask: null, lastPrice: null }, activity: { volume24hUsd: 1e9 } });
  app.analyses.start();
  await eventually(() => (app.analyses.latest.size === 20 ? true : null), "the first batch");
  const expected = Array.from({ length: 20 }, (_, index) => `m-${index + 2}`);
  assert.deepEqual(new Set(await listRuns(database)), new Set(expected));
  const [row] = await database.query(
    "select count(customer_id) as customers, (select count(*) from analysis_participants) as participants from analysis_runs",
  );
  assert.deepEqual({ ...row }, { customers: 0, participants: 0 });
  assert.equal(typeof app.analyses.latest.find(VENUE, "m-21")?.change, "number");
});

analysisTest("one node queues a batch, and markets with a recent analysis are not due", async (open, database) => {
  const nodes = [await open(), await open()];
  const [first, second] = nodes.map(({ app }) => app.analyses);
  assert.ok(first !== undefined && second !== undefined);
  for (const { listMarket } of nodes) for (const marketId of ["m-1", "m-2"]) listMarket(marketId);
  await Promise.all([first.scheduled.queueBatch(), second.scheduled.queueBatch()]);
  assert.deepEqual(await listRuns(database), ["m-1", "m-2"]);
  await database.query("update scheduled_analyses_batch set queued_at = queued_at - interval '1 minute'");
  first.start();
  await eventually(() => (first.latest.size === 2 ? true : null), "the analyses");
  await first.scheduled.queueBatch();
  assert.equal((await listRuns(database)).length, 2);
});

analysisTest("after a restart, markets with a recent analysis are not analysed again", async (open, database) => {
  const before = await open();
  for (const marketId of ["m-1", "m-2"]) before.listMarket(marketId);
  before.app.analyses.start();
  await before.app.analyses.scheduled.queueBatch();
  await eventually(() => (before.app.analyses.latest.size === 2 ? true : null), "the analyses");
  await before.app.analyses.stop();
  await database.query("update scheduled_analyses_batch set queued_at = queued_at - interval '1 minute'");
  const { app, listMarket } = await open({ analyses: { hasScheduledAnalyses: true } });
  for (const marketId of ["m-1", "m-2", "m-3"]) listMarket(marketId);
  app.analyses.start();
  await eventually(() => app.analyses.latest.find(VENUE, "m-3"), "the analysis of the new market");
  assert.deepEqual((await listRuns(database)).sort(), ["m-1", "m-2", "m-3"]);
});

analysisTest("a node loads the latest estimates at the start and follows those of other nodes", async (open) => {
  const nodes = [await open(), await open()];
  const [worker, reader] = nodes;
  assert.ok(worker !== undefined && reader !== undefined);
  worker.listMarket("m-1");
  worker.listMarket("m-2");
  const request = async (marketId: string) => {
    const options = { customerId: "cus-1", isForced: false };
    await worker.ended((await worker.app.analyses.service.analyse(VENUE, marketId, options)).analysisId);
  };
  worker.app.analyses.start();
  await request("m-1");
  const changes: string[] = [];
  const { latest } = reader.app.analyses;
  latest.observe((venue, marketId) => changes.push(`${venue}/${marketId}`));
  latest.start();
  await eventually(() => latest.find(VENUE, "m-1"), "the first analysis");
  await request("m-2");
  const found = await eventually(() => latest.find(VENUE, "m-2"), "the second analysis");
  const stored = await worker.app.analyses.service.latest(VENUE, "m-2");
  assert.ok(stored !== null);
  const { venue: _, marketId: __, ...figures } = toLatestEstimate(stored);
  assert.deepEqual(found, figures);
  await reader.app.analyses.stop();
  const restarted = await open();
  restarted.app.analyses.latest.start();
  assert.deepEqual(await eventually(() => restarted.app.analyses.latest.find(VENUE, "m-2"), "the stored one"), figures);
  assert.deepEqual(changes, [`${VENUE}/m-1`, `${VENUE}/m-2`]);
  assert.equal(latest.find(VENUE, "m-3"), null);
});

analysisTest(
  "retention deletes runs, lists and results after 30 days, except the latest result of each market",
  async (open, database) => {
    const { app, listMarket, ended, createCaller } = await open();
    listMarket("m-1");
    const caller = await createCaller();
    app.analyses.start();
    const ids: string[] = [];
    for (let number = 0; number < 2; number++) {
      ids.push((await caller.analyze("m-1")).json.analysis_id);
      await ended(ids[number] ?? "");
    }
    const count = async (table: string) => (await database.query(`select 1 from ${table}`)).length;
    assert.deepEqual([await count("analysis_results"), await count("analyses")], [2, 2]);
    await app.analyses.scheduled.deleteOld(Date.now() + 31 * DAY_MS);
    assert.deepEqual(
      [await count("analysis_results"), await count("analyses"), await count("analysis_runs")],
      [1, 2, 0],
    );
    assert.equal((await app.analyses.service.latest(VENUE, "m-1"))?.analysisId, ids[1]);
    assert.deepEqual((await caller.get("/v1/analyses")).json, []);
    await app.analyses.scheduled.deleteOld(Date.now() + 401 * DAY_MS);
    assert.deepEqual(
      [await count("analysis_results"), await count("analyses"), await count("latest_analyses")],
      [0, 0, 0],
    );
    ids.push((await caller.analyze("m-1")).json.analysis_id);
    await ended(ids[2] ?? "");
    await app.analyses.stop();
    await app.analyses.scheduled.deleteOld(Date.now() + 401 * DAY_MS);
    assert.equal(await count("analyses"), 1, "a stopped job deletes nothing");
  },
);
