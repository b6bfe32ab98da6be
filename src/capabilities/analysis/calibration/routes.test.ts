import assert from "node:assert/strict";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { customerHarness } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase, onEmbedded } from "../../../../test/support/databases.ts";
import { AppError } from "../../../domain/errors.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";

const PATH = "/v1/calibration";
const NOW = Date.UTC(2026, 10, 21, 12);

interface StoredAnalysis {
  readonly marketId?: string;
  /** Time before the resolution, or after it if negative. */
  readonly leadMs?: number;
  readonly probability?: number;
  readonly marketPrice?: number;
  readonly category?: string | null;
  readonly recommendation?: string;
}

interface StoredSettlement {
  readonly outcome?: "yes" | "no" | "partial" | "void";
  readonly value?: number | null;
  readonly resolvedAt?: number;
  readonly recordedAt?: number;
}

const RESOLVED_AT = NOW - 2 * DAY_MS;
/** Each row is stored for this number of independent markets, because smaller samples have no scores. */
const COPIES = 30;

/** Starts the service and returns functions that store rows and request the calibration. */
async function open(real: Database) {
  const state = { queries: 0, isAway: false };
  const database: Database = {
    ...real,
    query: async (text, parameters, priority) => {
      if (/market_settlements/.test(text)) {
        state.queries += 1;
        if (state.isAway) throw new AppError("store_unavailable", "The store is unavailable.");
      }
      return real.query(text, parameters, priority);
    },
  };
  const { call, clock } = await customerHarness(database);
  let analyses = 0;
  return {
    state,
    clock,
    call,
    get: async (query = "") => {
      const { status, json } = await call("GET", `${PATH}${query}`);
      assert.equal(status, 200, JSON.stringify(json));
      return json;
    },
    async storeAnalysis(analysis: StoredAnalysis = {}): Promise<void> {
      const { marketId = "m-1", leadMs = HOUR_MS, probability = 0.8, marketPrice = 0.6, category = null } = analysis;
      analyses += 1;
      await real.query(
        `insert into analyses (analysis_id, venue, market_id, analysis_type, analysed_at, probability, market_price,
           interval_low, interval_high, confidence, recommendation, cost_usd, coefficients_version, category,
           log_odds_change, change_error, daily_move, peer_gap, sibling_gap)
         select $1 || '-' || n, 'venue_a', $2 || '-' || n, 'light', to_timestamp($3::float8 / 1000), $4::float8, $5::float8,
           0, 1, 0.5, $6, 0, 1, $7::text, 0, 0, 0, 0, 0 from generate_series(1, ${COPIES}) as n`,
        [
          `an-${analyses}`,
          marketId,
          RESOLVED_AT - leadMs,
          probability,
          marketPrice,
          analysis.recommendation ?? "NO_TRADE",
          category,
        ],
      );
    },
    async settle(marketId: string, settlement: StoredSettlement = {}): Promise<void> {
      const { outcome = "yes", resolvedAt = RESOLVED_AT } = settlement;
      const { value = outcome === "void" ? null : Number(outcome === "yes"), recordedAt = resolvedAt + 60_000 } =
        settlement;
      await real.query(
        `insert into market_settlements (venue, market_id, outcome, value, resolved_at, recorded_at)
         select 'venue_a', $1 || '-' || n, $2, $3::float8, to_timestamp($4::float8 / 1000), to_timestamp($5::float8 / 1000)
         from generate_series(1, ${COPIES}) as n`,
        [marketId, outcome, value, resolvedAt, recordedAt],
      );
    },
    async storeReport(agent: string, report: { price?: number; side?: string; usd?: number; leadMs?: number } = {}) {
      const { price = 0.7, side = "yes", usd = 100, leadMs = HOUR_MS } = report;
      analyses += 1;
      await real.query(
        `insert into trade_reports (agent_id, venue, market_id, side, price, size_usd, client_ref, is_plausible, reported_at)
         select $1, 'venue_a', 'm-1-' || n, $2, $3::float8, $4::float8, $5 || n, $6::boolean, to_timestamp($7::float8 / 1000)
         from generate_series(1, ${COPIES}) as n`,
        [agent, side, price, usd, `ref ${analyses}`, !agent.startsWith("liar"), RESOLVED_AT - leadMs],
      );
    },
  };
}

const HORIZON_NAMES = ["under_24h", "1d_7d", "7d_30d", "30d_90d", "over_90d"];

eachDatabase("200: without settled markets all scores are null, and the ten bins are empty", async (database) => {
  const { call, storeAnalysis } = await open(database);
  await storeAnalysis();
  const { status, json, headers } = await call("GET", PATH);
  assert.equal(status, 200);
  assert.equal(headers["cache-control"], "no-cache");
  const scores = {
    sample_size: 0,
    markets: 0,
    independent_questions: 0,
    brier_score: null,
    market_brier_score: null,
    brier_skill_score: null,
    log_loss: null,
    market_log_loss: null,
    expected_calibration_error: null,
  };
  assert.deepEqual(json, {
    mode: "shadow",
    period: "all",
    category: null,
    ...scores,
    questions_required: 30,
    brier_difference: null,
    bins: Array.from({ length: 10 }, (_, index) => ({
      lower: index / 10,
      upper: (index + 1) / 10,
      mean_predicted: null,
      observed_frequency: null,
      count: 0,
      ci_low: null,
      ci_high: null,
    })),
    by_category: [],
    by_horizon: HORIZON_NAMES.map((horizon) => ({ horizon, ...scores })),
    generated_at: new Date(NOW).toISOString(),
  });
});

eachDatabase("200: probabilities, and prices at the same times, are scored against the results", async (database) => {
  const { get, storeAnalysis, settle } = await open(database);
  await storeAnalysis({ marketId: "m-1", probability: 0.8, marketPrice: 0.6, category: "Sports" });
  await storeAnalysis({ marketId: "m-2", probability: 0.3, marketPrice: 0.4, recommendation: "BUY_NO" });
  await settle("m-1", { outcome: "yes" });
  await settle("m-2", { outcome: "no" });
  const json = await get();
  assert.deepEqual([json.sample_size, json.markets, json.independent_questions], [60, 60, 60]);
  assertNear(json.brier_score, (0.04 + 0.09) / 2, 1e-12);
  assertNear(json.market_brier_score, (0.16 + 0.16) / 2, 1e-12);
  assertNear(json.brier_skill_score, 1 - 0.065 / 0.16, 1e-12);
  assertNear(json.log_loss, -(Math.log(0.8) + Math.log(0.7)) / 2, 1e-12);
  assertNear(json.market_log_loss, -Math.log(0.6), 1e-12);
  assertNear(json.expected_calibration_error, (0.2 + 0.3) / 2, 1e-12);
  assertNear(json.brier_difference.value, 0.065 - 0.16, 1e-12);
  // The standard deviation of the differences is 0.025.
  const halfWidth = (1.96 * 0.025) / Math.sqrt(60);
  assert.ok(Math.abs(json.brier_difference.ci_low - (0.065 - 0.16 - halfWidth)) < 0.2 * halfWidth);
  assert.ok(Math.abs(json.brier_difference.ci_high - (0.065 - 0.16 + halfWidth)) < 0.2 * halfWidth);
  const [bin] = json.bins.slice(8);
  assert.deepEqual([bin.count, bin.observed_frequency, bin.ci_high], [30, 1, 1]);
  assertNear(bin.mean_predicted, 0.8, 1e-12);
  assertNear(bin.ci_low, 1 / (1 + 1.959963984540054 ** 2 / 30), 1e-12);
  assert.deepEqual(
    json.by_category.map(({ category, sample_size }: Record<string, unknown>) => [category, sample_size]),
    [
      ["Sports", 30],
      [null, 30],
    ],
  );
});

eachDatabase("200: the latest analysis per market and horizon counts", async (database) => {
  const { get, storeAnalysis, settle } = await open(database);
  const leads = [1, 2, 24 * HOUR_MS - 1, DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 90 * DAY_MS, 300 * DAY_MS];
  for (const [index, leadMs] of leads.entries()) await storeAnalysis({ leadMs, probability: (index + 1) / 10 });
  await settle("m-1");
  const json = await get();
  assert.equal(json.sample_size, 5 * COPIES);
  assert.equal(json.markets, COPIES);
  // The first of each horizon: 1 ms, 1 day, 7, 30 and 90 days before the resolution.
  const expected = [0.1, 0.4, 0.6, 0.7, 0.8];
  for (const [index, probability] of expected.entries()) {
    const { horizon, sample_size, brier_score } = json.by_horizon[index];
    assert.deepEqual([horizon, sample_size], [HORIZON_NAMES[index], COPIES]);
    assertNear(brier_score, (1 - probability) ** 2, 1e-12);
  }
});

eachDatabase("200: an analysis at or after the resolution does not count", async (database) => {
  const { get, storeAnalysis, settle } = await open(database);
  await storeAnalysis({ leadMs: 0, probability: 0.99 });
  await storeAnalysis({ leadMs: -1, probability: 0.99 });
  await storeAnalysis({ leadMs: -DAY_MS, probability: 0.99 });
  await settle("m-1");
  assert.equal((await get()).sample_size, 0);
});

eachDatabase(
  "200: if the venue reports a resolution time after the recording, analyses after the recording do not count",
  async (database) => {
    const { get, storeAnalysis, settle } = await open(database);
    await storeAnalysis({ leadMs: -HOUR_MS, probability: 0.99 });
    await storeAnalysis({ leadMs: HOUR_MS, probability: 0.7 });
    await settle("m-1", { resolvedAt: RESOLVED_AT + DAY_MS, recordedAt: RESOLVED_AT });
    const json = await get();
    assert.equal(json.sample_size, COPIES);
    assertNear(json.brier_score, 0.09, 1e-12);
  },
);

eachDatabase("200: the latest settlement of a market counts", async (database) => {
  const { get, storeAnalysis, settle, clock } = await open(database);
  await storeAnalysis({ probability: 0.8 });
  await settle("m-1", { outcome: "yes" });
  assertNear((await get()).brier_score, 0.04, 1e-12);
  // The correction has a later time of resolution. A forecast after the first result does not count.
  await storeAnalysis({ probability: 0.05, leadMs: -DAY_MS });
  await settle("m-1", { outcome: "no", resolvedAt: RESOLVED_AT + 2 * DAY_MS, recordedAt: RESOLVED_AT + 2 * DAY_MS });
  await clock.advance(60_000);
  const json = await get();
  assert.equal(json.sample_size, COPIES);
  assertNear(json.brier_score, 0.64, 1e-12);
  assert.equal(json.by_horizon[0].sample_size, COPIES);
});

eachDatabase(
  "200: void markets without a value do not count, and partial settlements count with their payout",
  async (database) => {
    const { get, storeAnalysis, settle } = await open(database);
    for (const marketId of ["void", "half", "void with value", "corrected to void"])
      await storeAnalysis({ marketId, probability: 0.75 });
    await settle("void", { outcome: "void" });
    await settle("half", { outcome: "partial", value: 0.5 });
    await settle("void with value", { outcome: "void", value: 0.25 });
    await settle("corrected to void", { outcome: "yes" });
    await settle("corrected to void", { outcome: "void" });
    const json = await get();
    assert.equal(json.sample_size, 2 * COPIES);
    assertNear(json.brier_score, (0.25 ** 2 + 0.5 ** 2) / 2, 1e-12);
    assertNear(json.bins[7].observed_frequency, 0.375, 1e-12);
  },
);

eachDatabase("200: category and period select markets, and an empty selection has no scores", async (database) => {
  const { get, storeAnalysis, settle } = await open(database);
  for (const [marketId, category, ageDays] of [
    ["m-1", "Sports", 3],
    ["m-2", "Sports", 20],
    ["m-3", "Politics", 60],
    ["m-4", null, 100],
  ] as const) {
    const resolvedAt = NOW - ageDays * DAY_MS;
    await storeAnalysis({ marketId, category, leadMs: RESOLVED_AT - resolvedAt + HOUR_MS });
    await settle(marketId, { resolvedAt });
  }
  const sizeOf = async (query: string) => (await get(query)).sample_size / COPIES;
  assert.equal(await sizeOf(""), 4);
  assert.equal(await sizeOf("?mode=shadow&period=all"), 4);
  assert.equal(await sizeOf("?period=90d"), 3);
  assert.equal(await sizeOf("?period=30d"), 2);
  assert.equal(await sizeOf("?period=7d"), 1);
  assert.equal(await sizeOf("?category=Sports"), 2);
  assert.equal(await sizeOf("?category=Sports&period=7d"), 1);
  const { sample_size, category, period, brier_score, by_category } = await get("?category=Weather&period=7d");
  assert.deepEqual([sample_size, category, period, brier_score, by_category], [0, "Weather", "7d", null, []]);
});

eachDatabase("200: live mode scores the reported trades of at least three agents", async (database) => {
  const { get, storeReport, storeAnalysis, settle, clock } = await open(database);
  await settle("m-1", { outcome: "yes" });
  await storeAnalysis({ category: "Crypto" });
  await storeReport("a", { price: 0.7, usd: 100 });
  await storeReport("b", { price: 0.4, side: "no", usd: 300 });
  await storeReport("liar", { price: 0.999, usd: 1_000_000 });
  await storeReport("late", { price: 0.99, leadMs: -1 });
  await storeReport("early", { price: 0.5, leadMs: 3 * DAY_MS });
  assert.equal((await get("?mode=live")).sample_size, 0);
  await storeReport("c", { price: 0.5, usd: 100 });
  await clock.advance(60_000);
  const json = await get("?mode=live");
  assert.deepEqual([json.mode, json.sample_size, json.markets], ["live", COPIES, COPIES]);
  assertNear(json.brier_score, (1 - (0.7 * 100 + 0.6 * 300 + 0.5 * 100) / 500) ** 2, 1e-12);
  assert.deepEqual(
    [json.market_brier_score, json.brier_skill_score, json.market_log_loss, json.brier_difference],
    [null, null, null, null],
  );
  assert.equal(json.by_horizon[0].sample_size, COPIES);
  assert.equal((await get("?mode=live&category=Crypto")).sample_size, COPIES);
  assert.equal((await get("?mode=live&category=Sports")).sample_size, 0);
  // The analysis of the market is no report.
  assert.equal((await get()).sample_size, COPIES);
});

eachDatabase(
  "200: markets of one event or of a matched pair are one question, and below 30 there are counts only",
  async (database) => {
    const { get, storeAnalysis, settle, clock } = await open(database);
    await storeAnalysis({ marketId: "m-1" });
    await storeAnalysis({ marketId: "m-2" });
    await settle("m-1");
    await settle("m-2", { outcome: "no" });
    const link = (node: string, linkedNode: string) =>
      database.query("insert into question_links values ($1, $2)", [node, linkedNode]);
    // Each of the 30 markets of "m-2" is matched with one of "m-1". Two of "m-1" belong to one event.
    for (let copy = 1; copy <= COPIES; copy++) await link(`market:venue_a/m-2-${copy}`, `market:venue_a/m-1-${copy}`);
    const enough = await get();
    assert.deepEqual([enough.sample_size, enough.markets, enough.independent_questions], [60, 60, 30]);
    assert.ok(enough.brier_score > 0 && enough.brier_difference !== null);
    await link("market:venue_a/m-1-1", "event:venue_a:e");
    await link("market:venue_a/m-1-2", "event:venue_a:e");
    await clock.advance(60_000);
    const few = await get();
    assert.deepEqual([few.sample_size, few.markets, few.independent_questions], [60, 60, 29]);
    assert.deepEqual(
      [few.brier_score, few.market_brier_score, few.brier_skill_score, few.log_loss, few.market_log_loss],
      [null, null, null, null, null],
    );
    assert.deepEqual([few.expected_calibration_error, few.brier_difference], [null, null]);
    const [bin] = few.bins.slice(8);
    assert.deepEqual([bin.count, bin.mean_predicted, bin.observed_frequency, bin.ci_low], [60, null, null, null]);
  },
);

eachDatabase("200: 4,500 markets are read in pages and scored on a worker thread", async (database) => {
  const { get } = await open(database);
  const markets = 4_500;
  await database.query(
    `insert into market_settlements (venue, market_id, outcome, value, resolved_at, recorded_at)
     select 'venue_a', 'm-' || n, case n % 4 when 0 then 'yes' else 'no' end, (n % 4 = 0)::int4,
       to_timestamp($1::float8 / 1000) - (n / 3) * interval '1 minute', to_timestamp($1::float8 / 1000)
     from generate_series(1, ${markets}) as n`,
    [RESOLVED_AT],
  );
  await database.query(
    `insert into analyses (analysis_id, venue, market_id, analysis_type, analysed_at, probability, market_price,
       interval_low, interval_high, confidence, recommendation, cost_usd, coefficients_version, category,
       log_odds_change, change_error, daily_move, peer_gap, sibling_gap)
     select 'an-' || n, 'venue_a', 'm-' || n, 'light', to_timestamp($1::float8 / 1000) - interval '6 days',
       0.25, 0.5, 0, 1, 0.5, 'NO_TRADE', 0, 1, 'Other', 0, 0, 0, 0, 0 from generate_series(1, ${markets}) as n`,
    [RESOLVED_AT],
  );
  const json = await get();
  assert.deepEqual([json.sample_size, json.markets], [markets, markets]);
  assertNear(json.brier_score, 0.1875, 1e-12);
  assertNear(json.market_brier_score, 0.25, 1e-12);
  assertNear(json.brier_difference.value, -0.0625, 1e-12);
  assert.deepEqual([json.bins[2].count, json.by_category[0].sample_size], [markets, markets]);
});

onEmbedded("the store is read once a minute per mode, whatever is requested and by how many", async (database) => {
  const { call, state, clock, storeAnalysis, settle, get } = await open(database);
  await storeAnalysis({ category: "Sports" });
  await settle("m-1");
  const filters = ["", "?period=7d", "?category=Sports", "?category=Sports&period=30d"];
  const responses = await Promise.all([...filters, ...filters].map((query) => call("GET", `${PATH}${query}`)));
  assert.deepEqual(
    responses.map(({ status, json }) => [status, json.sample_size]),
    responses.map(() => [200, COPIES]),
  );
  assert.equal(state.queries, 1);
  await get("?mode=live");
  assert.equal(state.queries, 2);
  await settle("m-1", { outcome: "no" });
  await clock.advance(59_999);
  assertNear((await get()).brier_score, 0.04, 1e-12);
  assert.equal(state.queries, 2);
  await clock.advance(1);
  const json = await get();
  assertNear(json.brier_score, 0.64, 1e-12);
  assert.equal(json.generated_at, new Date(NOW + 60_000).toISOString());
  assert.equal(state.queries, 3);
});

onEmbedded("503: an unavailable store is reported, and the next call reads it again", async (database) => {
  const { call, state } = await open(database);
  state.isAway = true;
  const { status, json } = await call("GET", PATH);
  assert.deepEqual([status, json.code], [503, "store_unavailable"]);
  state.isAway = false;
  assert.equal((await call("GET", PATH)).status, 200);
});

onEmbedded("422: unknown categories, periods and modes are named", async (database) => {
  const { call, state } = await open(database);
  for (const [query, name] of [
    ["category=sports", "category"],
    ["category=US%20Elections", "category"],
    ["category=", "category"],
    ["period=1d", "period"],
    ["mode=paper", "mode"],
  ]) {
    const { status, json } = await call("GET", `${PATH}?${query}`);
    assert.equal(status, 422);
    assert.deepEqual(
      json.detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, loc.join(".")]),
      [["literal_error", `query.${name}`]],
    );
  }
  assert.equal(state.queries, 0);
});
