import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import {
  openShadowBook,
  type ShadowBookHarness,
  sampleEntry,
} from "../../../../test/support/trading/shadow-book-harness.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";

const YES = { kind: "yes" } as const;

async function assertVerified({ book }: ShadowBookHarness, trades: number, days: number): Promise<void> {
  const verification = await book.verify();
  assert.deepEqual(verification.mismatches, []);
  assert.deepEqual([verification.trades, verification.days], [trades, days]);
}

/** Opens the markets "m" and "n", and enters a trade of 100 YES contracts into each. */
async function enterTwoTrades({ open, book }: ShadowBookHarness): Promise<void> {
  await open();
  await open("n");
  await book.enter(sampleEntry());
  await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "n" }));
}

const profitsOf = async (harness: ShadowBookHarness) => (await harness.days()).map(({ pnl }) => pnl);

eachDatabase("after an outage, the missed days are closed in order, each with its closing prices", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, price, goTo } = harness;
  await open();
  await book.enter(sampleEntry());
  for (const [day, yesPrice] of [0.41, 0.42, 0.44, 0.47].entries()) await price(day, yesPrice);
  await goTo(4, 1);
  await book.run();
  assert.deepEqual(await profitsOf(harness), [-1, 1, 2, 3]);
  await assertVerified(harness, 1, 4);
});

eachDatabase(
  "a trade is not valued at prices from before its entry, and a day without a price keeps the last price",
  async (db) => {
    const harness = openShadowBook(db);
    const { book, open, goTo, clock } = harness;
    await open();
    await book.enter(sampleEntry());
    await harness.price(0, 0.5);
    await goTo(1);
    await book.run();
    // Without the bar the store has no price of the following days.
    await db.query("delete from bars_1h");
    await book.enter(sampleEntry({ analysisId: "plx-2", at: clock.now() }));
    await goTo(3);
    await book.run();
    assert.deepEqual(await profitsOf(harness), [8, -2, 0]);
    await assertVerified(harness, 2, 3);
  },
);

eachDatabase("a run that is killed at any statement is completed by the next one", async (db) => {
  const harness = openShadowBook(db);
  const { book, openBook, open, price, settle, goTo } = harness;
  await open();
  await open("n");
  await book.enter(sampleEntry());
  await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "n", side: "no", price: 0.55 }));
  await price(0, 0.45);
  await price(0, 0.5, "n");
  await goTo(1);
  await settle(YES);
  let isComplete = false;
  for (let statements = 1; !isComplete; statements++) {
    let count = 0;
    const stopAt = <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) => {
      return (...args: Args): Promise<Result> => {
        count += 1;
        return count > statements ? Promise.reject(new Error("killed")) : run(...args);
      };
    };
    const killed = openBook({
      database: {
        ...db,
        query: stopAt(db.query.bind(db)) as typeof db.query,
        transaction: (run) =>
          db.transaction((transaction) =>
            run({ query: stopAt(transaction.query.bind(transaction)) as typeof transaction.query }),
          ),
      },
    });
    await killed.run().then(
      () => {
        isComplete = true;
      },
      (error: Error) => assert.equal(error.message, "killed"),
    );
    assert.ok(statements < 100);
  }
  assert.equal(await harness.countSettlements(), 1);
  assert.deepEqual(await profitsOf(harness), [-4]);
  await assertVerified(harness, 2, 1);
});

eachDatabase("two nodes that close days at the same time close each once, with the same totals", async (db) => {
  const harness = openShadowBook(db);
  const { book, openBook, open, price, goTo } = harness;
  await open();
  await book.enter(sampleEntry());
  await price(0, 0.5);
  await goTo(3);
  await Promise.all([book.run(), openBook().run(), openBook().run()]);
  assert.deepEqual(await profitsOf(harness), [8, 0, 0]);
  await assertVerified(harness, 1, 3);
});

eachDatabase("a closed day does not change: later prices and results count on later days", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, price, settle, goTo } = harness;
  await open();
  await book.enter(sampleEntry());
  await goTo(1);
  await book.run();
  const closed = await harness.days();
  assert.deepEqual(await profitsOf(harness), [-2]);
  await price(0, 0.9);
  await settle(YES);
  await book.run();
  assert.deepEqual(await harness.days(), closed);
  await assertVerified(harness, 1, 1);
});

eachDatabase("a day is closed two minutes after its end, with the board's price if the store has none", async (db) => {
  const harness = openShadowBook(db);
  const { book, board, clock, list } = harness;
  await list([sampleMarket("m")]);
  board.restore(sampleMarket("m", { quote: { bid: 0.59, ask: 0.61 } }), 1);
  await book.enter(sampleEntry());
  await clock.advance(SAMPLE_AT + DAY_MS + 119_000 - clock.now());
  await book.run();
  assert.deepEqual(await profitsOf(harness), []);
  await clock.advance(1_000);
  await book.run();
  assert.deepEqual(await profitsOf(harness), [18]);
  await clock.advance(DAY_MS + HOUR_MS);
  board.restore(sampleMarket("m", { quote: { bid: 0.79, ask: 0.81 } }), 1);
  await book.run();
  assert.deepEqual(await profitsOf(harness), [18, 0], "an hour later it is no longer the price of midnight");
  await assertVerified(harness, 1, 2);
});

eachDatabase(
  "on the current day open trades are valued at the last price, and the verification computes the same profit",
  async (db) => {
    const harness = openShadowBook(db);
    const { book, board, clock, list, performance, price, goTo } = harness;
    await list([sampleMarket("m")]);
    const quote = (bid: number) =>
      board.restore(sampleMarket("m", { quote: { bid, ask: bid + 0.02, receivedAt: clock.now() } }), 1);
    await book.enter(sampleEntry());
    for (const [bid, pnl] of [
      [0.59, 18],
      [0.29, -12],
    ] as const) {
      await clock.advance(60_000);
      quote(bid);
      await book.run();
      const { report } = await performance.refresh();
      assert.deepEqual([report.performance.totalPnlUsd, report.days.map(({ pnlUsd }) => pnlUsd)], [pnl, [pnl]]);
      const { openDays, pnlUsd, mismatches } = await book.verify();
      assert.deepEqual([openDays, pnlUsd, mismatches], [report.days, pnl, []]);
    }
    await price(0, 0.45);
    await goTo(1, 1);
    quote(0.79);
    await book.run();
    assert.deepEqual(await profitsOf(harness), [3], "the closed day has the price at its end");
    const { report } = await performance.refresh();
    assert.deepEqual(
      report.days.map(({ date, pnlUsd }) => [date, pnlUsd]),
      [
        ["2026-11-21", 3],
        ["2026-11-22", 0],
      ],
      "the store has a price, so the board is not asked",
    );
    await assertVerified(harness, 1, 1);
  },
);

eachDatabase(
  "the verification covers an ended day that is not closed, and trades with an entry time in the future",
  async (db) => {
    const harness = openShadowBook(db);
    const { book, board, clock, list, settle, goTo, performance } = harness;
    for (const [index, marketId] of ["m", "n"].entries()) {
      await list([sampleMarket(marketId)]);
      board.restore(sampleMarket(marketId, { quote: { bid: 0.49, ask: 0.51 } }), index + 1);
    }
    await book.enter(sampleEntry());
    await book.run();
    await goTo(1, 0);
    await clock.advance(60_000);
    await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "n", at: clock.now() + DAY_MS }));
    await settle(YES);
    await book.run();
    const { report } = await performance.refresh();
    assert.deepEqual(
      report.days.map(({ pnlUsd, enteredTrades, resolvedTrades }) => [pnlUsd, enteredTrades, resolvedTrades]),
      [
        [8, 1, 0],
        [48, 1, 1],
      ],
    );
    const { openDays, mismatches } = await book.verify();
    assert.deepEqual([openDays, mismatches], [report.days, []]);
  },
);

eachDatabase("a settlement is never recorded before an entry or in a closed day, for any clock errors", async (db) => {
  const harness = openShadowBook(db);
  const { book, open, settle, goTo, clock } = harness;
  await open();
  await open("n");
  await book.enter(sampleEntry({ at: clock.now() + 5_000 }));
  await book.enter(sampleEntry({ analysisId: "plx-2", marketId: "n" }));
  await settle(YES);
  await book.run();
  await goTo(1, 1);
  await book.run();
  clock.jumpWallClock(-2 * HOUR_MS);
  await settle(YES, "n");
  await book.run();
  clock.jumpWallClock(2 * HOUR_MS);
  await goTo(2);
  await book.run();
  assert.deepEqual(
    (await harness.days()).map(({ pnl, resolved }) => [pnl, resolved]),
    [
      [56, 1],
      [60, 1],
    ],
  );
  await assertVerified(harness, 2, 2);
});

eachDatabase(
  "marks are deleted 400 days after their market was settled, and the book can still be verified",
  async (db) => {
    const harness = openShadowBook(db);
    const { book, price, settle, goTo } = harness;
    await enterTwoTrades(harness);
    for (const day of [0, 1]) await price(day, 0.5 + 0.1 * day);
    await price(0, 0.3, "n");
    await goTo(2);
    await book.run();
    await settle(YES);
    await book.run();
    assert.deepEqual(await profitsOf(harness), [-4, 10]);
    await goTo(404);
    assert.equal(await book.deleteOldMarks(), 0, "the day of the settlement is not closed yet");
    harness.clock.jumpWallClock(-401 * DAY_MS);
    await book.run();
    // Insert the days without events, as if the job had closed them.
    await db.query(
      "insert into shadow_days select '2026-11-24'::date + n, 0, 0, 0, 0 from generate_series(0, 398) as n",
    );
    await db.query("update shadow_book set sealed_day = (select max(day) from shadow_days)");
    harness.clock.jumpWallClock(401 * DAY_MS);
    assert.equal(await book.deleteOldMarks(), 3);
    assert.deepEqual(await db.query("select market_id from shadow_marks group by market_id"), [{ market_id: "n" }]);
    await assertVerified(harness, 2, 402);
    await book.run();
    await assertVerified(harness, 2, 404);
  },
);

eachDatabase("verification reports a changed result, day, mark or total", async (db) => {
  const harness = openShadowBook(db);
  const { book, price, settle, goTo } = harness;
  await enterTwoTrades(harness);
  await price(0, 0.5);
  await settle(YES, "n");
  await book.run();
  await goTo(1);
  await book.run();
  const changes: [change: string, undo: string, id: string][] = [
    [
      "update shadow_trades set settled_at = settled_at + interval '1 second' where market_id = 'n'",
      "update shadow_trades set settled_at = settled_at - interval '1 second' where market_id = 'n'",
      "2",
    ],
    [
      "update shadow_days set pnl_usd = pnl_usd + 0.01",
      "update shadow_days set pnl_usd = pnl_usd - 0.01",
      "2026-11-21",
    ],
    ["update shadow_marks set yes_price = 0.51", "update shadow_marks set yes_price = 0.5", "2026-11-21"],
    [
      "update shadow_book set resolved_pnl_micros = resolved_pnl_micros + 1",
      "update shadow_book set resolved_pnl_micros = resolved_pnl_micros - 1",
      "totals",
    ],
  ];
  for (const [change, undo, id] of changes) {
    await db.query(change);
    const { mismatches, mismatchCount } = await book.verify();
    assert.deepEqual([mismatches.map((mismatch) => mismatch.id), mismatchCount], [[id], 1]);
    await db.query(undo);
  }
  await assertVerified(harness, 2, 1);
});
