import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase, onEmbedded } from "../../../../test/support/databases.ts";
import { sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { CUSTOMER, testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { openShadowBook, sampleEntry } from "../../../../test/support/trading/shadow-book-harness.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Principal } from "../../../http/auth.ts";
import { roundNumbers } from "../../../lib/round-numbers.ts";
import type { Database } from "../../../ports/database.ts";
import type { DayTotals } from "../../../trading/index.ts";
import type { PerformanceReport } from "./index.ts";
import { performanceRoutes } from "./routes.ts";

/** Rounds a number as responses do. */
const sent = (value: number): number => roundNumbers(value);

const NOW = Date.UTC(2026, 10, 23);
const EMPTY: PerformanceReport["performance"] = {
  totalTrades: 0,
  resolvedTrades: 0,
  winRate: null,
  totalPnlUsd: 0,
  roiPct: null,
  averageEdge: null,
  maxDrawdownUsd: 0,
  sharpeRatio: null,
};

/** Opens the routes. `report` is the live performance, or its failure. */
async function openRoutes(
  shadow: { read(): Promise<{ report: PerformanceReport; generatedAt: number }> },
  options: { readonly live?: () => Promise<PerformanceReport>; readonly caller?: Partial<Principal> } = {},
) {
  const principal = { ...CUSTOMER, ...options.caller };
  const customers: string[] = [];
  const { app } = await testServer({
    authentication: { authenticate: (key) => (key === VALID_KEY ? principal : null) },
  });
  performanceRoutes(app, {
    shadow,
    async livePerformance(customerId) {
      customers.push(customerId);
      return options.live?.() ?? { performance: EMPTY, days: [] };
    },
    now: () => NOW,
  });
  return {
    customers,
    async get(path: string, key: string | null = VALID_KEY) {
      const headers = key === null ? {} : { authorization: `Bearer ${key}` };
      const response = await app.inject({ method: "GET", url: `/v1/performance${path}`, headers });
      return { status: response.statusCode, json: response.json() };
    },
  };
}
const NO_SHADOW = {
  read: (): never => {
    throw new Error("the shadow book is not read");
  },
};

eachDatabase("200: returns the summary and the days of the shadow book, from its first trade to today", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, price, settle, goTo, performance } = harness;
  const { get } = await openRoutes(performance);
  const { status, json: empty } = await get("");
  assert.equal(status, 200);
  assert.deepEqual(empty, {
    mode: "shadow",
    total_trades: 0,
    resolved_trades: 0,
    open_trades: 0,
    markets: 0,
    win_rate: null,
    independent_questions: 0,
    questions_required: 30,
    total_pnl: 0,
    roi_pct: null,
    avg_edge: null,
    max_drawdown: 0,
    sharpe_ratio: null,
    first_trade_at: null,
    without_requested: {
      total_trades: 0,
      resolved_trades: 0,
      open_trades: 0,
      markets: 0,
      independent_questions: 0,
      win_rate: null,
      total_pnl: 0,
      roi_pct: null,
      avg_edge: null,
    },
    generated_at: "2026-11-21T01:00:00.000Z",
  });
  for (const marketId of ["m", "n", "o"]) await open(marketId);
  await book.enter(sampleEntry());
  await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "n", side: "no", price: 0.5, edge: 0.12 }));
  await price(0, 0.45);
  await price(0, 0.4, "n");
  await goTo(1, 1);
  await book.run();
  await settle({ kind: "no" });
  await settle({ kind: "void", value: null }, "n");
  await book.run();
  await book.enter(sampleEntry({ analysisId: "plx-3", marketId: "o", at: harness.clock.now() }));
  await performance.refresh();
  const { json } = await get("/history");
  const { daily_history, ...summary } = json;
  assert.deepEqual(summary, {
    mode: "shadow",
    total_trades: 3,
    resolved_trades: 2,
    open_trades: 1,
    markets: 2,
    win_rate: null,
    independent_questions: 2,
    questions_required: 30,
    total_pnl: -44,
    roi_pct: null,
    avg_edge: null,
    max_drawdown: -55,
    sharpe_ratio: null,
    without_requested: {
      total_trades: 3,
      resolved_trades: 2,
      open_trades: 1,
      markets: 2,
      independent_questions: 2,
      win_rate: null,
      total_pnl: -44,
      roi_pct: null,
      avg_edge: null,
    },
    first_trade_at: "2026-11-21T01:00:00.000Z",
    generated_at: "2026-11-22T01:00:00.000Z",
  });
  assert.deepEqual(daily_history, [
    { date: "2026-11-21", pnl: 11, cumulative_pnl: 11, trades: 2, win_rate: null },
    { date: "2026-11-22", pnl: -55, cumulative_pnl: -44, trades: 1, win_rate: null },
  ]);
  assert.deepEqual((await get("?mode=shadow")).json, summary);
  await goTo(3);
  await book.run();
  await performance.refresh();
  assert.deepEqual(
    (await get("/history")).json.daily_history.map(({ pnl }: { pnl: number }) => pnl),
    [11, -55, 0, 0],
    "the current day becomes a closed day with the same profit",
  );
});

eachDatabase(
  "200: with 29 independent questions figures about skill are null, and with 30 they are shown",
  async (db) => {
    const { book, open, settle, performance, clock } = openShadowBook(db);
    const { get } = await openRoutes(performance);
    // Two markets of each of 29 events, at one venue.
    for (let index = 0; index < 58; index++) {
      const [marketId, listing] = [`m${index}`, { eventId: `event ${index >> 1}` }];
      await open(marketId, { listing });
      await book.enter(sampleEntry({ analysisId: `plx-${index}`, marketId }));
      await settle({ kind: index % 2 === 0 ? "yes" : "no" }, marketId, listing);
    }
    await book.run();
    await performance.refresh();
    const figuresOf = ({ win_rate, roi_pct, avg_edge }: Record<string, unknown>) => [win_rate, roi_pct, avg_edge];
    const few = (await get("/history")).json;
    assert.deepEqual([few.markets, few.independent_questions, ...figuresOf(few)], [58, 29, null, null, null]);
    assert.deepEqual([few.total_pnl, few.daily_history[0].win_rate], [29 * 58 - 29 * 42, null]);
    await open("alone");
    await book.enter(sampleEntry({ analysisId: "plx-alone", marketId: "alone", at: clock.now() }));
    await settle({ kind: "yes" }, "alone");
    await book.run();
    await performance.refresh();
    const enough = (await get("/history")).json;
    assert.deepEqual(
      [enough.independent_questions, ...figuresOf(enough), enough.daily_history[0].win_rate],
      [30, ...[30 / 59, (100 * (30 * 58 - 29 * 42)) / (59 * 42), 0.08, 30 / 59].map(sent)],
    );
  },
);

eachDatabase("200: the record is also shown without the trades that a caller requested", async (db) => {
  const { book, board, open, settle, performance, clock, list } = openShadowBook(db);
  const { get } = await openRoutes(performance);
  // Market m0 has a requested trade only, m1 one of each kind, the other resolved markets a scheduled one.
  for (let index = 0; index < 31; index++) {
    const marketId = `m${index}`;
    await open(marketId);
    if (index > 0) await book.enter(sampleEntry({ analysisId: `plx-${index}`, marketId }));
    if (index < 2)
      await book.enter(sampleEntry({ analysisId: `plx-${index}-r`, marketId, isRequested: true, edge: 0.38 }));
    await settle({ kind: index === 1 ? "no" : "yes" }, marketId);
  }
  await list([sampleMarket("open")]);
  board.restore(sampleMarket("open", { quote: { bid: 0.59, ask: 0.61, receivedAt: clock.now() } }), 100);
  await book.enter(sampleEntry({ analysisId: "plx-open", marketId: "open" }));
  await book.enter(sampleEntry({ analysisId: "plx-open-r", marketId: "open", side: "no", isRequested: true }));
  await book.run();
  await performance.refresh();
  const { without_requested, total_trades, total_pnl, independent_questions } = (await get("")).json;
  // A scheduled trade of "open" has gained 18 USD, and the requested one has lost 2.
  assert.deepEqual([total_trades, independent_questions, total_pnl], [34, 31, 30 * 58 - 2 * 42 + 18 - 2]);
  const { win_rate, roi_pct, avg_edge, ...others } = without_requested;
  assert.deepEqual(others, {
    total_trades: 31,
    resolved_trades: 30,
    open_trades: 1,
    markets: 30,
    independent_questions: 30,
    total_pnl: 29 * 58 - 42 + 18,
  });
  assert.deepEqual([win_rate, roi_pct], [29 / 30, (100 * (29 * 58 - 42)) / (30 * 42)].map(sent));
  assert.ok(Math.abs(avg_edge - 0.08) < 1e-9);
});

onEmbedded("reads touch no database, and a refresh without a change runs one statement", async (db) => {
  let statements = 0;
  const counting: Database = {
    ...db,
    query: (...args) => {
      statements += 1;
      return db.query(...args);
    },
  };
  const { performance, open, book, clock } = openShadowBook(counting);
  await performance.read();
  const first = statements;
  for (let read = 0; read < 50; read++) await performance.read();
  assert.equal(statements, first);
  await clock.advance(60_000);
  await performance.refresh();
  assert.equal(statements, first + 1);
  assert.equal((await performance.read()).generatedAt, clock.now());
  await open();
  await book.enter(sampleEntry());
  await Promise.all([performance.refresh(), performance.refresh(), performance.refresh()]);
  assert.equal((await performance.read()).report.performance.totalTrades, 1);
});

onEmbedded("the job refreshes the performance every minute and keeps the last one if the store fails", async (db) => {
  let isDown = false;
  const failing: Database = {
    ...db,
    query: (...args) => (isDown ? Promise.reject(new AppError("store_unavailable", "down")) : db.query(...args)),
  };
  const { performance, open, book, clock } = openShadowBook(failing);
  performance.start();
  await performance.read();
  await open();
  await book.enter(sampleEntry());
  isDown = true;
  await clock.advance(60_000);
  assert.deepEqual(performance.failingJobs, ["shadow_performance"]);
  assert.equal((await performance.read()).report.performance.totalTrades, 0);
  isDown = false;
  const refreshed = async () => (await performance.read()).report.performance.totalTrades === 1;
  for (let second = 0; second < 1_000 && !(await refreshed()); second++) {
    // The job uses the same store.
    await db.query("select 1");
    await clock.advance(1_000);
  }
  assert.ok(await refreshed());
  assert.deepEqual(performance.failingJobs, []);
  await performance.stop();
});

test("200: mode live shows the caller's own trades, rounded to cents, for at most 400 days", async () => {
  const days = Array.from(
    { length: 401 },
    (_, index): DayTotals => ({
      date: new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10),
      pnlUsd: index === 0 ? 1 : 0.004,
      enteredTrades: 1,
      resolvedTrades: 2,
      wonTrades: index % 3,
    }),
  );
  const report: PerformanceReport = {
    performance: { ...EMPTY, totalTrades: 5, resolvedTrades: 2, totalPnlUsd: 2.6, maxDrawdownUsd: -0.001 },
    days,
    isTruncated: true,
  };
  const { get, customers } = await openRoutes(NO_SHADOW, { live: async () => report });
  const { status, json } = await get("/history?mode=live");
  assert.deepEqual([status, customers], [200, ["cus-1"]]);
  assert.deepEqual(
    [json.mode, json.open_trades, json.total_pnl, json.max_drawdown, json.truncated],
    ["live", 3, 2.6, 0, true],
  );
  assert.equal(json.generated_at, new Date(NOW).toISOString());
  assert.ok(!("markets" in json) && !("first_trade_at" in json));
  assert.equal(json.daily_history.length, 400);
  assert.deepEqual(json.daily_history[0], {
    date: "2025-01-02",
    pnl: 0,
    cumulative_pnl: 1,
    trades: 1,
    win_rate: 0.5,
  });
  assert.equal(json.daily_history.at(-1).cumulative_pnl, 2.6, "cents are rounded once, after the sum");
});

test("403: mode live needs an account; mode shadow does not", async () => {
  const shadow = { read: async () => ({ report: { performance: EMPTY, days: [] }, generatedAt: NOW }) };
  for (const kind of ["marketplace", "payer"] as const) {
    const { get, customers } = await openRoutes(shadow, { caller: { kind } });
    for (const path of ["", "/history"]) {
      const { status, json } = await get(`${path}?mode=live`);
      assert.deepEqual([status, json.code], [403, "account_required"]);
      assert.equal((await get(path)).status, 200);
    }
    assert.deepEqual(customers, []);
  }
});

test("422: an unknown mode", async () => {
  const { get } = await openRoutes(NO_SHADOW);
  for (const path of ["?mode=paper", "/history?mode="]) {
    const { status, json } = await get(path);
    const [{ type, loc }] = json.detail;
    assert.deepEqual([status, json.detail.length, type, loc], [422, 1, "literal_error", ["query", "mode"]]);
  }
});
