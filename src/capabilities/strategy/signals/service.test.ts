import assert from "node:assert/strict";
import { analysisTest, VENUE } from "../../../../test/support/analyses/analysis-harness.ts";
import { ScriptedResearch, sampleOutcome } from "../../../../test/support/analyses/scripted-research.ts";
import { sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { ScriptedVenue } from "../../../../test/support/venues/scripted-venue.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { logit } from "../../../lib/numbers.ts";
import type { Database } from "../../../ports/database.ts";

const TITLE = "Will the Fed cut rates in March?";

/** Creates a venue with one market at 0.40 to 0.42, and research that strongly supports YES. */
function createWorld() {
  const venue = new ScriptedVenue(VENUE, systemClock);
  const listing = {
    venue: VENUE,
    title: TITLE,
    takerFee: { kind: "none" } as const,
    priceRanges: [{ from: 0, to: 1, step: 0.01 }],
  };
  const market = sampleMarket("fed", { listing: { ...listing, closeAt: Date.now() + 20 * DAY_MS } });
  venue.setMarkets(market);
  const level = (price: number) => [{ price, size: 5_000 }];
  venue.books.set("fed", { bids: level(0.4), asks: level(0.42), lastPrice: null, eventAt: null, receivedAt: 0 });
  const researchRunner = new ScriptedResearch(async ({ asOf }) => {
    const { research } = sampleOutcome(asOf);
    assert.ok(research !== null);
    return sampleOutcome(asOf, { research: { ...research, probability: 0.97, standardError: 0.1 } });
  });
  return {
    venue,
    listing: market.listing,
    ports: {
      venues: [{ id: VENUE, referenceOnly: false, playMoney: false, create: () => venue }],
      analyses: { researchRunner },
    },
  };
}

const readTrades = (database: Database) =>
  database.query<{ analysis_id: string; side: string; price: number; contracts: number }>(
    "select analysis_id, side, price, contracts from shadow_trades order by trade_id",
  );

analysisTest("a signal waits for its analysis, is entered once, and counts once", async (open, database) => {
  const { ports, listing } = createWorld();
  const { app, listMarket, createCaller, call } = await open(ports);
  listMarket("fed", { listing });
  const caller = await createCaller();
  const key = caller.apiKey;
  const ask = (query = "") =>
    call("POST", `/v1/signals${query}`, { key, body: { market_query: "Fed cut rates March" } });
  const started = await ask();
  assert.equal(started.status, 202);
  const usageOf = async () => (await caller.get("/v1/customers/me")).json.usage.strategy;
  assert.equal(await usageOf(), 0, "a response that only refers to a running analysis is not counted");
  assert.equal((await call("POST", "/v1/signals", { key, body: { market_id: "fed", force: true } })).status, 202);
  assert.equal(await usageOf(), 1, "a forced analysis counts");
  app.analyses.start();
  const { status, json: signal } = await ask("?wait=true&expand=causal");
  assert.equal(status, 200);
  assert.equal(signal.analysis_id, started.json.analysis_id);
  assert.deepEqual([signal.recommendation, signal.freshness, signal.platform], ["BUY_YES", "fresh", VENUE]);
  assert.ok(signal.size_pct > 0 && signal.size_pct <= 0.1);
  assert.equal(signal.causal.overall_probability, signal.model_probability);
  assert.equal((await ask()).status, 200);
  assert.equal(await usageOf(), 3);
  const [trade, ...others] = await readTrades(database);
  assert.deepEqual(others, [], "one entry per analysis and side");
  assert.deepEqual(trade, {
    analysis_id: signal.analysis_id,
    side: "yes",
    price: 0.42,
    contracts: signal.order.contracts,
  });
});

analysisTest("a signal after a price move has an edge, a probability and a price of the same time", async (open) => {
  const { ports, listing, venue } = createWorld();
  const { app, listMarket, createCaller, call } = await open(ports);
  listMarket("fed", { listing });
  const { apiKey: key } = await createCaller();
  app.analyses.start();
  const ask = async () => {
    const { status, json } = await call("POST", "/v1/signals?wait=true", { key, body: { market_id: "fed" } });
    assert.equal(status, 200);
    return json;
  };
  const before = await ask();
  const level = (price: number) => [{ price, size: 5_000 }];
  venue.books.set("fed", { bids: level(0.42), asks: level(0.44), lastPrice: null, eventAt: null, receivedAt: 0 });
  // A book that was requested is read again after two seconds at the earliest.
  await eventually(async () => {
    const { json } = await call("GET", `/v1/markets/${VENUE}/fed/orderbook`, { key });
    return json.bids[0].price === 0.42 ? json : null;
  }, "the new book");
  const after = await ask();
  assert.equal(after.analysis_id, before.analysis_id);
  assert.equal(before.yes_price, 0.41);
  for (const signal of [before, after]) {
    assert.ok(Math.abs(signal.edge - (signal.model_probability - signal.yes_price)) < 1e-12);
    assert.ok(Math.abs(signal.executable_edge - (signal.model_probability - signal.average_cost)) < 1e-12);
  }
  const changeOf = (signal: typeof before) => logit(signal.model_probability) - logit(signal.yes_price);
  assert.ok(Math.abs(changeOf(after) - changeOf(before)) < 1e-9, "the analysis adds the same log-odds to each price");
});

analysisTest("a completed analysis is entered although nobody asked for a signal", async (open, database) => {
  const { ports, listing } = createWorld();
  const { app, listMarket, createCaller, ended } = await open(ports);
  listMarket("fed", { listing });
  app.analyses.start();
  const { analysis_id: id } = (await (await createCaller("free")).analyze("fed")).json;
  await ended(id);
  const trades = await eventually(async () => {
    const rows = await readTrades(database);
    return rows.length > 0 ? rows : null;
  }, "the entry of the analysis");
  assert.deepEqual(
    trades.map(({ analysis_id, side }) => [analysis_id, side]),
    [[id, "yes"]],
  );
});

analysisTest("429: a caller gets five signals at once", async (open) => {
  const { createCaller, call } = await open();
  const { apiKey: key } = await createCaller();
  const ask = () => call("POST", "/v1/signals", { key, body: { market_query: "anything" } });
  for (let count = 0; count < 5; count++) assert.equal((await ask()).status, 404);
  const limited = await ask();
  assert.deepEqual([limited.status, limited.json.code], [429, "rate_limited"]);
});
