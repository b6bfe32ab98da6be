import assert from "node:assert/strict";
import { customerHarness } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import { describeDetail } from "../../../../test/support/markets/market-api.ts";
import { sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { createConsensusService, REPORT_DATA } from "./index.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;
const VENUE = "venue_a";
const PATH = `/v1/markets/${VENUE}/m-1/consensus`;
const TRADE = { platform: VENUE, market_id: "m-1", side: "yes", price: 0.41, size_usd: 100 };

/** Starts an app with one market, m-1, with a bid of 0.40 and an ask of 0.42. */
async function open(database: Database) {
  const harness = await customerHarness(database);
  const { app, clock } = harness;
  const quoteMarket = (
    marketId: string,
    bid: number | null,
    ask: number | null,
    listing: Partial<MarketListing> = {},
  ) => {
    const quote = { bid, ask, lastPrice: null, receivedAt: clock.now() };
    app.board.apply(sampleMarket(marketId, { listing: { venue: VENUE, ...listing }, quote }), clock.now());
  };
  quoteMarket("m-1", 0.4, 0.42);
  let customers = 0;
  return {
    ...harness,
    quoteMarket,
    /** Creates a customer and returns its id and a function that reports a trade. */
    async createAgent(plan: "free" | "pro" = "pro") {
      customers += 1;
      const email = `agent.${customers}@example.org`;
      const { customerId, key } = await app.customers.create({ email, name: null, plan }, OPERATOR);
      const report = (fields: object = {}, headers: Readonly<Record<string, string>> = {}) =>
        harness.call("POST", "/v1/trades/report", { key: key.apiKey, body: { ...TRADE, ...fields }, headers });
      const read = (path = PATH) => harness.call("GET", path, { key: key.apiKey });
      return { customerId, apiKey: key.apiKey, report, read };
    },
  };
}

eachDatabase(
  "200: reports of several agents are counted, and the consensus is their weighted mean",
  async (database) => {
    const { createAgent, clock } = await open(database);
    const agents = await Promise.all(Array.from({ length: 6 }, () => createAgent()));
    const [first] = agents;
    assert.ok(first !== undefined);
    for (const [index, agent] of agents.entries()) {
      const { status, json } = await agent.report({ price: 0.4 + index / 100 });
      assert.deepEqual([status, json], [200, { status: "accepted", trade_count: index + 1 }]);
    }
    assert.deepEqual((await first.report({ side: "no", price: 0.6, size_usd: 300 })).json.trade_count, 7);
    const { status, json } = await first.read();
    assert.equal(status, 200);
    const { consensus_probability: probability, robust_probability: robust, ...others } = json;
    assert.ok(Math.abs(probability - (100 * (0.4 + 0.41 + 0.42 + 0.43 + 0.44 + 0.45) + 300 * 0.4) / 900) < 1e-12);
    assert.ok(robust > 0.4 && robust < 0.45);
    assert.deepEqual(others, {
      market_id: "m-1",
      platform: VENUE,
      period: "7d",
      sample_size: 7,
      unique_agents: 6,
      model_probability: null,
      model_probability_at: null,
      divergence: null,
      divergence_signal: "insufficient_data",
      yes_volume_usd: 600,
      no_volume_usd: 300,
      yes_trade_count: 6,
      no_trade_count: 1,
      generated_at: new Date(clock.now()).toISOString(),
    });
  },
);

eachDatabase("200: the consensus of a period counts only the reports within that period", async (database) => {
  const { createAgent, clock } = await open(database);
  const { report, read } = await createAgent();
  const ageDays = [40, 20, 5, 0.5];
  for (const [index, age] of ageDays.entries()) {
    await report({ client_ref: `trade ${index}` });
    const nextAge = ageDays[index + 1] ?? 0;
    await clock.advance((age - nextAge) * DAY_MS);
  }
  const countIn = async (period: string) => (await read(`${PATH}?period=${period}`)).json.sample_size;
  assert.deepEqual([await countIn("24h"), await countIn("7d"), await countIn("30d")], [1, 2, 3]);
});

eachDatabase(
  "a repeated report counts once, with or without an idempotency key, and a key is valid for one report only",
  async (database) => {
    const { createAgent } = await open(database);
    const { report, read } = await createAgent();
    const counts: number[] = [];
    for (const [fields, headers] of [
      [{}, {}],
      [{}, {}],
      [{}, { "idempotency-key": "k-1" }],
      [{ client_ref: "order 2" }, { "idempotency-key": "k-2" }],
      [{ client_ref: "order 2" }, { "idempotency-key": "k-2" }],
      [{ client_ref: "order 2" }, { "idempotency-key": "k-3" }],
      [{ client_ref: "order 2" }, {}],
      [{ side: "no" }, {}],
      [{ price: 0.42 }, {}],
      [{ size_usd: 100.5 }, {}],
    ] as const) {
      const { status, json } = await report(fields, headers);
      assert.equal(status, 200);
      counts.push(json.trade_count);
    }
    assert.deepEqual(counts, [1, 1, 1, 2, 2, 2, 2, 3, 4, 5]);
    const { status, json } = await report({ size_usd: 200 }, { "idempotency-key": "k-2" });
    assert.deepEqual([status, describeDetail(json)], [422, ["value_error at header.idempotency-key"]]);
    assert.equal((await read()).json.sample_size, 5);
    const other = await createAgent();
    assert.equal((await other.report({}, { "idempotency-key": "k-2" })).json.trade_count, 6, "keys are per customer");
  },
);

eachDatabase("200: a report far from the observed price counts, but not in the robust figure", async (database) => {
  const { createAgent, quoteMarket } = await open(database);
  const agents = await Promise.all(Array.from({ length: 5 }, () => createAgent()));
  for (const agent of agents) await agent.report();
  const attacker = await createAgent();
  await attacker.report({ price: 0.99, size_usd: 1_000_000 });
  const { json } = await attacker.read();
  assert.ok(json.consensus_probability > 0.98);
  assert.ok(Math.abs(json.robust_probability - 0.41) < 1e-9);
  assert.deepEqual([json.sample_size, json.unique_agents], [6, 6]);
  quoteMarket("no-price", null, null);
  assert.equal((await attacker.report({ market_id: "no-price" })).json.trade_count, 1);
});

eachDatabase(
  "200: an empty or one-sided book, a market opened a minute ago and a resolved market have no consensus until trades are reported",
  async (database) => {
    const { createAgent, quoteMarket, clock } = await open(database);
    const { report, read } = await createAgent();
    quoteMarket("empty", null, null);
    quoteMarket("one-sided", 0.4, null);
    quoteMarket("new", 0.4, 0.42, { openAt: clock.now() - 60_000 });
    quoteMarket("resolved", 0.4, 0.42, { status: "finalized", outcome: { kind: "yes" } });
    for (const marketId of ["empty", "one-sided", "new", "resolved"]) {
      const path = PATH.replace("m-1", marketId);
      const before = await read(path);
      assert.deepEqual([before.status, before.json.consensus_probability, before.json.sample_size], [200, null, 0]);
      assert.equal((await report({ market_id: marketId })).json.trade_count, 1, marketId);
      const { consensus_probability, robust_probability, divergence_signal } = (await read(path)).json;
      assert.deepEqual(
        [consensus_probability, robust_probability, divergence_signal],
        [0.41, null, "insufficient_data"],
      );
    }
  },
);

eachDatabase(
  "404: rejects an unknown market; 422: rejects each invalid field and an unknown period",
  async (database) => {
    const { createAgent } = await open(database);
    const { report, read, apiKey } = await createAgent();
    assert.deepEqual((await report({ market_id: "unknown" })).json.code, "market_not_found");
    assert.deepEqual((await read(`/v1/markets/${VENUE}/unknown/consensus`)).json.code, "market_not_found");
    assert.equal((await read(`/v1/markets/${VENUE}/%00/consensus`)).status, 404);
    for (const [fields, error] of [
      [{ platform: "venue_z" }, "literal_error at body.platform"],
      [{ market_id: "" }, "string_too_short at body.market_id"],
      [{ market_id: "x".repeat(513) }, "string_too_long at body.market_id"],
      [{ market_id: 7 }, "string_type at body.market_id"],
      [{ side: "YES" }, "literal_error at body.side"],
      [{ price: -0.01 }, "greater_than_equal at body.price"],
      [{ price: 1.01 }, "less_than_equal at body.price"],
      [{ price: "0.4" }, "float_type at body.price"],
      [{ size_usd: 0 }, "greater_than_equal at body.size_usd"],
      [{ size_usd: 1_000_000.01 }, "less_than_equal at body.size_usd"],
      [{ client_ref: "x".repeat(65) }, "string_too_long at body.client_ref"],
      [{ client_ref: "a\0b" }, "value_error at body.client_ref"],
    ] as const) {
      const { status, json } = await report(fields);
      assert.deepEqual([status, describeDetail(json)], [422, [error]], JSON.stringify(fields));
    }
    const missing = await report({ platform: undefined, side: undefined, price: undefined, size_usd: undefined });
    assert.equal(missing.json.detail.length, 4);
    const longKey = await report({}, { "idempotency-key": "x".repeat(256) });
    assert.deepEqual(describeDetail(longKey.json), ["string_too_long at header.idempotency-key"]);
    assert.deepEqual(describeDetail((await read(`${PATH}?period=48h`)).json), ["literal_error at query.period"]);
    assert.equal((await report({ price: 0, size_usd: 0.01 })).status, 200);
    assert.equal((await report({ price: 1, size_usd: 1_000_000 })).status, 200);
    assert.ok(apiKey.startsWith("plx_pro_"));
  },
);

eachDatabase("200: reports cost no quota", async (database) => {
  const { report, read } = await (await open(database)).createAgent();
  const { status, headers } = await report();
  assert.equal(status, 200);
  assert.doesNotMatch(String(headers["ratelimit-policy"]), /strategy/);
  assert.match(String((await read()).headers["ratelimit-policy"]), /"strategy";q=50/);
});

eachDatabase("a deleted customer's reports remain as those of one unknown agent", async (database) => {
  const { app, createAgent } = await open(database);
  const deleted = await createAgent();
  const remaining = await createAgent();
  await deleted.report({ client_ref: "secret order" }, { "idempotency-key": "secret key" });
  await deleted.report({ client_ref: "other secret order" });
  await remaining.report();
  await app.customers.delete(deleted.customerId, OPERATOR);
  const { sample_size, unique_agents } = (await remaining.read()).json;
  assert.deepEqual([sample_size, unique_agents], [3, 2]);
  assert.equal((await remaining.report({ client_ref: "b" })).json.trade_count, 4);
  const rows = JSON.stringify(await database.query("select * from trade_reports"));
  for (const text of [deleted.customerId, "secret"]) assert.ok(!rows.includes(text), text);
});

eachDatabase("401: a report of a customer that is deleted during the call is not stored", async (database) => {
  const { app, clock, createAgent } = await open(database);
  const { customerId } = await createAgent();
  const market = app.board.find(VENUE, "m-1");
  assert.ok(market !== null);
  const consensus = createConsensusService({
    database,
    clock,
    board: new MarketBoard(() => clock.now()),
    async getMarket() {
      await app.customers.delete(customerId, OPERATOR);
      return market;
    },
    estimateOf: () => null,
  });
  const report = { venue: VENUE, marketId: "m-1", side: "yes", price: 0.41, sizeUsd: 100, clientRef: "" } as const;
  await assert.rejects(consensus.report(customerId, report, null), { code: "unauthorized" });
  assert.deepEqual(await database.query("select 1 from trade_reports"), []);
});

eachDatabase(
  "reports are kept for two years, and those of a deleted customer for 30 days; the trade count includes both",
  async (database) => {
    const { app, clock, createAgent } = await open(database);
    const deleted = await createAgent();
    const remaining = await createAgent();
    for (const { report } of [deleted, remaining]) await report({ client_ref: "old" });
    await clock.advance(1);
    for (const { report } of [deleted, remaining]) await report({ client_ref: "young" });
    await app.customers.delete(deleted.customerId, OPERATOR);
    const countAfter = async (days: number) => {
      await REPORT_DATA.deleteExpired?.(database, clock.now() + days * DAY_MS, () => true);
      await REPORT_DATA.deleteExpired?.(database, clock.now() + days * DAY_MS, () => false);
      return (await database.query("select 1 from trade_reports")).length;
    };
    assert.deepEqual([await countAfter(29), await countAfter(30), await countAfter(31)], [4, 3, 2]);
    assert.deepEqual([await countAfter(730), await countAfter(731), await countAfter(732)], [2, 1, 0]);
    assert.equal((await remaining.report({ client_ref: "new" })).json.trade_count, 5);
  },
);

onPostgres("equal reports sent at once to several nodes count once", async (database) => {
  const nodes = [await open(database), await open(database)];
  const [node] = nodes;
  assert.ok(node !== undefined);
  const { apiKey, read } = await node.createAgent();
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      nodes[index % 2]?.call("POST", "/v1/trades/report", {
        key: apiKey,
        body: { ...TRADE, client_ref: `trade ${index % 4}` },
        headers: index % 8 < 4 ? { "idempotency-key": `key ${index % 4}` } : {},
      }),
    ),
  );
  assert.deepEqual([...new Set(replies.map((reply) => reply?.status))], [200]);
  assert.deepEqual([...new Set(replies.map((reply) => reply?.json.trade_count))].sort(), [1, 2, 3, 4]);
  assert.equal((await read()).json.sample_size, 4);
});

onPostgres(
  "different reports sent at once with one idempotency key: one is stored, the others are 422",
  async (database) => {
    const { createAgent } = await open(database);
    const { report, read } = await createAgent();
    const headers = { "idempotency-key": "one key" };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => report({ client_ref: `trade ${index}` }, headers)),
    );
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 422)]);
    assert.equal((await read()).json.sample_size, 1);
  },
);
