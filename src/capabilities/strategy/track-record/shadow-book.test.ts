import assert from "node:assert/strict";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import { SAMPLE_AT } from "../../../../test/support/markets/market-samples.ts";
import {
  openShadowBook,
  type ShadowBookHarness,
  sampleEntry,
} from "../../../../test/support/trading/shadow-book-harness.ts";
import { HOUR_MS } from "../../../lib/durations.ts";

const YES = { kind: "yes" } as const;
const NO = { kind: "no" } as const;

async function assertVerified({ book }: ShadowBookHarness, trades: number, days: number): Promise<void> {
  const verification = await book.verify();
  assert.deepEqual(verification.mismatches, []);
  assert.deepEqual([verification.trades, verification.days], [trades, days]);
}

eachDatabase("a trade is valued at stored prices until it is settled, and days are closed in order", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, price, settle, goTo } = harness;
  await open();
  assert.equal(await book.enter(sampleEntry()), true);
  await price(0, 0.45);
  await price(1, 0.35);
  await goTo(2);
  await settle(YES);
  await book.run();
  await goTo(4);
  await book.run();
  assert.deepEqual(await harness.days(), [
    { day: "2026-11-21", pnl: 3, entered: 1, resolved: 0, won: 0 },
    { day: "2026-11-22", pnl: -10, entered: 0, resolved: 0, won: 0 },
    { day: "2026-11-23", pnl: 65, entered: 0, resolved: 1, won: 1 },
    { day: "2026-11-24", pnl: 0, entered: 0, resolved: 0, won: 0 },
  ]);
  assert.deepEqual(await harness.trades(), [{ side: "yes", payout: 100, pnl: 58 }]);
  await assertVerified(harness, 1, 4);
});

eachDatabase("repeated entries of an analysis create one trade per side", async (db) => {
  const { book, open, trades } = openShadowBook(db);
  await open();
  const entries = [sampleEntry(), sampleEntry({ contracts: 7 }), sampleEntry({ side: "no" })];
  const isEntered: boolean[] = [];
  for (const entry of entries) isEntered.push(await book.enter(entry));
  assert.deepEqual(isEntered, [true, false, true]);
  assert.equal((await trades()).length, 2);
});

eachDatabase("a trade is marked as requested unless the service would have entered it anyway", async (db) => {
  const { book, open } = openShadowBook(db);
  await open();
  const run = (analysisId: string, customerId: string | null) =>
    db.query(
      `insert into analysis_runs (analysis_id, venue, market_id, status, analysis_type, customer_id, turn, requested_at)
       values ($1, 'alpha', 'm', 'complete', 'light', $2::text, 0, now())`,
      [analysisId, customerId],
    );
  await run("plx-house", null);
  await run("plx-customer", "cus-1");
  await book.enter(sampleEntry({ analysisId: "plx-house", isRequested: true }));
  await book.enter(sampleEntry({ analysisId: "plx-house", side: "no", isRequested: true }));
  await book.enter(sampleEntry({ analysisId: "plx-house", side: "no", isRequested: false }));
  await book.enter(sampleEntry({ analysisId: "plx-customer", isRequested: false }));
  await book.enter(sampleEntry({ analysisId: "plx-customer", isRequested: false }));
  await book.enter(sampleEntry({ analysisId: "plx-customer", side: "no", isRequested: true }));
  await book.enter(sampleEntry({ analysisId: "plx-other", isRequested: false }));
  await book.enter(sampleEntry({ analysisId: "plx-other", isRequested: true }));
  const rows = await db.query<{ analysis_id: string; side: string; is_requested: boolean }>(
    "select analysis_id, side, is_requested from shadow_trades order by trade_id",
  );
  assert.deepEqual(
    rows.map(({ analysis_id, side, is_requested }) => [analysis_id, side, is_requested]),
    [
      ["plx-house", "yes", true],
      ["plx-house", "no", false],
      ["plx-customer", "yes", true],
      ["plx-customer", "no", true],
      ["plx-other", "yes", false],
    ],
  );
});

eachDatabase("two nodes that enter the same trade at the same time enter it once", async (db) => {
  const { book, openBook, open, trades } = openShadowBook(db);
  await open();
  const results = await Promise.all([book, openBook(), book, openBook()].map((node) => node.enter(sampleEntry())));
  assert.deepEqual(results.toSorted(), [false, false, false, true]);
  assert.equal((await trades()).length, 1);
});

eachDatabase("an entry is rejected if its market is settled or closed, or if its day is closed", async (db) => {
  const { book, open, settle, price, goTo, clock } = openShadowBook(db);
  for (const status of ["closed", "determined"] as const) {
    await open(status, { listing: { status } });
    assert.equal(await book.enter(sampleEntry({ marketId: status })), false);
  }
  await open("past", { listing: { closeAt: SAMPLE_AT - HOUR_MS } });
  assert.equal(await book.enter(sampleEntry({ analysisId: "plx-0", marketId: "past" })), true, "still open");
  await open();
  await settle(YES);
  assert.equal(await book.enter(sampleEntry()), false, "finalized, not recorded yet");
  await book.run();
  await open();
  await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "other" }));
  await price(0, 0.5);
  await goTo(1);
  await book.run();
  const late = sampleEntry({ analysisId: "plx-3", marketId: "third" });
  assert.equal(await book.enter(late), false, "the day is closed");
  assert.equal(await book.enter({ ...late, at: clock.now() }), true);
});

eachDatabase("an entry into a market with a settlement is rejected, even if the venue reopens it", async (db) => {
  const { book, open, settle } = openShadowBook(db);
  await open();
  await book.enter(sampleEntry());
  await settle(NO);
  await book.run();
  await open();
  assert.equal(await book.enter(sampleEntry({ analysisId: "plx-2" })), false);
});

eachDatabase(
  "a partial result pays its value, a refund pays the cost, and a void result with a value pays that value",
  async (db) => {
    const harness = openShadowBook(db);
    const { book, open, settle, goTo } = harness;
    const outcomes = [
      { kind: "partial", value: 0.25 },
      { kind: "void", value: null },
      { kind: "void", value: 0.6 },
    ] as const;
    for (const [index, outcome] of outcomes.entries()) {
      await open(`m${index}`);
      await book.enter(sampleEntry({ analysisId: `plx-${index}`, marketId: `m${index}` }));
      await settle(outcome, `m${index}`);
    }
    await book.run();
    assert.deepEqual(
      (await harness.trades()).map(({ payout, pnl }) => [payout, pnl]),
      [
        [25, -17],
        [42, 0],
        [60, 18],
      ],
    );
    await goTo(1);
    await book.run();
    assert.deepEqual(await harness.days(), [{ day: "2026-11-21", pnl: 1, entered: 3, resolved: 3, won: 1 }]);
    await assertVerified(harness, 3, 1);
  },
);

eachDatabase("a corrected result changes the profit of its own day, and closed days stay the same", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, settle, goTo } = harness;
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  await book.run();
  await goTo(1);
  await settle(NO);
  await book.run();
  await book.run();
  await goTo(2);
  await settle({ kind: "void", value: null });
  await book.run();
  await goTo(3);
  await book.run();
  assert.deepEqual(await harness.days(), [
    { day: "2026-11-21", pnl: 58, entered: 1, resolved: 1, won: 1 },
    { day: "2026-11-22", pnl: -100, entered: 0, resolved: 0, won: 0 },
    { day: "2026-11-23", pnl: 42, entered: 0, resolved: 0, won: 0 },
  ]);
  assert.deepEqual(await harness.trades(), [{ side: "yes", payout: 42, pnl: 0 }]);
  assert.equal(await harness.countSettlements(), 3);
  await assertVerified(harness, 1, 3);
});

eachDatabase("each result and each correction updates the totals of the resolved trades", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, settle, performance, clock } = harness;
  await open();
  await book.enter(sampleEntry());
  await book.enter(sampleEntry({ analysisId: "plx-2", side: "no", edge: 0.02 }));
  for (const [outcome, won, profit] of [
    [YES, 1, 16],
    [{ kind: "void", value: null }, 0, 0],
    [{ kind: "partial", value: 0.9 }, 1, 16],
    [NO, 1, 16],
  ] as const) {
    await clock.advance(1_000);
    await settle(outcome);
    await book.run();
    const { report } = await performance.refresh();
    const { totalTrades, resolvedTrades, winRate, roiPct, averageEdge } = report.performance;
    assert.deepEqual([totalTrades, resolvedTrades, report.markets, winRate], [2, 2, 1, won / 2]);
    assert.deepEqual([roiPct, averageEdge], [(100 * profit) / 84, 0.05]);
    await assertVerified(harness, 2, 0);
  }
});

eachDatabase(
  "the profit of a day includes all open and settled markets, even if they fill several pages",
  async (db) => {
    const harness = openShadowBook(db);
    const { book, open, price, settle, goTo } = harness;
    const ids = Array.from({ length: 50 }, (_, index) => `m${index}`);
    for (const [index, marketId] of ids.entries()) {
      await open(marketId);
      await book.enter(sampleEntry({ analysisId: `plx-${index}`, marketId }));
      if (index % 3 === 0) await settle(YES, marketId);
      else await price(0, 0.5, marketId);
    }
    await book.run();
    await goTo(1);
    await book.run();
    assert.deepEqual(await harness.days(), [
      { day: "2026-11-21", pnl: 17 * 58 + 33 * 8, entered: 50, resolved: 17, won: 17 },
    ]);
    await assertVerified(harness, 50, 1);
  },
);

eachDatabase("a correction is kept if another node records older results at the same time", async (db) => {
  const harness = openShadowBook(db);
  const { book, openBook, open, settle, clock } = harness;
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  let isCorrected = false;
  const slow = openBook({
    database: {
      ...db,
      async transaction(run) {
        if (!isCorrected) {
          isCorrected = true;
          await clock.advance(1_000);
          await settle(NO);
          await book.run();
        }
        return db.transaction(run);
      },
    },
  });
  await slow.reconcile();
  await book.run();
  assert.deepEqual(await harness.trades(), [{ side: "yes", payout: 0, pnl: -42 }]);
  assert.equal(await harness.countSettlements(), 1);
});

eachDatabase("a result that becomes invalid before it is recorded is not recorded", async (db) => {
  const { book, openBook, open, settle, clock, countSettlements } = openShadowBook(db);
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  const slow = openBook({
    database: {
      ...db,
      async transaction(run) {
        await clock.advance(1_000);
        await settle({ kind: "partial", value: 2 });
        return db.transaction(run);
      },
    },
  });
  assert.equal(await slow.reconcile(), 0);
  assert.equal(await countSettlements(), 0);
});

eachDatabase("a correction is never recorded before the result that it corrects, for any clock errors", async (db) => {
  const { book, open, settle, clock } = openShadowBook(db);
  await open();
  await book.enter(sampleEntry());
  await clock.advance(HOUR_MS);
  await settle(YES);
  await book.run();
  await clock.advance(1_000);
  await settle(NO);
  clock.jumpWallClock(-HOUR_MS);
  await book.run();
  const recorded = await db.query<{ outcome: string }>(
    "select outcome from market_settlements order by recorded_at, settlement_id",
  );
  assert.deepEqual(recorded, [{ outcome: "yes" }, { outcome: "no" }]);
});

eachDatabase("a result is recorded once, by events and by reconciliation, on several nodes at once", async (db) => {
  const harness = openShadowBook(db);
  const { book, openBook, open, settle } = harness;
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  const other = openBook();
  await Promise.all([book.run(), other.run(), book.reconcile(), other.reconcile(true)]);
  assert.equal(await harness.countSettlements(), 1);
  await assertVerified(harness, 1, 0);
});

eachDatabase("markets that nobody analysed or traded have no settlement", async (db) => {
  const { book, open, settle, countSettlements } = openShadowBook(db);
  await open();
  await settle(YES);
  await open("analysed");
  await db.query(
    "insert into latest_analyses values ('alpha', 'analysed', 'plx-1', 0.5, now()), ('alpha', 'unknown', 'plx-2', 0.5, now())",
  );
  await settle(NO, "analysed");
  await book.run();
  await book.reconcile();
  assert.equal(await countSettlements(), 1);
});

eachDatabase("reconciliation settles a market whose event was missed", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, settle } = harness;
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  await db.query("delete from event_log");
  await book.run();
  assert.equal(await harness.countSettlements(), 0);
  assert.equal(await book.reconcile(), 1);
  assert.equal(await book.reconcile(), 0);
  assert.deepEqual(await harness.trades(), [{ side: "yes", payout: 100, pnl: 58 }]);
});

eachDatabase("if events were deleted before they were read, corrected results are also found", async (db) => {
  const harness = openShadowBook(db);
  const { book, eventLog, open, settle } = harness;
  await db.query("insert into latest_analyses values ('alpha', 'm', 'plx-1', 0.5, now())");
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  await book.run();
  await harness.clock.advance(1_000);
  await settle(NO);
  await db.query("update event_log set appended_at = now() - interval '9 days'");
  await eventLog.applyRetention(7);
  await book.run();
  assert.deepEqual(await harness.trades(), [{ side: "yes", payout: 0, pnl: -42 }]);
});

eachDatabase("a settlement value outside [0, 1] is skipped and does not stop the others", async (db) => {
  const { book, open, settle, countSettlements } = openShadowBook(db);
  await open("a");
  await open("b");
  await book.enter(sampleEntry({ marketId: "a" }));
  await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "b" }));
  await settle({ kind: "partial", value: 1.5 }, "a");
  await settle(YES, "b");
  await book.run();
  assert.equal(await countSettlements(), 1);
});

onPostgres("an entry that waits for a settlement of its market is refused", async (db) => {
  const { book, open, settle, trades } = openShadowBook(db);
  await open();
  await book.enter(sampleEntry());
  await settle(YES);
  await db.query("update markets set status = 'active'");
  const locked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const settling = db.transaction(async (transaction) => {
    await transaction.query("insert into shadow_book values (true) on conflict (is_only) do update set is_only = true");
    await transaction.query(
      "insert into market_settlements (venue, market_id, outcome, value, resolved_at, recorded_at) values ('alpha', 'm', 'yes', 1, now(), now())",
    );
    locked.resolve();
    await gate.promise;
  });
  await locked.promise;
  const entering = book.enter(sampleEntry({ analysisId: "plx-2" }));
  const isWaiting = async () =>
    (await db.query("select 1 from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0")).length > 0;
  for (let attempt = 0; attempt < 10_000 && !(await isWaiting()); attempt++);
  gate.resolve();
  await settling;
  assert.equal(await entering, false);
  assert.equal((await trades()).length, 1);
});
